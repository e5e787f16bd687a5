"""Sums of integers that may overflow their type: computed in 64 bits and converted once at the end."""

from __future__ import annotations

from typing import Final

from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import Attribute

from xrelay.dialects.relay.computes.builder import Build
from xrelay.dialects.relay.computes.widening import Widening
from xrelay.dialects.topi.scalars import convert_scalar


def in_long(build: Build) -> Build:
    """Wraps `build` to widen integer operands to i64 and convert the results back."""
    return _LONG.around(build)


def is_whole(element: Attribute) -> bool:
    """Returns whether an element type is an integer type other than boolean."""
    return isinstance(element, IntegerType) and element.width.data > 1


_LONG: Final = Widening(is_whole, i64, convert_scalar, ("convert", "convert"))
