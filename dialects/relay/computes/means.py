"""Means of elements of any width."""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps
from typing import Final

from xdsl.dialects.builtin import AnyFloat, IntegerType, i64
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.computes.builder import Build, TopiBuilder, element_of
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.computes.widening import Widening
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.errors import LoweringError


def for_any_width(build: Build) -> Build:
    """Wraps `build`, which computes means of f32, f64 and i64, for elements of any width."""
    of_floats, of_integers = in_single(build), _LONG.around(build)

    @wraps(build)
    def mean(emitter: TopiBuilder) -> Sequence[SSAValue]:
        element = element_of(emitter.operand(0))
        if not isinstance(element, AnyFloat) and not _is_integer(element):
            raise LoweringError(f"{emitter.op.name} of {element}: only numbers have a mean", help="cast them before")
        return of_floats(emitter) if isinstance(element, AnyFloat) else of_integers(emitter)

    return mean


def _is_integer(element: Attribute) -> bool:
    """Returns whether an element type is an integer type other than boolean."""
    return isinstance(element, IntegerType) and element.width.data > 1


_LONG: Final = Widening(_is_integer, i64, convert_scalar, ("convert", "convert"))
"""Integers, whose sums may overflow their type: they are computed in 64 bits and converted once at the end."""
