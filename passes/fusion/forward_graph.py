"""The forward graph of fusion: nodes in post-DFS order, edges from producer to consumer with their patterns.

Nodes are numbers, so the analyses are plain loops over lists and can be tested without IR. In post-DFS order a node
comes after all nodes that it uses: `0 … n-1` is a topological order, and its reverse visits consumers first.
`op_patterns.forward_graph` builds the graph of a function's body.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple

from xrelay.dialects.relay.core.op_pattern import OpPatternKind


class Edge(NamedTuple):
    """A use of `producer`'s value by `consumer`, with the pattern of the access."""

    producer: int
    consumer: int
    pattern: OpPatternKind


class Use(NamedTuple):
    """An operand of a node being added; `pattern` is `None` for an extern use, which blocks fusion."""

    producer: int
    pattern: OpPatternKind | None


@dataclass
class ForwardGraph:
    """Nodes `0 … len(graph) - 1` in post-DFS order; every list is indexed by node."""

    names: list[str] = field(default_factory=list[str])
    """The name of the node in explanations."""
    patterns: list[OpPatternKind] = field(default_factory=list[OpPatternKind])
    extern: list[bool] = field(default_factory=list[bool])
    """Whether the value is used outside the graph: it is returned, yielded, bound by a let, or a condition."""
    outputs: list[list[Edge]] = field(default_factory=list[list[Edge]])
    """The edges to the node's consumers, one for each operand."""
    operands: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    """The nodes that produce the node's operands, in operand order."""
    is_variable: list[bool] = field(default_factory=list[bool])
    """Whether the node is a parameter or another value from outside."""
    own_arguments: list[int] = field(default_factory=list[int])
    """Kernel arguments that the node alone would need (Relay's args_num)."""
    counted_operands: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    """The operands, without variables, whose groups count among the arguments of the node's kernel
    (`groups.py`)."""
    dynamic_extents: list[int] = field(default_factory=list[int])
    """The number of unknown dimensions of the node's result; each is one more output of its kernel."""
    hints: dict[int, AbstractSet[int]] = field(default_factory=dict[int, AbstractSet[int]])
    """Hinted nodes, each with the post-dominators that its hint names."""

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
        """Appends a node that uses earlier ones and returns its number; raises `ValueError` for a use of a later node.

        `counted` are the operands that count as arguments, by default all.
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

    def describe(self, node: int) -> str:
        """The node as text for messages: `#3 nn.relu`."""
        return f"#{node} {self.names[node]}"
