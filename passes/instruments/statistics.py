"""`PassStatistics` counts ops before and after passes, and how often patterns were tried and hit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.pattern_counts import RECORDER, PatternCounts
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.instruments.pass_stack import PassStack


@dataclass(frozen=True)
class PassRecord:
    """One run of a pass: the numbers of ops before and after, and how often its patterns were tried and hit."""

    name: str
    before: int
    after: int
    added: Counter[str]
    removed: Counter[str]
    patterns: PatternCounts


class PassStatistics(PassInstrument):
    """Counts the ops before and after every pass, and how often its patterns were tried and hit.

    `records` holds the numbers, `report` is a table of them.
    """

    def __init__(self) -> None:
        self.records: list[PassRecord] = []
        self._open = PassStack[tuple[Counter[str], PatternCounts]]()

    def enter_pass_ctx(self) -> None:
        """Begin anew."""
        self.records = []
        self._open.clear()

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Count what goes in."""
        self._open.push(info, (_count(mod), PatternCounts()))

    @contextmanager
    def pass_scope(self, mod: ModuleOp, info: PassInfo) -> Generator[None]:
        """Let the patterns of the pass be counted."""
        innermost = self._open.innermost
        token = RECORDER.set(None if innermost is None else innermost[1])
        try:
            yield
        finally:
            RECORDER.reset(token)

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Count what came out."""
        (before, patterns), after = self._open.pop(info), _count(mod)
        counts = before.total(), after.total(), after - before, before - after
        self.records.append(PassRecord(info.name, *counts, patterns))

    def report(self) -> str:
        """Returns a line for each pass, in the order in which they ended: ops before and after, and what came and went.

        Below it stands a line for each pattern that was tried.
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
