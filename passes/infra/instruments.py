"""Instruments: what looks on while passes run. They print, time, save and verify, and never change the module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from io import StringIO
from pathlib import Path
from time import perf_counter
from typing import TextIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.printer import Printer

from xrelay.errors import VerificationError
from xrelay.passes.infra.verify import verify_module


class Instrument:
    """Hooks around passes; each does nothing unless overridden. `number` counts the passes of a pipeline from 0."""

    def begin(self, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        """Before the first pass."""

    def before(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        """Just before a pass."""

    def after(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        """Just after a pass that succeeded."""

    def failed(self, current: ModulePass, number: int, module: ModuleOp, error: Exception) -> None:
        """After a pass, or a hook around it, raised `error`; `module` may be half rewritten."""

    def end(self, module: ModuleOp) -> None:
        """After the last pass."""


class Verify(Instrument):
    """Verifies the module after each pass; the error names the pass that broke it."""

    def after(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        """Raise `VerificationError` for the first thing wrong."""
        try:
            verify_module(module)
        except VerificationError as error:
            raise VerificationError(
                f"after {current.name}: {error.message}", location=error.location, help=error.help
            ) from error


@dataclass
class Timing(Instrument):
    """Seconds per pass, in order; `report` renders them as a table."""

    seconds: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    _start: float = 0.0

    def before(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        """Start the clock."""
        self._start = perf_counter()

    def after(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        """Stop the clock."""
        self.record(current.name, perf_counter() - self._start)

    def record(self, name: str, seconds: float) -> None:
        """Add a row, e.g. for parsing."""
        self.seconds.append((name, seconds))

    def report(self) -> str:
        """A table of seconds and shares, with the total in the last row."""
        total = sum(seconds for _, seconds in self.seconds)
        rows = [f"{seconds:10.4f} s {seconds / total if total else 0:7.1%}  {name}" for name, seconds in self.seconds]
        return "\n".join(["   seconds     share  step", *rows, f"{total:10.4f} s {1:7.1%}  total"]) + "\n"


@dataclass
class PrintIR(Instrument):
    """Prints the module to `stream` around the passes that are asked for.

    `before_passes` and `after_passes` are names of passes, or None for all of them. `on_change` prints after passes
    that changed the text; `diff` prints the change instead of the module; `on_failure` prints what a failing pass left.
    """

    stream: TextIO
    before_passes: frozenset[str] | None = frozenset()
    after_passes: frozenset[str] | None = frozenset()
    on_change: bool = False
    diff: bool = False
    on_failure: bool = False
    generic: bool = False
    _text: str = ""

    def begin(self, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        """Remember the text that the first pass meets."""
        if self.on_change or self.diff:
            self._text = print_module(module, generic=self.generic)

    def before(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        """Print if this pass was asked for."""
        if self.before_passes is None or current.name in self.before_passes:
            self._banner("before", current, print_module(module, generic=self.generic))

    def after(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        """Print if this pass was asked for, or if it changed something and changes were asked for."""
        if self.after_passes is None or current.name in self.after_passes:
            self._banner("after", current, print_module(module, generic=self.generic))
        if self.on_change or self.diff:
            self._show_change(current, print_module(module, generic=self.generic))

    def failed(self, current: ModulePass, number: int, module: ModuleOp, error: Exception) -> None:
        """Print what the failing pass left, if asked for; in generic form, which needs no valid ops."""
        if self.on_failure:
            self._banner("after failure of", current, print_module(module, generic=True))

    def _show_change(self, current: ModulePass, text: str) -> None:
        """Print what changed since the pass before."""
        previous, self._text = self._text, text
        if text == previous:
            self.stream.write(f"// -----// IR unchanged by {current} //----- //\n")
        elif self.diff:
            lines = unified_diff(previous.splitlines(True), text.splitlines(True), "before", "after", n=2)
            self._banner("change by", current, "".join(lines))
        else:
            self._banner("after", current, text)

    def _banner(self, when: str, current: ModulePass, text: str) -> None:
        """One dump with its heading, which is a comment to the parser."""
        self.stream.write(f"// -----// IR {when} {current} //----- //\n{text}\n")


@dataclass
class SaveIR(Instrument):
    """Writes the module after every pass into `directory`: `00_input.mlir`, `01_cse.mlir` and so on."""

    directory: Path
    generic: bool = False

    def begin(self, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        """Make the directory and write what goes in."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._write(0, "input", module)

    def after(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        """Write what came out of the pass."""
        self._write(number + 1, current.name, module)

    def _write(self, number: int, name: str, module: ModuleOp) -> None:
        path = self.directory / f"{number:02d}_{name}.mlir"
        path.write_text(print_module(module, generic=self.generic) + "\n", encoding="utf-8")


def print_module(module: ModuleOp, *, generic: bool = False, debuginfo: bool = False) -> str:
    """The module as text, in custom or generic form, with or without locations."""
    stream = StringIO()
    Printer(stream=stream, print_generic_format=generic, print_debuginfo=debuginfo).print_op(module)
    return stream.getvalue()
