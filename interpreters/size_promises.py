"""Checks of a function's size bounds for named dimensions (`relay.sizes`) on entry."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay.core.size_hints import size_hints
from xrelay.dialects.shared.locations import location_of
from xrelay.errors import InterpreterError


def check_promises(function: FuncOp, sizes: Mapping[str, int]) -> None:
    """Raises `InterpreterError` if a name has a size outside of the bounds of `function`."""
    for name, hint in size_hints(function).items():
        if name in sizes and not hint.least <= sizes[name] <= hint.greatest:
            promise = f"@{function.sym_name.data} promises that {name} is {hint.least} to {hint.greatest}"
            raise InterpreterError(
                f"{promise}, it is {sizes[name]}",
                location=location_of(function),
                help="give other inputs, or say other sizes",
            )
