"""Runs filecheck, `xrelay-opt` and `xrelay` in the process of lit. A fork takes as long as most of the 2,500 runs.

A fork copies each page that it writes to, and fills the caches that warm.py leaves empty once more.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOBase, TextIOWrapper
from subprocess import PIPE, STDOUT
from types import FrameType
from typing import IO, TypeAlias
from unittest.mock import patch

from support import round_trip

File: TypeAlias = "int | IO[str] | IO[bytes] | None"
"""A stream as `Popen` takes it."""

NO_PROCESS = 2**31 - 1
"""A number that no process has: lit kills the processes of a test that takes too long."""
TIME_LIMIT = 600
"""The seconds after which a test fails; slow tests on busy machines take much less time."""


def _filecheck(arguments: Sequence[str]) -> None:
    # filecheck decides on colours when it is imported, by the standard output.
    from filecheck.main import main

    main(list(arguments))


def _xrelay_opt(arguments: Sequence[str]) -> None:
    from xrelay.tools.xrelay_opt import main

    sys.exit(main(arguments[1:]))


def _xrelay(arguments: Sequence[str]) -> None:
    from xrelay.tools.xrelay_cli import main

    sys.exit(main(arguments[1:]))


def _round_trip(arguments: Sequence[str]) -> None:
    sys.exit(round_trip.main(arguments[2]))


Program: TypeAlias = Callable[[Sequence[str]], None]
PROGRAMS: dict[str, Program] = {"filecheck": _filecheck, "xrelay-opt": _xrelay_opt, "xrelay": _xrelay}
"""The programs by name: each takes its arguments, its name included, and exits by `SystemExit`."""


def program_of(arguments: Sequence[str]) -> Program | None:
    """Returns the program that a command starts; `None` if it cannot run in this process."""
    name = os.path.basename(arguments[0])
    if name == "python" and arguments[1:2] == [round_trip.__file__]:
        return _round_trip
    if [name, *map(os.path.basename, arguments[1:2])] == ["sh", "exit_code.sh"]:
        return None if program_of(arguments[3:]) is None else _expecting_exit_code
    return PROGRAMS.get(name)


def _expecting_exit_code(arguments: Sequence[str]) -> None:
    """The script `exit_code.sh` of the text tests, whose command runs in this process."""
    _, _, expected, *command = arguments
    program = program_of(command)
    assert program is not None
    found = _exit_code(program, command)
    if found != int(expected):
        sys.stderr.write(f"exit code {found}, expected {expected}\n")
        sys.exit(1)


class InnerProcess:
    """A complete run of a program, with lit's process interface.

    It runs before the constructor returns, and reads its standard input to the end, so the processes before it in a
    pipeline run meanwhile. Its streams are files, which a process after it can read.
    """

    pid = NO_PROCESS

    def __init__(
        self,
        program: Program,
        arguments: Sequence[str],
        folder: str,
        environment: Mapping[str, str],
        stdin: TextIOBase | None,
        stdout: File,
        stderr: File,
    ):
        """Runs in `folder`; the input is empty without `stdin`. `Popen` takes the same `stdout` and `stderr`."""
        self.stdin = BytesIO()
        out = _stream(stdout, "strict")
        errors = out if stderr == STDOUT else _stream(stderr, "backslashreplace")
        given = TextIOWrapper(BytesIO()) if stdin is None else stdin
        streams = redirect_stdout(out), redirect_stderr(errors), patch.object(sys, "stdin", given)
        variables = patch.dict(os.environ, environment, clear=True)
        with chdir(folder), variables, streams[0], streams[1], streams[2]:
            self._code = _exit_code(program, arguments)
        self.stdout, self.stderr = _unread(out, stdout), _unread(errors, stderr)

    def communicate(self) -> tuple[str | None, str | None]:
        """Returns the output."""
        out, errors = (None if stream is None else stream.read() for stream in (self.stdout, self.stderr))
        return out, errors

    def wait(self) -> int:
        """Returns the exit code."""
        return self._code


def _stream(given: File, errors: str) -> IO[str]:
    """Returns a file to write: the given one, or a temporary file for a pipe."""
    if given == PIPE or given is None:
        return tempfile.TemporaryFile("w+", encoding="utf-8", errors=errors)
    file = given if isinstance(given, int) else given.fileno()
    return open(os.dup(file), "w", encoding="utf-8", errors=errors)


def _unread(stream: IO[str], given: File) -> IO[str] | None:
    """Returns what was written to a pipe, to be read; closes any other stream."""
    if given == PIPE:
        stream.seek(0)
        return stream
    if given != STDOUT:
        stream.close()
    return None


def _exit_code(program: Program, arguments: Sequence[str]) -> int:
    """Runs a program with these arguments, its name included."""
    try:
        with _time_limit():
            program(arguments)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 0
    except Exception:
        traceback.print_exc()
        return 1
    return 0


@contextmanager
def _time_limit() -> Generator[None]:
    """Raises `TimeoutError` in the block when `TIME_LIMIT` is reached: lit cannot kill what runs in its own process."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"no end within {TIME_LIMIT} seconds")

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, TIME_LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
