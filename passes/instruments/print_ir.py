"""Instruments that write programs down: to a stream, as differences, or to files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path
from typing import TextIO

from xdsl.dialects.builtin import ModuleOp

from xrelay.passes.catalogue.relay_names import check_known
from xrelay.passes.infra.pass_info import PassInfo, check_names
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.printing import print_module, save_module
from xrelay.passes.instruments.pass_stack import PassStack


class PrintIR(PassInstrument):
    """Writes the module before and after the passes named, under a heading that is a comment to the parser.

    `before` and `after` are names of passes under either kind of name, or `True` for all passes. `stream` is standard
    error unless given. Relay's users know it as `PassPrintingInstrument(before_names, after_names)`.
    """

    def __init__(
        self,
        before: Sequence[str] | bool = (),
        after: Sequence[str] | bool = (),
        stream: TextIO | None = None,
    ):
        self._before, self._after = _names(before, "before"), _names(after, "after")
        self._stream = stream

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Write the module if the pass was asked for."""
        if self._before is None or info.name in self._before:
            write_heading(self._stream, f"before {info.name}", print_module(mod))

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Write the module if the pass was asked for."""
        if self._after is None or info.name in self._after:
            write_heading(self._stream, f"after {info.name}", print_module(mod))


class PrintBeforeAll(PrintIR):
    """Writes the module before every pass."""

    def __init__(self, stream: TextIO | None = None):
        super().__init__(before=True, stream=stream)


class PrintAfterAll(PrintIR):
    """Writes the module after every pass."""

    def __init__(self, stream: TextIO | None = None):
        super().__init__(after=True, stream=stream)


class PrintDiff(PassInstrument):
    """Writes what every pass changed, as a unified difference of the text."""

    def __init__(self, stream: TextIO | None = None):
        self._stream = stream
        self._texts = PassStack[str]()

    def enter_pass_ctx(self) -> None:
        """Forget what an error left open."""
        self._texts.clear()

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Remember the text that the pass meets."""
        self._texts.push(info, print_module(mod))

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Write the difference."""
        before, after = self._texts.pop(info), print_module(mod)
        if before == after:
            write_heading(self._stream, f"unchanged by {info.name}", "")
        else:
            lines = unified_diff(before.splitlines(True), after.splitlines(True), "before", "after", n=2)
            write_heading(self._stream, f"change by {info.name}", "".join(lines))


class DumpIR(PassInstrument):
    """Writes the module after every pass into `directory`: `01_FoldConstant.mlir` and so on, `00_input.mlir` first.

    Raises `PassError` where the files cannot be written.
    """

    def __init__(self, directory: str | Path):
        self._directory = Path(directory)
        self._number = 0

    def enter_pass_ctx(self) -> None:
        """Begin to count."""
        self._number = 0

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Write what goes into the first pass."""
        if self._number == 0:
            self._save("input", mod)

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Write what came out of the pass."""
        self._save(info.name, mod)

    def _save(self, name: str, mod: ModuleOp) -> None:
        path = self._directory / f"{self._number:02d}_{name.replace('/', '_')}.mlir"
        self._number += 1
        save_module(path, mod)


def _names(names: Sequence[str] | bool, what: str) -> frozenset[str] | None:
    """The names as contexts compare them; None stands for all."""
    if isinstance(names, bool):
        return None if names else frozenset()
    return check_known(check_names(names, what), what)


def write_heading(stream: TextIO | None, heading: str, text: str) -> None:
    """Writes `text` under `heading`, a comment to the parser, to `stream` or standard error."""
    (stream if stream is not None else sys.stderr).write(f"// -----// IR {heading} //----- //\n{text}\n")
