"""The forward graph of fusion: nodes in post-DFS order, edges from producer to consumer with their patterns.

Nodes are numbers, so that the analyses on top are plain loops over lists and can be tested without any IR. In post-DFS
order a node comes after everything it uses: `0 … n-1` is a topological order, and the reverse visits consumers first.
`op_patterns.forward_graph` makes one from a block.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple

from xrelay.dialects.relay.core.op_pattern import OpPatternKind


class Edge(NamedTuple):
    """A use: `producer`'s value goes into `consumer`, which treats it as `pattern` says."""

    producer: int
    consumer: int
    pattern: OpPatternKind


class Use(NamedTuple):
    """An operand of a node being added; `pattern` is `None` for an extern use, through which nothing may fuse."""

    producer: int
    pattern: OpPatternKind | None


@dataclass
class ForwardGraph:
    """Nodes `0 … len(graph) - 1` in post-DFS order; every list is indexed by node."""

    names: list[str] = field(default_factory=list[str])
    """What explanations call the node."""
    patterns: list[OpPatternKind] = field(default_factory=list[OpPatternKind])
    extern: list[bool] = field(default_factory=list[bool])
    """Whether something outside the graph sees the value: it is returned, yielded, bound by a let, or a condition."""
    outputs: list[list[Edge]] = field(default_factory=list[list[Edge]])
    """The edges to the node's consumers, one for each operand."""
    operands: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    """The nodes whose values the node takes, in operand order."""
    is_variable: list[bool] = field(default_factory=list[bool])
    """Whether the node is a parameter or another value from outside."""
    own_arguments: list[int] = field(default_factory=list[int])
    """Kernel arguments that the node alone would need (Relay's args_num)."""
    counted_operands: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    """The operands, variables apart, whose groups count among the arguments of the node's kernel (`arguments.py`)."""
    dynamic_extents: list[int] = field(default_factory=list[int])
    """How many dimensions of the node's result are unknown; each is one more output of its kernel."""
    hints: dict[int, AbstractSet[int]] = field(default_factory=dict[int, AbstractSet[int]])
    """Nodes that ask to be fused with their post-dominator if it is one of certain nodes."""

    def __len__(self) -> int:
        return len(self.names)

    def add(
        self,
        name: str,
        pattern: OpPatternKind,
        uses: Sequence[Use] = (),
        *,
        is_variable: bool = False,
        own_arguments: int = 0,
        counted: Sequence[int] | None = None,
        dynamic_extents: int = 0,
    ) -> int:
        """Append a node that uses earlier ones and return its number; `ValueError` for a use of a later node.

        `counted` are the operands that count as arguments; without it all do.
        """
        node, operands = len(self.names), tuple(use.producer for use in uses)
        self.names.append(name)
        self.patterns.append(pattern)
        self.extern.append(False)
        self.outputs.append([])
        self.operands.append(operands)
        self.is_variable.append(is_variable)
        self.own_arguments.append(own_arguments)
        self.dynamic_extents.append(dynamic_extents)
        for producer, edge_pattern in uses:
            if not 0 <= producer < node:
                raise ValueError(f"node {node} ({name}) uses node {producer}, which does not come before it")
            if edge_pattern is None:
                self.extern[producer] = True
            else:
                self.outputs[producer].append(Edge(producer, node, edge_pattern))
        counted = operands if counted is None else counted
        self.counted_operands.append(tuple(operand for operand in counted if not self.is_variable[operand]))
        return node

    def mark_extern(self, node: int) -> None:
        """Say that something outside the graph uses the node's value."""
        self.extern[node] = True

    def describe(self, node: int) -> str:
        """The node for a message: `#3 nn.relu`."""
        return f"#{node} {self.names[node]}"
