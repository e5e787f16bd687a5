"""A limit on the time that a piece of a campaign may take."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def time_limit(seconds: int, error: Exception) -> Generator[None]:
    """Raise `error` in what runs for more than `seconds`, in the main thread."""

    def ring(_signal: int, _frame: object) -> None:
        raise error

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
