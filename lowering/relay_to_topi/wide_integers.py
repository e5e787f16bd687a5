"""Sums of integers that their own type may not hold: taken in 64 bits, and converted once at the end."""

from __future__ import annotations

from typing import Final

from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import Attribute

from xrelay.dialects.relay.computes.builder import Build
from xrelay.dialects.relay.computes.widening import Widening
from xrelay.dialects.topi.scalars import convert_scalar


def in_long(build: Build) -> Build:
    """`build`, with integer operands widened to i64 before, and its results converted back; others as they are."""
    return _LONG.around(build)


def is_whole(element: Attribute) -> bool:
    """Whether an element type is one of integers; booleans are none."""
    return isinstance(element, IntegerType) and element.width.data > 1


_LONG: Final = Widening(is_whole, i64, convert_scalar, ("convert", "convert"))
