"""Converts the nodes of a graph in order, and moves the users of an If of several ranks into its branches.

PyTorch writes `squeeze` as an If of a Squeeze or an Identity. A relay value has one rank, so the nodes that read such a
result are converted in both branches, until no further node reads a value of several ranks:

    y = If(n == 1) {Squeeze(x)} else {Identity(x)}        z = relay.if (n == 1) {
    z = ReduceMax(y)                                 →      ReduceMax(Squeeze(x))
    w = Relu(z)                                           } else {
                                                            ReduceMax(x)
                                                          }
                                                          w = relay.nn.relu(z)

If a node does not fit the types in a branch, that branch ends in `relay.fail`, and the other determines the types. A
model output of several ranks becomes an optional that always has a value, as an optional may have any rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import onnx
from xdsl.ir import Attribute, Block, SSAValue

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx.branches import Branch, emit_if, in_optional, joined_type
from xrelay.frontend.onnx.graph import GraphBuilder
from xrelay.frontend.onnx.needed import names_read
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.problems import (
    BranchRanksError,
    MalformedGraphError,
    OutputRanksError,
    ReplacedNodeError,
    UntypedNodeError,
)
from xrelay.frontend.onnx.spliced import SplicedBranch

MAX_MOVED: Final = 10_000
"""The maximum number of nodes that are moved into branches: twenty Ifs in a row may duplicate nodes a million times."""

ConvertNode = Callable[[onnx.NodeProto, GraphBuilder, Iterable[ModelImportError]], ModelImportError | None]
"""Converts one node; returns the reason if it cannot be converted."""


class Uses:
    """For each name, the number of nodes of a list that read it and are not converted yet.

    The counts are computed at first use, as few models need them.
    """

    outputs: frozenset[str]
    """The values that the list computes for its graph."""

    def __init__(self, nodes: Sequence[onnx.NodeProto], outputs: Collection[str] = (), around: Uses | None = None):
        self._nodes, self._converted = nodes, 0
        self.outputs, self._around = frozenset(outputs), around
        self._left: Counter[str] | None = None

    def forget(self, node: onnx.NodeProto) -> None:
        """Subtracts the reads of `node`, which is converted next."""
        if self._left is None:
            self._converted += 1
        else:
            self._left.subtract(names_read(node))

    def add(self, nodes: Sequence[onnx.NodeProto]) -> None:
        """Adds the reads of further nodes."""
        for node in nodes:
            self._counts().update(names_read(node))

    def is_read(self, name: str) -> bool:
        """Returns whether an unconverted node reads `name`, here or in an enclosing list."""
        return self._counts()[name] > 0 or (self._around is not None and self._around.is_read(name))

    def is_output(self, name: str) -> bool:
        """Returns whether `name` is an output, here or of an enclosing list."""
        return name in self.outputs or (self._around is not None and self._around.is_output(name))

    def _counts(self) -> Counter[str]:
        if self._left is None:
            self._left = Counter(name for node in self._nodes[self._converted :] for name in names_read(node))
        return self._left


class NodeList:
    """Converts nodes one after the other. `any_rank` permits outputs of several ranks, as optionals."""

    def __init__(self, graph: GraphBuilder, uses: Uses, convert_node: ConvertNode, *, any_rank: bool = False):
        self.graph, self.uses = graph, uses
        self._convert_node, self._any_rank = convert_node, any_rank
        self._fork: _Fork | None = None

    def convert(self, proto: onnx.NodeProto, problems: Iterable[ModelImportError] = ()) -> ModelImportError | None:
        """Converts the next node of the list; returns the reason if it cannot be converted."""
        self.uses.forget(proto)
        return self.take(proto, problems)

    def take(self, proto: onnx.NodeProto, problems: Iterable[ModelImportError] = ()) -> ModelImportError | None:
        """Converts a node of this list or of an enclosing one."""
        if self._fork is not None and self._fork.is_read_by(proto):
            return self._move(proto, problems)
        problem = self._convert_node(proto, self.graph, problems)
        if isinstance(problem, ReplacedNodeError):
            return self._insert(problem.nodes)
        if not isinstance(problem, BranchRanksError):
            return problem
        if self._fork is not None:
            return self._move(proto, problems)
        if problem.branch is not None:
            return self.splice(proto, problem.branch)
        self._fork = _Fork(proto, problem.condition, self)
        return self._extend(self._fork, lambda arm: arm.nodes.splice(proto, arm.name), proto.output)

    def splice(self, proto: onnx.NodeProto, branch: str) -> ModelImportError | None:
        """Converts the nodes of a branch at the position of its If."""
        spliced = SplicedBranch.of(proto, branch)
        for name, weight in spliced.weights:
            self.graph.define_weight(weight, name)
        return self._insert(spliced.nodes)

    def _insert(self, nodes: Sequence[onnx.NodeProto]) -> ModelImportError | None:
        """Converts nodes that are not in the list before its next node."""
        self.uses.add(nodes)
        for node in nodes:
            self.graph.inserted_reads |= dict.fromkeys(names_read(node))
        for node in nodes:
            problem = self.convert(node)
            if problem is not None:
                return problem
        return None

    def inside(self) -> NodeList:
        """Returns a list that fills its own block and sees the values of this one."""
        uses = Uses((), around=self.uses)
        return NodeList(self.graph.inner(Block()), uses, self._convert_node, any_rank=self._any_rank)

    def finish(self) -> None:
        """Closes the open If. Raises `OutputRanksError` for an output with several ranks unless these are permitted."""
        if self._fork is not None:
            self._close(self._fork)

    def abandon(self) -> None:
        """Erases the ops of open branches."""
        if self._fork is not None:
            self._fork.abandon()
            self._fork = None

    def type_of(self, name: str) -> Attribute | None:
        """Returns the type of a value that this list defines; `None` if it has several ranks."""
        value = self.graph.values.maps[0].get(name)
        if value is None:
            return None if self._fork is None else self._fork.type_of(name)
        return value.type

    def _move(self, proto: onnx.NodeProto, problems: Iterable[ModelImportError]) -> ModelImportError | None:
        """Converts a node in both branches of the open If."""
        node = NodeView(proto, self.graph)
        if any(name in self.graph.missing for name in proto.input):
            return node.depends_on_missing()
        if next(self.graph.moves) > MAX_MOVED:
            text = f"Ifs with results of several ranks are used by more than {MAX_MOVED:,} nodes in their branches"
            raise MalformedGraphError(text, location=node.describe(), help="fix the input shapes with shapes={…}")
        assert self._fork is not None, "some If has nodes to move into it"
        return self._extend(self._fork, lambda arm: arm.nodes.take(proto, problems), proto.output)

    def _extend(
        self, fork: _Fork, convert: Callable[[_Arm], ModelImportError | None], outputs: Collection[str]
    ) -> ModelImportError | None:
        problem = fork.extend(convert, outputs)
        if problem is not None and fork.is_dead:
            self.graph.missing.update(fork.names)
            self.abandon()
        elif not fork.is_pending(self.uses):
            self._close(fork)
        return problem

    def _close(self, fork: _Fork) -> None:
        """Closes the branches of an If, whose results are the values that later nodes need."""
        for arm in fork.alive:
            arm.nodes.finish()
        names = [name for name in fork.names if self.uses.is_read(name) or self.uses.is_output(name)]
        differing = [name for name in names if name in fork.differing]
        if differing and not self._any_rank:
            ranks = " and ".join(map(str, dict.fromkeys(fork.types_of(differing[0]))))
            text = f"{differing[0]!r} is one of {ranks}, which differ in more than extents"
            raise OutputRanksError(text, help="fix the input shapes with shapes={…}")
        results = fork.emit(names) if names else fork.abandon()
        self._fork = None
        for name, value in zip(names, results, strict=True):
            self.graph.define(name, value)


@dataclass
class _Arm:
    """A branch of an If: the nodes that fill it, and the problem that ends it early."""

    name: str
    nodes: NodeList
    problem: ModelImportError | None = None

    def erase(self) -> None:
        """Erases all ops of the branch."""
        self.nodes.abandon()
        self.nodes.graph.erase(list(self.nodes.graph.block.ops))


class _Fork:
    """An If whose branches contain nodes of the enclosing list."""

    def __init__(self, proto: onnx.NodeProto, condition: SSAValue, around: NodeList):
        self._node, self._condition = NodeView(proto, around.graph), condition
        self._arms = [_Arm(name, around.inside()) for name in ("then_branch", "else_branch")]
        self.names: dict[str, None] = {}
        """The values that the branches define for the enclosing list, in order."""
        self.differing: set[str] = set()
        """The names in `names` whose values have several ranks."""
        self._pending: list[str] = []
        """The names in `differing` that later nodes may read."""

    @property
    def alive(self) -> list[_Arm]:
        """The branches without a problem."""
        return [arm for arm in self._arms if arm.problem is None]

    @property
    def is_dead(self) -> bool:
        """Whether every branch has a problem."""
        return not self.alive

    def is_read_by(self, proto: onnx.NodeProto) -> bool:
        """Returns whether a node reads a value that the branches define."""
        return not self.names.keys().isdisjoint(names_read(proto))

    def extend(
        self, convert: Callable[[_Arm], ModelImportError | None], outputs: Iterable[str]
    ) -> ModelImportError | None:
        """Converts a node with these outputs in each branch; returns the problem if it fails in all of them."""
        added, problem = dict.fromkeys(filter(None, outputs)), None
        self.names |= added
        for arm in self.alive:
            problem = convert(arm)
            if problem is None:
                continue
            if not isinstance(problem, UntypedNodeError):
                self.names = {name: None for name in self.names if name not in added}
                return problem
            arm.erase()
            arm.problem, added = problem, self.names
            self.differing.clear()
            self._pending.clear()
        differing = [name for name in added if self.type_of(name) is None]
        self.differing.update(differing)
        self._pending += differing
        return problem if self.is_dead else None

    def is_pending(self, uses: Uses) -> bool:
        """Returns whether an unconverted node reads a value of several ranks."""
        while self._pending and not uses.is_read(self._pending[-1]):
            self._pending.pop()
        return bool(self._pending)

    def types_of(self, name: str) -> list[Attribute | None]:
        """Returns the types of a value in the branches."""
        return [arm.nodes.type_of(name) for arm in self.alive]

    def type_of(self, name: str) -> Attribute | None:
        """Returns the common type of a value in the branches; `None` for several ranks."""
        types = [type for type in self.types_of(name) if type is not None]
        return joined_type(types) if types and len(types) == len(self.alive) else None

    def emit(self, names: Iterable[str]) -> list[SSAValue]:
        """Returns the values `names` as results of a `relay.if`."""
        branches: list[Branch] = []
        for arm in self._arms:
            graph = arm.nodes.graph
            inner = NodeView(self._node.proto, graph)
            values = [] if arm.problem is not None else [graph.values[name] for name in names]
            if any(graph.carried.of(value) is not None for value in values):
                raise inner.error("results of a branch with less than 8 bits, or 8-bit floats, are not supported")
            held = [
                in_optional(inner, value) if name in self.differing else value
                for name, value in zip(names, values, strict=False)
            ]
            branches.append(Branch(arm.name, inner, held, arm.problem))
        return emit_if(self._node, self._condition, branches)

    def abandon(self) -> list[SSAValue]:
        """Erases all ops of the branches."""
        for arm in self._arms:
            arm.erase()
        return []
