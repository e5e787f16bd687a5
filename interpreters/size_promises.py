"""What a function promises of the sizes of its names (`relay.sizes`), checked where it is entered."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay.core.size_hints import size_hints
from xrelay.dialects.shared.locations import location_of
from xrelay.errors import InterpreterError


def check_promises(function: FuncOp, sizes: Mapping[str, int]) -> None:
    """Raises `InterpreterError` where a name has a size that `function` rules out."""
    for name, hint in size_hints(function).items():
        if name in sizes and not hint.least <= sizes[name] <= hint.greatest:
            promise = f"@{function.sym_name.data} promises that {name} is {hint.least} to {hint.greatest}"
            raise InterpreterError(
                f"{promise}, it is {sizes[name]}",
                location=location_of(function),
                help="give other inputs, or say other sizes",
            )
