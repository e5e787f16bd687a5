"""Coordinates of the indices of a resized axis in the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import f32, f64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.scalars import FAR, as_number, clamped
from xrelay.dialects.relay.core.resampling import Resampling
from xrelay.dialects.topi.build import Body
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.index_algebra.dims import Dim

F32_ERROR = 2.0**-24
"""The relative error of rounding to f32."""


@dataclass(frozen=True)
class AxisPlaces:
    """A resized axis: its extents in the data and the result, and functions that read its scale and region in f64."""

    extent: Dim
    size: Dim
    scale: Callable[[Body], SSAValue] | None
    """None, or a value of 0, means the quotient of the extents."""
    region: Callable[[Body], tuple[SSAValue, SSAValue]]

    def extents(self, b: Body) -> tuple[SSAValue, SSAValue]:
        """Returns extent and size as f64."""
        return b.size(self.extent, f64), b.size(self.size, f64)

    def by_scale(self, b: Body, by_extents: SSAValue, given: Callable[[SSAValue], SSAValue]) -> SSAValue:
        """Selects a value computed from the extents, or from the scale if one is given."""
        if self.scale is None:
            return by_extents
        scale = self.scale(b)
        is_none = b.add(arith.CmpfOp(scale, b.constant(0, f64), "oeq"))
        return b.select(is_none, by_extents, given(scale))

    def width(self, b: Body) -> SSAValue:
        """Returns the size before rounding to an integer."""
        extent, size = self.extents(b)
        return self.by_scale(b, size, lambda scale: _rounded(b, b.times(scale, extent)))

    def divided(self, b: Body, value: SSAValue) -> SSAValue:
        """Divides a number by the scale."""
        extent, size = self.extents(b)
        return self.by_scale(
            b, b.divide(b.times(value, extent), size), lambda scale: _rounded(b, b.divide(value, scale))
        )

    def shrinking(self, b: Body, rule: Resampling) -> SSAValue:
        """Returns the factor of distances: the scale of an axis that shrinks with `antialias`, else 1."""
        one = b.constant(1, f64)
        if not rule.antialias:
            return one
        extent, size = self.extents(b)
        scale = self.by_scale(b, b.divide(size, extent), lambda scale: scale)
        return b.select(b.add(arith.CmpfOp(scale, one, "olt")), scale, one)


def _rounded(b: Body, value: SSAValue) -> SSAValue:
    """Rounds an f64 number to f32."""
    return convert_scalar(b, convert_scalar(b, value, f32), f64)


def place_of(b: Body, at: AffineExpr, axis: AxisPlaces, rule: Resampling) -> SSAValue:
    """Returns the coordinate of the index `at` in f64, clamped to ±`FAR`; NaN becomes -`FAR`."""
    place = _place(b, as_number(b, at, f64), axis, rule.coordinates)
    return clamped(b, place, b.constant(-FAR, f64), b.constant(FAR, f64))


def _place(b: Body, index: SSAValue, axis: AxisPlaces, coordinates: str) -> SSAValue:
    half = b.constant(0.5, f64)
    extent, size = axis.extents(b)
    match coordinates:
        case "align_corners" | "tf_crop_and_resize":
            return _between_ends(b, index, axis, crops=coordinates != "align_corners")
        case "asymmetric":
            return axis.divided(b, index)
        case "tf_half_pixel_for_nn":
            scale = axis.by_scale(b, b.divide(size, extent), lambda given: given)
            return _unless_one(b, scale, axis.divided(b, b.plus(index, half)), index)
        case "half_pixel_symmetric":
            by_extents = b.minus(b.divide(b.times(b.plus(index, half), extent), size), half)
            return axis.by_scale(b, by_extents, lambda scale: _about_centre(b, index, axis, scale))
        case _:
            place = b.minus(axis.divided(b, b.plus(index, half)), half)
            if coordinates != "pytorch_half_pixel":
                return place
            return _unless_one(b, size, place, b.constant(0, f64))


def _about_centre(b: Body, index: SSAValue, axis: AxisPlaces, scale: SSAValue) -> SSAValue:
    """Returns the coordinate if the centres of data and result coincide; multiples of 0.5 are exact."""
    extent, size = axis.extents(b)
    one = b.constant(1, f64)
    from_centre = b.divide(b.minus(b.plus(b.plus(index, index), one), size), scale)
    doubled = b.plus(b.minus(extent, one), from_centre)
    whole = b.add(math.RoundEvenOp(doubled))
    error = b.times(b.absolute(from_centre), b.constant(F32_ERROR, f64))
    is_whole = b.add(arith.CmpfOp(b.absolute(b.minus(doubled, whole)), error, "ole"))
    return b.times(b.select(is_whole, whole, doubled), b.constant(0.5, f64))


def _between_ends(b: Body, index: SSAValue, axis: AxisPlaces, *, crops: bool) -> SSAValue:
    """Maps the first index to the start of the region, and the last one to its end."""
    one = b.constant(1, f64)
    last, width = b.size(axis.extent - 1, f64), axis.width(b)
    steps = _unless_one(b, width, b.minus(width, one), one)
    if not crops:
        return _unless_one(b, width, b.divide(b.times(index, last), steps), b.constant(0, f64))
    start, end = axis.region(b)
    way = b.divide(b.times(b.times(index, b.minus(end, start)), last), steps)
    middle = b.times(b.times(b.plus(start, end), b.constant(0.5, f64)), last)
    return _unless_one(b, width, b.plus(b.times(start, last), way), middle)


def _unless_one(b: Body, width: SSAValue, value: SSAValue, alone: SSAValue) -> SSAValue:
    """Selects `alone` if the width is 1, else `value`."""
    is_one = b.add(arith.CmpfOp(width, b.constant(1, f64), "oeq"))
    return b.select(is_one, alone, value)
