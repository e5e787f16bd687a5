"""Matches a pattern against a node, as Relay's matcher does.

Order counts: of alternatives the left one is tried first, of a commutative call the arguments as they stand. A pattern
that has matched a node matches no other node afterwards, but inside of a dominator's paths. What was found in a part
that failed in the end is forgotten; a match that was found is never tried anew in another way.

Each question, whether a pattern matches a node, is a generator that yields the questions it depends on; a loop answers
them. So neither patterns that are redirected into themselves nor deep graphs recurse.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Generic, TypeAlias

from xrelay.passes.patterns.graph import NodeGraph
from xrelay.passes.patterns.nodes import DFPattern
from xrelay.passes.patterns.rules import rule
from xrelay.passes.patterns.terms import NodeT, Terms

Answer: TypeAlias = "Generator[tuple[DFPattern, NodeT], bool, bool]"
"""Yields questions, gets their answers, and gives its own."""


class Matcher(Generic[NodeT]):
    """Matches patterns against nodes of `graph`."""

    def __init__(self, graph: NodeGraph[NodeT]):
        self.graph = graph
        self.terms: Terms[NodeT] = graph.terms
        self.found: dict[DFPattern, list[NodeT]] = {}
        """The nodes that each pattern matched in the last match."""
        self.binds_once = True
        """Whether a pattern that has matched a node matches no other."""
        self._order: list[DFPattern] = []

    def match(self, pattern: DFPattern, node: NodeT) -> bool:
        """Whether `pattern` matches `node`; `found` says what its parts matched."""
        self.found, self._order, self.binds_once = {}, [], True
        stack = [self._answer(pattern, node)]
        answer: bool | None = None
        while stack:
            try:
                # The first value that a generator is sent has to be None.
                question = next(stack[-1]) if answer is None else stack[-1].send(answer)
            except StopIteration as end:
                stack.pop()
                answer = bool(end.value)
            else:
                stack.append(self._answer(*question))
                answer = None
        return bool(answer)

    def mark(self) -> int:
        """A moment to which `forget` can go back."""
        return len(self._order)

    def forget(self, mark: int) -> None:
        """Forget what was found since `mark`."""
        for pattern in self._order[mark:]:
            self.found.pop(pattern, None)
        del self._order[mark:]

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
