"""Matches a pattern with a node, with the semantics of Relay's matcher.

Order is significant: the left alternative is tried first, and the arguments of a commutative call first as written. A
pattern that has matched a node matches no other node afterwards, except on the paths of a dominator. Matches of the
parts of a pattern that fails are discarded. There is no backtracking into a part that has matched.

Each query, whether a pattern matches a node, is a generator that yields the queries it depends on; a loop resolves
them. So neither patterns redirected to themselves nor deep graphs cause recursion.
"""

from __future__ import annotations

from xrelay.passes.patterns.match_state import Answer, MatchState
from xrelay.passes.patterns.nodes import DFPattern
from xrelay.passes.patterns.rules import rule
from xrelay.passes.patterns.terms import NodeT


class Matcher(MatchState[NodeT]):
    """Matches patterns with nodes of a graph."""

    def match(self, pattern: DFPattern, node: NodeT) -> bool:
        """Returns whether `pattern` matches `node`; `found` then has the nodes that its parts matched."""
        self.found, self._order, self.binds_once = {}, [], True
        stack = [self._answer(pattern, node)]
        answer: bool | None = None
        while stack:
            try:
                # A generator has to be started with None.
                question = next(stack[-1]) if answer is None else stack[-1].send(answer)
            except StopIteration as end:
                stack.pop()
                answer = bool(end.value)
            else:
                stack.append(self._answer(*question))
                answer = None
        return bool(answer)

    def _answer(self, pattern: DFPattern, node: NodeT) -> Answer[NodeT]:
        if self.binds_once and pattern in self.found:
            return self.found[pattern][0] == node
        mark = len(self._order)
        matched = yield from rule(self, pattern, node)
        if matched:
            self.found.setdefault(pattern, []).append(node)
            self._order.append(pattern)
        else:
            self.forget(mark)
        return matched
