"""Lowers a program through all levels on import, which fills the caches of Python and xDSL for classes.

The first `isinstance` against an abstract class searches all its subclasses, and xDSL reads the definition of an op on
first use. Without the server's cache, that would be half of a tool's run in a test. The universe is cached too, as
xDSL reads a file of every installed package for it. Nothing native is compiled here: LLVM and the thread pool start
threads, which a fork does not inherit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from xdsl.dialects.builtin import UnregisteredAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.universe import Universe

from xrelay.lowering.pipelines import LLVM_PIPELINE
from xrelay.tools.opt.driver import XRelayOptMain

PROGRAM = """
func.func @main(%x: tensor<4x8xf32>, %w: tensor<3x8xf32>) -> tensor<4x3xf32> {
  %y = relay.nn.dense(%x, %w) : (tensor<4x8xf32>, tensor<3x8xf32>) -> tensor<4x3xf32>
  %z = relay.nn.relu(%y) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  func.return %z : tensor<4x3xf32>
}
"""
ABSTRACT = (Data, ParametrizedAttribute, TypeAttribute, UnregisteredAttr)
LEVELS = (
    "relay-infer-type,relay-name-extents,relay-fuse-ops,relay-outline-fused",
    "convert-relay-to-topi,topi-expand-named,topi-inline-injective",
    "convert-topi-to-loop,loop-assign-schedules,loop-apply-schedules",
    "loop-plan-memory,loop-lower-blocks,convert-loop-to-scf",
    ",".join(LLVM_PIPELINE),
)


def warm() -> None:
    """Reads, lowers, verifies and prints the program. Other dialects are loaded by the runs that need them."""
    Universe.get_multiverse = staticmethod(cache(Universe.get_multiverse))
    with tempfile.TemporaryDirectory() as folder:
        text, lowered = Path(folder) / "text.mlir", Path(folder) / "lowered.mlir"
        text.write_text(PROGRAM)
        for passes in LEVELS:
            if XRelayOptMain([str(text), "-p", passes, "-o", str(lowered)]).execute() != 0:
                raise RuntimeError(f"the program of {__name__} cannot be lowered by {passes}")
            text, lowered = lowered, text
    for kind in _subclasses(Attribute):
        for abstract in ABSTRACT:
            issubclass(kind, abstract)


def _subclasses(base: type) -> Iterator[type]:
    for kind in base.__subclasses__():
        yield kind
        yield from _subclasses(kind)


warm()
