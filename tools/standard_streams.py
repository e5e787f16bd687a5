"""Standard input and output of the tools, which handle closed streams and full disks."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO, cast

from xrelay.errors import XRelayError


def read_standard_input() -> bytes:
    """Returns all of standard input. Raises `XRelayError` if it is closed."""
    stream = cast("TextIO | None", sys.stdin)  # None if it is closed
    if stream is None:
        raise XRelayError("standard input is closed", help="pass a file name")
    return stream.buffer.read()


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


def discard_standard_output() -> None:
    """Discards buffered and further output: the interpreter flushes once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
