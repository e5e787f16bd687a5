"""Instruments that print programs: before or after passes, only on changes or failures, as differences, or to files."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path
from typing import TextIO

from xdsl.dialects.builtin import ModuleOp

from xrelay.passes.catalogue.relay_names import canonical
from xrelay.passes.infra.pass_info import PassInfo, check_known
from xrelay.passes.infra.pass_instrument import PassInstrument, PassStack
from xrelay.passes.infra.printing import dump_module, print_module


class PrintIR(PassInstrument):
    """Prints the module before and after the named passes, under a heading that is a comment to the parser.

    `before` and `after` are pass names of either kind, or `True` for all passes. `on_change` prints the module after
    passes that changed it, `on_failure` the module that a failing pass left, in generic form. `stream` defaults to
    standard error. Relay's name of this class is `PassPrintingInstrument(before_names, after_names)`.
    """

    def __init__(
        self,
        before: Sequence[str] | bool = (),
        after: Sequence[str] | bool = (),
        stream: TextIO | None = None,
        *,
        on_change: bool = False,
        on_failure: bool = False,
    ):
        self._before, self._after = _names(before, "before"), _names(after, "after")
        self._on_change, self._on_failure = on_change, on_failure
        self._stream = stream
        self._texts = PassStack[str]()
        self._running = PassStack[ModuleOp]()

    def enter_pass_ctx(self) -> None:
        """Drops the state that an error left."""
        self._texts.clear()
        self._running.clear()

    def exit_pass_ctx(self) -> None:
        """Prints the module that a failing pass left, with `on_failure`."""
        failed = self._running.innermost
        self._running.clear()
        if failed is not None:
            info, mod = failed
            write_heading(self._stream, f"after failure of {info.title}", print_module(mod, generic=True))

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Prints the module if `before` includes the pass."""
        if self._on_change:
            self._texts.push(info, print_module(mod))
        if self._before is None or canonical(info.name) in self._before:
            write_heading(self._stream, f"before {info.title}", print_module(mod))

    @contextmanager
    def pass_scope(self, mod: ModuleOp, info: PassInfo) -> Generator[None]:
        """Stores the module that the pass rewrites."""
        if self._on_failure:
            self._running.push(info, mod)
        yield

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Prints the module if `after` includes the pass, or, with `on_change`, if the pass changed it."""
        if self._on_failure:
            self._running.pop(info)
        if self._after is None or canonical(info.name) in self._after:
            write_heading(self._stream, f"after {info.title}", print_module(mod))
        if self._on_change:
            text = print_module(mod)
            changed = text != self._texts.pop(info)
            write_heading(
                self._stream, f"{'after' if changed else 'unchanged by'} {info.title}", text if changed else ""
            )


class PrintBeforeAll(PrintIR):
    """Prints the module before every pass."""

    def __init__(self, stream: TextIO | None = None):
        super().__init__(before=True, stream=stream)


class PrintAfterAll(PrintIR):
    """Prints the module after every pass."""

    def __init__(self, stream: TextIO | None = None):
        super().__init__(after=True, stream=stream)


class PrintDiff(PassInstrument):
    """Prints the changes of every pass, as a unified diff of the text."""

    def __init__(self, stream: TextIO | None = None):
        self._stream = stream
        self._texts = PassStack[str]()

    def enter_pass_ctx(self) -> None:
        """Drops the state that an error left."""
        self._texts.clear()

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Stores the text before the pass."""
        self._texts.push(info, print_module(mod))

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Prints the diff."""
        before, after = self._texts.pop(info), print_module(mod)
        if before == after:
            write_heading(self._stream, f"unchanged by {info.title}", "")
        else:
            lines = unified_diff(before.splitlines(True), after.splitlines(True), "before", "after", n=2)
            write_heading(self._stream, f"change by {info.title}", "".join(lines))


def write_heading(stream: TextIO | None, heading: str, text: str) -> None:
    """Writes `text` under `heading`, a comment to the parser, to `stream` or standard error."""
    (stream if stream is not None else sys.stderr).write(f"// -----// IR {heading} //----- //\n{text}\n")


def _names(names: Sequence[str] | bool, what: str) -> frozenset[str] | None:
    """Returns the names in canonical form, or None for all passes."""
    if isinstance(names, bool):
        return None if names else frozenset()
    return check_known(names, what)


class DumpIR(PassInstrument):
    """Writes the module after every pass to `directory`: `01_FoldConstant.mlir` and so on, and first `00_input.mlir`.

    With `generic`, writes the generic form. Raises `PassError` if the files cannot be written.
    """

    def __init__(self, directory: str | Path, *, generic: bool = False):
        self._directory, self._generic = Path(directory), generic
        self._number = 0

    def enter_pass_ctx(self) -> None:
        """Resets the numbering."""
        self._number = 0

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Writes the input of the first pass."""
        if self._number == 0:
            self._save("input", mod)

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Writes the result of the pass."""
        self._save(info.name, mod)

    def _save(self, name: str, mod: ModuleOp) -> None:
        path = self._directory / f"{self._number:02d}_{name.replace('/', '_')}.mlir"
        self._number += 1
        dump_module(path, mod, generic=self._generic)
