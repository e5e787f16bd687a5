"""Terminals and standard streams of the tools: closed streams, usage errors, source excerpts, progress bars."""

from __future__ import annotations

import os
import re
import sys
import time
import warnings
from argparse import ArgumentParser
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Final, NoReturn, TextIO, cast

from xrelay.errors import XRelayError, closest, did_you_mean, one_line, printable
from xrelay.shortage import shortage_of

_REDRAW_SECONDS: Final = 0.1
"""The minimum time in seconds between two drawings of a progress bar."""


def read_standard_input() -> bytes:
    """Returns all of standard input. Raises `XRelayError` if it is closed."""
    stream = cast("TextIO | None", sys.stdin)  # None if it is closed
    if stream is None:
        raise XRelayError("standard input is closed", help="pass a file name")
    return stream.buffer.read()


def escape_unencodable() -> None:
    r"""Makes stdout escape the characters that its encoding lacks, as stderr does: `…` is `\u2026` in ASCII."""
    if isinstance(sys.stdout, TextIOWrapper):  # no other stream, such as that of a closed file, has an encoding
        sys.stdout.reconfigure(errors="backslashreplace")


@contextmanager
def standard_output() -> Generator[None]:
    """Flushes stdout after the block; if a shell has closed it (`>&-`), output is discarded.

    Raises:
        XRelayError: if output cannot be written.
        BrokenPipeError: if the reader has closed the pipe.

    """
    if cast("TextIO | None", sys.stdout) is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:  # an error of another file
            raise
        discard_standard_output()
        raise XRelayError(f"cannot write to standard output: {error.strerror}") from error


@contextmanager
def plain_warnings() -> Generator[None]:
    """Prints Python's warnings as `warning: MESSAGE`, without the place in the compiler that issued them."""
    with warnings.catch_warnings():
        warnings.showwarning = _print_warning
        yield


def _print_warning(message: Warning | str, *_: object, **__: object) -> None:
    sys.stderr.write(f"warning: {printable(str(message))}\n")


def discard_standard_output() -> None:
    """Discards buffered and further output: the interpreter flushes once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_FLAG = re.compile(r"(?<!\S)--?[\w-]+")
_OPTION_LINE = re.compile(r"^ +-.*", re.MULTILINE)
"""The line of a help text that declares a flag; descriptions may mention flags of other commands."""
_CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from (.*)\)")


def add_switches(add_argument: Callable[..., object], switches: Mapping[str, str]) -> None:
    """Declares flags without values; `switches` maps each to its help."""
    for flag, text in switches.items():
        add_argument(flag, action="store_true", help=text)


def flag_hint(message: str, parser: ArgumentParser) -> str:
    """Returns the valid flag or word closest to an invalid one, else a pointer to their list."""
    listed = f"{parser.prog} --help lists the flags"
    choice = _CHOICE.search(message)
    if choice is not None:
        return did_you_mean(choice[1], re.findall(r"[^', ]+", choice[2]), listed)
    if not message.startswith("unrecognized arguments"):
        return listed
    flags = _FLAG.findall(" ".join(_OPTION_LINE.findall(parser.format_help())))
    known = {flag.lstrip("-"): flag for flag in flags}  # dashes would make all flags similar
    close = (closest(flag.lstrip("-"), known) for flag in _FLAG.findall(message))
    return next((f"did you mean {known[name]!r}?" for name in close if name is not None), listed)


def answer_in_one_line(parser: ArgumentParser, hint: Callable[[str, ArgumentParser], str] = flag_hint) -> None:
    """Makes `parser` report errors on one line, with a hint, instead of printing its usage."""

    def error(message: str) -> NoReturn:
        sys.stderr.write(f"{parser.prog}: error: {message}; help: {hint(message, parser)}\n")
        sys.exit(2)

    parser.error = error


_LOCATION = re.compile(r"(?P<name>.*?):(?P<line>\d+):(?P<column>\d+): (?:error|note|warning|remark): ")
MAX_WIDTH = 120
"""The maximum number of characters shown of a line; a longer line is cut around the caret."""


def excerpt(message: str, sources: Mapping[str, str]) -> list[str]:
    """Returns the source line of a message `name:line:column: …` and the line with the caret, if `sources` has `name`.

    Returns nothing for a message about another file or without a location.
    """
    location = _LOCATION.match(message)
    if location is None or location["name"] not in sources:
        return []
    lines = sources[location["name"]].split("\n")
    number, column = int(location["line"]), int(location["column"])
    if not 1 <= number <= len(lines):
        return []
    line = "".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in lines[number - 1].rstrip("\r"))
    if column > len(line) + 1 or not line:
        return []
    start = max(0, min(column - 1 - MAX_WIDTH // 2, len(line) - MAX_WIDTH))
    shown = line[start : start + MAX_WIDTH]
    before = "".join("\t" if char == "\t" else " " for char in shown[: column - 1 - start])
    return [shown, before + "^"]


def line_of(error: Exception) -> str:
    """Returns the line for the user: errors of the project as rendered, others as internal errors."""
    known = error if isinstance(error, XRelayError) else shortage_of(error) or _wrong_name(error)
    if known is not None:
        return known.render()
    text = one_line(str(error))
    hint = "set XRELAY_DEBUG=1 for a traceback; please report it"
    return f"error: internal error, {type(error).__name__}: {text}; help: {hint}"


def _wrong_name(error: Exception) -> XRelayError | None:
    """Returns the error for a file name that is not text, and is written to a text; `None` for any other error."""
    if not isinstance(error, UnicodeEncodeError):
        return None
    name = error.object[max(0, error.start - 20) : error.end + 20]
    return XRelayError(f"a file name is not UTF-8: {name!r}", help="rename the file")


@contextmanager
def progress_bar(title: str, *, estimate: bool = False) -> Generator[Callable[[int, int, str], None] | None]:
    """Yields a callback `(done, total, step)` that draws on stderr, or `None` if stderr is not a terminal.

    With `estimate`, the bar has the time that remains if all steps take as long as the last ones, and is redrawn by a
    thread. Otherwise it is redrawn at most ten times a second, when the callback is called: a compilation forks workers
    only in a process without other threads.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[step]}", markup=False),
        TimeElapsedColumn(),
    ]
    if estimate:
        columns += [TextColumn("remaining:"), TimeRemainingColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=estimate) as bar:
        task, drawn = bar.add_task(title, step=""), float("-inf")

        def update(done: int, total: int, step: str) -> None:
            nonlocal drawn
            bar.update(task, completed=done, total=total, step=printable(step))
            if not estimate and (now := time.monotonic()) - drawn >= _REDRAW_SECONDS:
                drawn = now
                bar.refresh()

        yield update
