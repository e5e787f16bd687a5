"""Standard input and output of the tools, where a shell has closed one or the disk behind it is full."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TextIO, cast

from xrelay.errors import XRelayError


def read_standard_input() -> bytes:
    """All of standard input; `XRelayError` where there is none."""
    stream = cast("TextIO | None", sys.stdin)  # None where it is closed
    if stream is None:
        raise XRelayError("there is no standard input", help="name a file")
    return stream.buffer.read()


@contextmanager
def standard_output() -> Generator[None]:
    """What is written inside is there afterwards; it goes nowhere where a shell has closed the stream (`>&-`).

    Raises:
        XRelayError: where it cannot be written.
        BrokenPipeError: where nobody reads it.

    """
    if cast("TextIO | None", sys.stdout) is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:  # a file of its own
            raise
        give_up_standard_output()
        raise XRelayError(f"cannot write to standard output: {error.strerror}") from error


def give_up_standard_output() -> None:
    """Let what is kept, and all that follows, go nowhere: the interpreter flushes once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
