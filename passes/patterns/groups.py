"""Groups of nodes that match a pattern and can be outlined to a function, as in Relay.

Nodes are matched from the results backwards. A group contains the nodes that its root needs, down to its inputs: the
nodes that the leaves of the pattern match, in the order of the leaves. A constant is an input if a wildcard matches it,
else it belongs to the group. A match is not a group if

- a node of it belongs to another group already;
- a node other than the root is used outside, unless that use leads to the root again: then both have a copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from xrelay.dialects.shared.attribute_names import PARTITIONED_FROM
from xrelay.passes.infra.digraph import post_order
from xrelay.passes.patterns.graph import NodeGraph, below
from xrelay.passes.patterns.matcher import Matcher
from xrelay.passes.patterns.nodes import (
    CallPattern,
    ConstantPattern,
    DFPattern,
    DominatorPattern,
    ExprPattern,
    FunctionPattern,
    TuplePattern,
)
from xrelay.passes.patterns.terms import (
    MISSING,
    CallTerm,
    ConstantTerm,
    FieldTerm,
    FunctionTerm,
    GlobalTerm,
    IfTerm,
    LetTerm,
    NodeT,
    OperatorTerm,
    OtherTerm,
    Terms,
    TupleTerm,
    VarTerm,
)


@dataclass(frozen=True)
class Group(Generic[NodeT]):
    """A match with the inputs and the body of its function."""

    root: NodeT
    found: Mapping[DFPattern, Sequence[NodeT]]
    """The nodes that each part of the pattern matched."""
    inputs: Sequence[NodeT]
    """The arguments of the function."""
    members: Sequence[NodeT]
    """The nodes of the body in post-order; the root is the last."""
    name: str
    """The names of its operators, each followed by `_`, as in Relay."""


def groups_of(pattern: DFPattern, graph: NodeGraph[NodeT]) -> dict[NodeT, Group[NodeT]]:
    """Returns the groups of a graph by their roots, in the order in which they are found."""
    return _Grouper(pattern, graph).groups()


class _Grouper(Generic[NodeT]):
    def __init__(self, pattern: DFPattern, graph: NodeGraph[NodeT]):
        self._pattern, self._graph, self._terms = pattern, graph, graph.terms
        self._matcher = Matcher(graph)
        self._subpatterns = post_order([pattern], lambda each: each.subpatterns)
        self._outside = set(graph.roots)
        self._taken: set[NodeT] = set()
        self._made_before: set[NodeT] = set()
        """The nodes inside functions of earlier partitions, which are not matched again."""

    def groups(self) -> dict[NodeT, Group[NodeT]]:
        found: dict[NodeT, Group[NodeT]] = {}
        for node in reversed(self._graph.index):
            term = self._terms.of(node)
            if isinstance(term, FunctionTerm) and self._terms.attribute(node, PARTITIONED_FROM) is not MISSING:
                self._made_before.update(below(self._terms, [node]))
            is_open = node not in self._taken and node not in self._made_before
            if is_open and self._matcher.match(self._pattern, node):
                group = self._group(node)
                if self._is_free(group):
                    self._taken.update(group.members)
                    found[node] = group
        return found

    def _group(self, root: NodeT) -> Group[NodeT]:
        found = self._matcher.found
        inputs = self._inputs(found)
        members = below(self._terms, [root], list(inputs))
        bound = {name for member in members for name in _bound_names(self._terms, member)}
        for member in members:
            # Free variables that no leaf matched, for instance in the body of a closure, are inputs too.
            if isinstance(self._terms.of(member), VarTerm) and member not in bound:
                inputs[member] = None
        members = [member for member in members if member not in inputs]
        name = "".join(_label(self._terms, member) for member in members)
        return Group(root, found, list(inputs), members, name)

    def _inputs(self, found: Mapping[DFPattern, Sequence[NodeT]]) -> dict[NodeT, None]:
        """Returns the nodes that leaves of the pattern match, in the order of the leaves, each once.

        A leaf is a pattern without parts, or a tuple or call pattern with any fields or arguments: these are the
        inputs. Not inputs are operators, functions, constants that the pattern requires, nodes that a dominator's
        parent and path match, and nodes inside matched functions.
        """
        inside = {node for subpattern in self._subpatterns for node in self._inside(subpattern, found)}
        inputs: dict[NodeT, None] = {}
        for subpattern in self._subpatterns:
            others: tuple[type[object], ...] = (OperatorTerm, GlobalTerm, FunctionTerm)
            if isinstance(subpattern, ConstantPattern | ExprPattern):
                others = (*others, ConstantTerm)
            for node in self._matched_by_leaf(subpattern, found):
                if node not in inside and not isinstance(self._terms.of(node), others):
                    inputs[node] = None
        return inputs

    def _inside(self, subpattern: DFPattern, found: Mapping[DFPattern, Sequence[NodeT]]) -> Iterator[NodeT]:
        """Yields the nodes that a dominator's parent and path match, and those inside matched functions."""
        if isinstance(subpattern, DominatorPattern):
            yield from found.get(subpattern.parent, ())
            yield from found.get(subpattern.path, ())
        if isinstance(subpattern, FunctionPattern):
            for term in map(self._terms.of, found.get(subpattern, ())):
                if isinstance(term, FunctionTerm):
                    yield from below(self._terms, [term.body])
                    yield from term.params

    def _matched_by_leaf(self, subpattern: DFPattern, found: Mapping[DFPattern, Sequence[NodeT]]) -> Iterator[NodeT]:
        for node in found.get(subpattern, ()):
            term = self._terms.of(node)
            if isinstance(subpattern, TuplePattern) and subpattern.fields is None and isinstance(term, TupleTerm):
                yield from term.fields
            elif isinstance(subpattern, CallPattern) and subpattern.args is None and isinstance(term, CallTerm):
                yield from term.args
            elif not subpattern.subpatterns:
                yield node

    def _is_free(self, group: Group[NodeT]) -> bool:
        """Returns whether the group overlaps no other group, and only its root is used outside."""
        members = set(group.members)
        if group.root not in members:
            return False
        for member in group.members:
            if isinstance(self._terms.of(member), FunctionTerm | ConstantTerm):
                continue
            if member in self._taken:
                return False
            if member != group.root and not self._is_internal(member, members, group.root):
                return False
        return True

    def _is_internal(self, member: NodeT, members: set[NodeT], root: NodeT) -> bool:
        """Returns whether each user of a member is a member or leads to the root."""
        if member in self._outside:
            return False
        return all(user in members or self._graph.dominates(root, user) for user in self._graph.users_of(member))


def _bound_names(terms: Terms[NodeT], node: NodeT) -> Sequence[NodeT]:
    """Returns the variables that `node` binds."""
    match terms.of(node):
        case FunctionTerm(params, _, itself):
            return (*params, *itself)
        case LetTerm(var, _, _):
            return (var,)
        case VarTerm(_, bound) if bound:
            return (node,)
        case _:
            return ()


def _label(terms: Terms[NodeT], node: NodeT) -> str:
    """Returns the part of the group's name for `node`."""
    match terms.of(node):
        case CallTerm(op, _):
            called = terms.of(op)
            return f"{called.op.name}_" if isinstance(called, OperatorTerm) else "Call_"
        case FunctionTerm():
            return "Function"
        case TupleTerm():
            return "Tuple_"
        case FieldTerm(_, index):
            return f"TupleGetItem{index}_"
        case IfTerm():
            return "If_"
        case LetTerm():
            return "Let_"
        case OtherTerm(name, _):
            return f"{name}_"
        case _:
            return ""
