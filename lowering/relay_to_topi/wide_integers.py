"""Sums of integers that their own type may not hold: taken in 64 bits, and converted once at the end."""

from __future__ import annotations

from typing import Final

from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import Attribute

from xrelay.lowering.relay_to_topi.elementwise import convert_scalar
from xrelay.lowering.relay_to_topi.strategies import Build
from xrelay.lowering.relay_to_topi.widening import Widening


def in_long(build: Build) -> Build:
    """`build`, with integer operands widened to i64 before, and its results converted back; others as they are."""
    return _LONG.around(build)


def is_whole(element: Attribute) -> bool:
    """Whether an element type is one of integers; booleans are none."""
    return isinstance(element, IntegerType) and element.width.data > 1


_LONG: Final = Widening(is_whole, i64, convert_scalar, ("convert", "convert"))
