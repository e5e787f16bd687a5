"""The matching rule of dominators: all paths up from the child lead through the path pattern to one parent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic

from xrelay.passes.patterns.match_state import Answer, MatchState
from xrelay.passes.patterns.nodes import DominatorPattern
from xrelay.passes.patterns.terms import CallTerm, ConstantTerm, NodeT, VarTerm, operands


def dominator_rule(matcher: MatchState[NodeT], pattern: DominatorPattern, node: NodeT) -> Answer[NodeT]:
    """Matches the child, then all paths up to the parent. The child has to post-dominate the parent."""
    if not (yield pattern.child, node):
        return False
    reached = yield from _all_paths_reach(matcher, pattern, node)
    matcher.binds_once = True
    if not reached:
        return False
    return matcher.graph.dominates(node, matcher.found[pattern.parent][0])


def _all_paths_reach(matcher: MatchState[NodeT], pattern: DominatorPattern, child: NodeT) -> Answer[NodeT]:
    """Matches the operands of `child`, transitively, with the parent or the path; each operand is visited once.

    Variables and constants among the arguments of a call are not on paths. The parent is one node; the path pattern and
    its parts match any number of nodes.
    """
    operands_of = _Operands(matcher, child)
    passed: set[NodeT] = set()
    while operands_of.pending:
        current = next(operands_of.pending[-1], None)
        if current is None:
            operands_of.pending.pop()
            continue
        if current in passed:
            continue
        matcher.binds_once = True
        if (yield pattern.parent, current):
            continue
        matcher.binds_once = False
        if not (yield pattern.path, current):
            return False
        passed.add(current)
        if not operands_of.enter(current):
            return False
    return operands_of.any


class _Operands(Generic[NodeT]):
    """The stack of operands to visit, for a depth-first walk."""

    def __init__(self, matcher: MatchState[NodeT], child: NodeT):
        self._terms = matcher.terms
        self.pending: list[Iterator[NodeT]] = []
        self.any = self.enter(child)

    def enter(self, node: NodeT) -> bool:
        """Pushes the operands of `node`; returns whether it has any."""
        found: Sequence[NodeT] = operands(self._terms, node)
        if isinstance(self._terms.of(node), CallTerm):
            found = [value for value in found if not isinstance(self._terms.of(value), VarTerm | ConstantTerm)]
        self.pending.append(iter(found))
        return bool(found)
