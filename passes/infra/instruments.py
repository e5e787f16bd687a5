"""Instruments: what looks on while passes run. They print, time, save and verify, and never change the module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import TextIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xrelay.errors import VerificationError
from xrelay.passes.infra.printing import print_module, save_module
from xrelay.passes.infra.verify import verify_module
from xrelay.passes.instruments.time_tree import TimeTree


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


class Timing(Instrument):
    """Times passes, and whatever else `tree` is told of.

    The passes of a run stand in a step called `title`. `groups` may say for each of them in which named pipeline it is,
    "" for none; those next to each other stand in a step of that name. A pass is timed without what looks on.
    """

    def __init__(self, groups: Sequence[str] = (), title: str = "passes") -> None:
        self.tree = TimeTree()
        self.title = title
        self._groups = groups
        self._group = ""
        self._depth = 0

    def begin(self, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        """Begin the step of all passes."""
        self._group, self._depth = "", self.tree.depth
        self.tree.open(self.title, merge=True)

    def before(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        """Start the clock of the pass, in its group."""
        group = self._groups[number] if number < len(self._groups) else ""
        if group != self._group:
            self.tree.close_to(self._depth + 1)
            self._group = group
            if group:
                self.tree.open(group)
        self.tree.open(current.name)

    def after(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        """Stop it."""
        self.tree.close()

    def failed(self, current: ModulePass, number: int, module: ModuleOp, error: Exception) -> None:
        """Stop all clocks."""
        self.tree.close_to(self._depth)

    def end(self, module: ModuleOp) -> None:
        """Stop all clocks."""
        self.tree.close_to(self._depth)

    def report(self) -> str:
        """A table of the steps as `TimeTree.report` gives it."""
        return self.tree.report()


class TimedVerify(Verify):
    """Verifies after each pass, timed in a step `verify` beside the passes."""

    def __init__(self, timing: Timing):
        self._timing = timing

    def after(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        """Verify; raises what `Verify` does."""
        with self._timing.tree.step("verify"):
            super().after(current, number, module)


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
    """Writes the module after every pass into `directory`: `00_input.mlir`, `01_cse.mlir` and so on.

    Raises `PassError` where the files cannot be written.
    """

    directory: Path
    generic: bool = False

    def begin(self, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        """Write what goes in."""
        self._write(0, "input", module)

    def after(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        """Write what came out of the pass."""
        self._write(number + 1, current.name, module)

    def _write(self, number: int, name: str, module: ModuleOp) -> None:
        save_module(self.directory / f"{number:02d}_{name}.mlir", module, generic=self.generic)
