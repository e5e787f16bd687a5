"""Instruments that print programs: before and after passes, where a pass changed or broke them, or as differences."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from difflib import unified_diff
from typing import TextIO

from xdsl.dialects.builtin import ModuleOp

from xrelay.passes.catalogue.relay_names import canonical
from xrelay.passes.infra.pass_info import PassInfo, check_names
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.pass_names import check_known
from xrelay.passes.infra.printing import print_module
from xrelay.passes.instruments.pass_stack import PassStack


class PrintIR(PassInstrument):
    """Prints the module before and after the passes named, under a heading that is a comment to the parser.

    `before` and `after` are names of passes under either kind of name, or `True` for all passes. `on_change` prints the
    module after passes that changed it, `on_failure` what a failing pass left, in generic form. `stream` is standard
    error unless given. Relay's users know it as `PassPrintingInstrument(before_names, after_names)`.
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
        """Forget what an error left open."""
        self._texts.clear()
        self._running.clear()

    def exit_pass_ctx(self) -> None:
        """Print what a failing pass left, if that was asked for."""
        failed = self._running.innermost_item
        self._running.clear()
        if failed is not None:
            info, mod = failed
            write_heading(self._stream, f"after failure of {info.title}", print_module(mod, generic=True))

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Print the module if the pass was asked for."""
        if self._on_change:
            self._texts.push(info, print_module(mod))
        if self._before is None or canonical(info.name) in self._before:
            write_heading(self._stream, f"before {info.title}", print_module(mod))

    @contextmanager
    def pass_scope(self, mod: ModuleOp, info: PassInfo) -> Generator[None]:
        """Remember what the pass works on."""
        if self._on_failure:
            self._running.push(info, mod)
        yield

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Print the module if the pass was asked for, or if it changed something and changes were asked for."""
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
    """Prints what every pass changed, as a unified difference of the text."""

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
        """Print the difference."""
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
    """Returns the names as contexts compare them; None stands for all."""
    if isinstance(names, bool):
        return None if names else frozenset()
    return check_known(check_names(names, what), what)
