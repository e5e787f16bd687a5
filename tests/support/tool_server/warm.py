"""Takes a program through all levels when it is imported: what Python and xDSL remember of classes then is remembered.

The first `isinstance` against an abstract class looks through all its subclasses, and xDSL reads the definition of an
op when it first meets one. A run of a tool in a test is so short that half of it was that, anew in every fork. Nothing
native is compiled here: LLVM and the thread pool start threads, which no fork takes along.
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
    """Read, lower, verify and print the program, with every dialect loaded."""
    context = full_context()
    for name in context.registered_dialect_names:
        context.get_optional_dialect(name)
    module = parse_module(context, PROGRAM, "warm.mlir")
    for passes in LEVELS:
        run_pipeline(module, parse_passes(passes, pass_thunks()), context=context)
        module.verify()
        str(module)


warm()
