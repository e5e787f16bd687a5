"""What is said of a recursion that is taken for endless, whoever runs it."""

from __future__ import annotations


def too_many_calls(called: str, limit: int) -> str:
    """The message where a call of `called`, such as `@f`, is one more than `limit` that are open."""
    return f"{called}: more than {limit} calls are open: endless recursion?"
