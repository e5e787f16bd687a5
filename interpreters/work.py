"""Runs calls that wait for calls without Python's stack, so that a recursion may be as deep as it is.

What has to be done is a generator: it yields what it waits for, which is work too, gets what that returns, and returns
its own result.

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
"""Yields other work, and gets what that returns."""


def finish(work: Work[_T]) -> _T:
    """The result of some work; what any of it raises passes through."""
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
