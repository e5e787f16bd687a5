"""The error message for recursion without end, shared by all runtimes."""

from __future__ import annotations


def too_many_calls(called: str, limit: int) -> str:
    """Returns the message for a call of `called`, such as `@f`, when `limit` calls are active."""
    return f"{called}: more than {limit} nested calls: infinite recursion?"
