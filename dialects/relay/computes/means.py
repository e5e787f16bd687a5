"""Means of elements of any width."""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import Build, TopiBuilder, element_of
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.computes.wide_integers import in_long, is_whole
from xrelay.errors import LoweringError


def of_any_number(build: Build) -> Build:
    """Wraps `build`, which computes means of f32, f64 and i64, for elements of any width."""
    of_floats, of_integers = in_single(build), in_long(build)

    @wraps(build)
    def mean(emitter: TopiBuilder) -> Sequence[SSAValue]:
        element = element_of(emitter.operand(0))
        if not isinstance(element, AnyFloat) and not is_whole(element):
            raise LoweringError(f"{emitter.op.name} of {element}: only numbers have a mean", help="cast them before")
        return of_floats(emitter) if isinstance(element, AnyFloat) else of_integers(emitter)

    return mean
