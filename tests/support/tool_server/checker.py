"""Runs filecheck in the process of lit. A fork takes longer than the comparison, and there are a thousand."""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from unittest.mock import patch

NO_PROCESS = 2**31 - 1
"""A number that no process has: lit kills the processes of a test that takes too long."""


class CheckerProcess:
    """A complete run of filecheck, with lit's process interface.

    It reads its standard input to the end, so the processes before it in a pipeline run meanwhile.
    """

    pid = NO_PROCESS

    def __init__(self, arguments: Sequence[str], folder: str, stdin: io.TextIOBase, *, merged: bool):
        """Runs filecheck in `folder`; `merged` writes errors to the output."""
        self.stdin = io.StringIO()
        self.stdout = io.StringIO()
        errors = self.stdout if merged else io.StringIO()
        self.stderr = None if merged else errors
        streams = redirect_stdout(self.stdout), redirect_stderr(errors)
        with chdir(folder), streams[0], streams[1], patch.object(sys, "stdin", stdin):
            self._code = _exit_code(arguments)
        self.stdout.seek(0)
        errors.seek(0)

    def communicate(self) -> tuple[str, str | None]:
        """Returns the output."""
        return self.stdout.read(), None if self.stderr is None else self.stderr.read()

    def wait(self) -> int:
        """Returns the exit code."""
        return self._code


def _exit_code(arguments: Sequence[str]) -> int:
    """Runs filecheck with these arguments, its name included."""
    try:
        # filecheck decides on colours when it is imported, by the standard output.
        from filecheck.main import main

        main(list(arguments))
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 0
    except Exception:
        traceback.print_exc()
        return 1
    return 0
