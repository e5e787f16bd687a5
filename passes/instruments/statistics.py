"""`PassStatistics` counts ops before and after passes, and attempts and matches of patterns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument, PassStack
from xrelay.passes.infra.pattern_counts import RECORDER, PatternCounts
from xrelay.passes.infra.verify import walk_ops


@dataclass(frozen=True)
class PassRecord:
    """One run of a pass: the numbers of ops before and after, and the attempts and matches of its patterns."""

    name: str
    before: int
    after: int
    added: Counter[str]
    removed: Counter[str]
    patterns: PatternCounts


class PassStatistics(PassInstrument):
    """Counts the ops before and after every pass, and the attempts and matches of its patterns.

    `records` holds the numbers, `report` returns a table of them.
    """

    def __init__(self) -> None:
        self.records: list[PassRecord] = []
        self._open = PassStack[tuple[Counter[str], PatternCounts]]()

    def enter_pass_ctx(self) -> None:
        """Resets the instrument."""
        self.records = []
        self._open.clear()

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Counts the ops of the input."""
        self._open.push(info, (_count(mod), PatternCounts()))

    @contextmanager
    def pass_scope(self, mod: ModuleOp, info: PassInfo) -> Generator[None]:
        """Enables the counting of the pass's patterns."""
        innermost = self._open.innermost
        token = RECORDER.set(None if innermost is None else innermost[1][1])
        try:
            yield
        finally:
            RECORDER.reset(token)

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Counts the ops of the result."""
        (before, patterns), after = self._open.pop(info), _count(mod)
        counts = before.total(), after.total(), after - before, before - after
        self.records.append(PassRecord(info.name, *counts, patterns))

    def report(self) -> str:
        """Returns a line per pass, in the order in which they ended: ops before and after, and ops removed and added.

        A line for each attempted pattern follows.
        """
        width = max((len(record.name) for record in self.records), default=0)
        lines: list[str] = []
        for record in self.records:
            lines.append(f"{record.name:{width}}  {record.before} -> {record.after}{_changes(record)}")
            lines += (f"    {line}" for line in record.patterns.lines())
        return "".join(f"{line}\n" for line in lines)


def _count(mod: ModuleOp) -> Counter[str]:
    return Counter(op.name for op in walk_ops(mod))


def _changes(record: PassRecord) -> str:
    changes = [f"-{number} {name}" for name, number in sorted(record.removed.items())]
    changes += [f"+{number} {name}" for name, number in sorted(record.added.items())]
    return f"  {', '.join(changes)}" if changes else ""
