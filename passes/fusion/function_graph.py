"""A forward graph together with the function that it represents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import Block, Operation, SSAValue

from xrelay.passes.fusion.forward_graph import ForwardGraph

NodeRef: TypeAlias = Operation | SSAValue
"""A node of the graph: an op, or a parameter of the function or of a closure in it."""


@dataclass(frozen=True)
class FunctionGraph:
    """A forward graph and the ops and values of its nodes."""

    body: Block
    graph: ForwardGraph
    refs: list[NodeRef]
    """Indexed by node."""
    ops: list[Operation | None]
    """Indexed by node; `None` for a value from outside."""
    numbers: dict[NodeRef, int]
    unneeded: list[Operation]
    """Ops that no result needs, in text order."""

    def op(self, node: int) -> Operation | None:
        """The op of `node`; `None` for a value from outside."""
        return self.ops[node]
