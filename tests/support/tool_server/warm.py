"""Lowers a program through all levels on import, which fills the caches of Python and xDSL for classes.

The first `isinstance` against an abstract class searches all its subclasses, and xDSL reads the definition of an op on
first use. Without the server's cache, that would be half of a tool's run in a test. Nothing native is compiled here:
LLVM and the thread pool start threads, which a fork does not inherit.
"""

from __future__ import annotations

from xrelay.lowering.registry import pass_thunks
from xrelay.lowering.to_llvm.pipeline import LLVM_PIPELINE
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.passes.infra.source import full_context, parse_module

PROGRAM = """
func.func @main(%x: tensor<4x8xf32>, %w: tensor<3x8xf32>) -> tensor<4x3xf32> {
  %y = relay.nn.dense(%x, %w) : (tensor<4x8xf32>, tensor<3x8xf32>) -> tensor<4x3xf32>
  %z = relay.nn.relu(%y) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  func.return %z : tensor<4x3xf32>
}
"""
LEVELS = (
    "relay-infer-type,relay-name-extents,relay-fuse-ops,relay-outline-fused",
    "convert-relay-to-topi,topi-expand-named,topi-inline-injective",
    "convert-topi-to-loop,loop-assign-schedules,loop-apply-schedules",
    "loop-plan-memory,loop-lower-blocks,convert-loop-to-scf",
    ",".join(LLVM_PIPELINE),
)


def warm() -> None:
    """Reads, lowers, verifies and prints the program, with every dialect loaded."""
    context = full_context()
    for name in context.registered_dialect_names:
        context.get_optional_dialect(name)
    module = parse_module(context, PROGRAM, "warm.mlir")
    for passes in LEVELS:
        run_pipeline(module, parse_passes(passes, pass_thunks()), context=context)
        module.verify()
        str(module)


warm()
