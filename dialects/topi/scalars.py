"""The range of an element type."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xrelay.dialects.topi.build import Number
from xrelay.dialects.topi.named.pool import lowest


def value_range(type: Attribute) -> tuple[Number, Number]:
    """Returns the least and the greatest value of an element type."""
    if not isa(type, IntegerType):
        return float("-inf"), float("inf")
    least = lowest(type)
    return least, least + (1 << type.width.data) - 1
