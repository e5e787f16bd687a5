"""Runs nested calls without Python's stack, so that the depth of recursion is not limited.

Work is a generator: it yields other work to wait for, receives its result, and returns its own result.

    def factorial(n: int) -> Work[int]:
        rest = (yield factorial(n - 1)) if n else 1
        return max(n, 1) * rest

    finish(factorial(100_000))
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

_T = TypeVar("_T")

Work: TypeAlias = Generator[Any, Any, _T]
"""A generator that yields other work and receives its result."""


def finish(work: Work[_T]) -> _T:
    """Runs work and returns its result; exceptions propagate."""
    stack: list[Work[Any]] = [work]
    result: Any = None
    while stack:
        try:
            following: Work[Any] = stack[-1].send(result)
        except StopIteration as end:
            stack.pop()
            result = end.value
        else:
            stack.append(following)
            result = None
    return result
