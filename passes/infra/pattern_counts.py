"""Counts how often the patterns of a pass were tried, and how often they rewrote something.

The project's rewrite drivers report to the recorder of their thread or task, if there is one; `PassStatistics` sets one
for each pass. Passes without patterns, and xDSL's own passes, have no counts.
"""

from __future__ import annotations

from collections import Counter
from contextvars import ContextVar

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern


class PatternCounts:
    """Name of a pattern → how often it was tried, and how often it matched."""

    def __init__(self) -> None:
        self.tried: Counter[str] = Counter()
        self.hit: Counter[str] = Counter()

    def note(self, pattern: object, *, hit: bool) -> None:
        """Counts one attempt of a pattern on an op."""
        name = type(pattern).__name__
        self.tried[name] += 1
        self.hit[name] += hit

    def lines(self) -> list[str]:
        """Returns a line for each pattern, in the order in which they were first tried."""
        width = max(map(len, self.tried), default=0)
        return [f"{name:{width}}  tried {tried}, hit {self.hit[name]}" for name, tried in self.tried.items()]


RECORDER: ContextVar[PatternCounts | None] = ContextVar("pattern counts", default=None)
"""The recorder of pattern counts, or None."""


def counted(pattern: RewritePattern) -> RewritePattern:
    """Returns the pattern wrapped to report to the recorder; the pattern itself if there is no recorder."""
    counts = RECORDER.get()
    return pattern if counts is None else _Counted(pattern, counts)


class _Counted(RewritePattern):
    def __init__(self, pattern: RewritePattern, counts: PatternCounts):
        self._pattern, self._counts = pattern, counts

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Tries the pattern and counts the attempt."""
        self._pattern.match_and_rewrite(op, rewriter)
        self._counts.note(self._pattern, hit=rewriter.has_done_action)
