"""Instruments that check what passes leave, or count it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import VerificationError
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.pattern_counts import RECORDER, PatternCounts
from xrelay.passes.infra.verify import verify_module, walk_ops
from xrelay.passes.instruments.pass_stack import PassStack


class Verify(PassInstrument):
    """Verifies the module before and after every pass, also where the context's config turned that off."""

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Raise `VerificationError` naming the pass that would get the module."""
        _verify(mod, f"[{info.name}] the module before the pass")

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Raise `VerificationError` naming the pass that left the module."""
        _verify(mod, f"[{info.name}] the module after the pass")


@dataclass(frozen=True)
class PassRecord:
    """What one run of a pass did to the number of ops of each kind, and how its patterns fared."""

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

    def exit_pass_ctx(self) -> None:
        """Count no patterns any more."""
        RECORDER.set(None)

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Count what goes in."""
        patterns = PatternCounts()
        self._open.push(info, (_count(mod), patterns))
        RECORDER.set(patterns)

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Count what came out."""
        (before, patterns), after = self._open.pop(info), _count(mod)
        outer = self._open.innermost
        RECORDER.set(None if outer is None else outer[1])
        counts = before.total(), after.total(), after - before, before - after
        self.records.append(PassRecord(info.name, *counts, patterns))

    def report(self) -> str:
        """A line for each pass, in the order in which they ended: ops before and after, and what came and went.

        Below it stands a line for each pattern that was tried.
        """
        width = max((len(record.name) for record in self.records), default=0)
        lines: list[str] = []
        for record in self.records:
            lines.append(f"{record.name:{width}}  {record.before} -> {record.after}{_changes(record)}")
            lines += (f"    {line}" for line in record.patterns.lines())
        return "".join(f"{line}\n" for line in lines)


def _verify(mod: ModuleOp, what: str) -> None:
    try:
        verify_module(mod)
    except VerificationError as error:
        message = f"{what} is ill-formed: {error.message}"
        raise VerificationError(message, location=error.location, help=error.help) from error


def _count(mod: ModuleOp) -> Counter[str]:
    return Counter(op.name for op in walk_ops(mod))


def _changes(record: PassRecord) -> str:
    changes = [f"-{number} {name}" for name, number in sorted(record.removed.items())]
    changes += [f"+{number} {name}" for name, number in sorted(record.added.items())]
    return f"  {', '.join(changes)}" if changes else ""
