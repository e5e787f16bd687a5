"""A time limit for a part of a campaign."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def time_limit(seconds: int, error: Exception) -> Generator[None]:
    """Raises `error` in the main thread if the context runs for more than `seconds`."""

    def ring(_signal: int, _frame: object) -> None:
        raise error

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
