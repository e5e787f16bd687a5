"""Counts the work of a call instead of timing it: the count is the same on every machine, however busy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any
from unittest.mock import patch

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue


def executed_lines(action: Callable[[], object], package: str = "xrelay") -> int:
    """The number of Python lines that `action` executes in modules of `package`."""
    count = 0

    def trace_lines(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace_lines

    def trace_calls(frame: FrameType, event: str, argument: Any) -> Any:
        return trace_lines if frame.f_globals.get("__name__", "").startswith(package) else None

    previous = sys.gettrace()
    sys.settrace(trace_calls)
    try:
        action()
    finally:
        sys.settrace(previous)
    return count


def growth(action: Callable[[int], Callable[[], object]], size: int, factor: int) -> float:
    """How many times more lines `action(size * factor)()` executes than `action(size)()`.

    The preparation in `action(n)` is not counted. Linear work yields about `factor`, quadratic about `factor` squared.
    """
    small, large = action(size), action(size * factor)
    return executed_lines(large) / executed_lines(small)


def copied_operands(action: Callable[[], object]) -> int:
    """Counts the operands copied while `action` replaces single operands: xDSL copies the list each time.

    Copying happens within one line, so `executed_lines` does not count it.
    """
    count = 0
    operands = type(ModuleOp([]).operands)
    original = operands.__setitem__

    def counted(self: Any, index: int, operand: SSAValue) -> None:
        nonlocal count
        count += len(self)
        original(self, index, operand)

    with patch.object(operands, "__setitem__", counted):
        action()
    return count
