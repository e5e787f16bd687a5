"""A limit on how deep Python functions call each other, for tests of recursion on small programs."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def frames_left(count: int) -> Generator[None]:
    """Allows `count` frames beyond those in use; more raise RecursionError."""
    used, frame = 0, inspect.currentframe()
    while frame is not None:
        used, frame = used + 1, frame.f_back
    previous = sys.getrecursionlimit()
    sys.setrecursionlimit(used + count)
    try:
        yield
    finally:
        sys.setrecursionlimit(previous)
