"""Resizing of images. Coordinates are exact integer fractions until elements are weighted.

The input coordinate of output index `i` is `numerator / denominator`. For `half_pixel` it is
`(i + 0.5) * in / out - 0.5`, for `align_corners` it is `i * (in - 1) / (out - 1)`, and for `asymmetric` it is
`i * in / out`. Coordinates outside of the image are clamped to the border.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numpy.typing import DTypeLike

from xrelay import te
from xrelay.errors import InputError, did_you_mean
from xrelay.te.expr import PrimExpr
from xrelay.te.tensor import Tensor
from xrelay.topi import tag

MODES = ("half_pixel", "align_corners", "asymmetric")
METHODS = ("nearest_neighbor", "bilinear", "bicubic")
ROUNDINGS = ("", "round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


@dataclass(frozen=True)
class _Coordinate:
    """The coordinate `(factor * i + offset) / denominator` of output index `i` in an input axis of `extent`."""

    extent: int
    factor: int
    offset: int
    denominator: int
    size: int

    def numerator(self, i: PrimExpr) -> PrimExpr:
        return i * self.factor + self.offset

    def nearest(self, i: PrimExpr, rounding: str) -> PrimExpr:
        """Returns the index nearest to the coordinate."""
        scale, offset = 1, 0
        if rounding == "ceil":
            offset = self.denominator - 1
        elif rounding in ("round", "round_prefer_ceil", "round_prefer_floor"):
            scale, offset = 2, self.denominator - (rounding == "round_prefer_floor")
        last = ((self.size - 1) * self.factor + self.offset) * scale + offset
        index = (self.numerator(i) * scale + offset) // (self.denominator * scale)
        inside = self.offset * scale + offset >= 0 and last // (self.denominator * scale) < self.extent
        return index if inside else self.clipped(index)

    def clipped(self, index: PrimExpr) -> PrimExpr:
        return te.max(te.min(index, self.extent - 1), 0)

    def below(self, i: PrimExpr) -> PrimExpr:
        """Returns the greatest index not above the coordinate."""
        return self.numerator(i) // self.denominator

    def fraction(self, i: PrimExpr, dtype: str) -> PrimExpr:
        """Returns the distance of the coordinate from that index."""
        return (self.numerator(i) % self.denominator).astype(dtype) / float(self.denominator)


def resize(
    data: Tensor,
    size: Sequence[int],
    layout: str = "NCHW",
    method: str = "bilinear",
    coordinate_transformation_mode: str = "half_pixel",
    rounding_method: str = "",
    bicubic_alpha: float = -0.5,
    bicubic_exclude: int = 0,
    out_dtype: DTypeLike | None = None,
) -> Tensor:
    """Resizes images to another height and width.

    `rounding_method` applies to `nearest_neighbor`. By default coordinates of `align_corners` are rounded, halves up,
    and others are rounded down, as in TVM. `bicubic_exclude` ignores elements outside of the image and normalises the
    other weights to a sum of 1. Raises `InputError` for an unknown method, mode, rounding or layout.
    """
    _check("method", method, METHODS)
    _check("coordinate_transformation_mode", coordinate_transformation_mode, MODES)
    _check("rounding_method", rounding_method, ROUNDINGS)
    rows, columns = _image_axes(layout, data.ndim)
    new_rows, new_columns = size
    mode = coordinate_transformation_mode
    y, x = (_coordinate(data.shape[at], new, mode) for at, new in ((rows, new_rows), (columns, new_columns)))
    shape = [new_rows if at == rows else new_columns if at == columns else e for at, e in enumerate(data.shape)]
    dtype = data.dtype if out_dtype is None else str(te.tensor.dtype_name(out_dtype))
    real = data.dtype if data.dtype.startswith("float") else "float32"

    def compute_func(*indices: te.IterVar) -> PrimExpr:
        def pixel(row: PrimExpr, column: PrimExpr) -> PrimExpr:
            at: list[PrimExpr] = list(indices)
            at[rows], at[columns] = row, column
            return data(*at)

        i, j = indices[rows], indices[columns]
        if method == "nearest_neighbor":
            rounding = rounding_method if rounding_method else "round" if mode == "align_corners" else "floor"
            value = pixel(y.nearest(i, rounding), x.nearest(j, rounding))
        else:
            weights = _linear if method == "bilinear" else _cubic(bicubic_alpha, bicubic_exclude)
            value = _weighted(pixel, weights(y, i, real), weights(x, j, real), real)
        return value if value.dtype == dtype else value.astype(dtype)

    return te.compute(shape, compute_func, name="resize", tag=tag.INJECTIVE)


def _image_axes(layout: str, rank: int) -> tuple[int, int]:
    """Returns the axes of height and width."""
    letters = [letter for letter in layout if not letter.isdigit()]
    if "H" not in letters or "W" not in letters or len(letters) != rank:
        raise InputError(f"resize: layout {layout!r} of {rank} axes", help="write e.g. NCHW, NHWC or NCHW16c")
    return letters.index("H"), letters.index("W")


Taps = list[tuple[PrimExpr, PrimExpr]]
"""Indices of an axis with their weights."""


def _linear(coordinate: _Coordinate, i: PrimExpr, dtype: str) -> Taps:
    below, fraction = coordinate.below(i), coordinate.fraction(i, dtype)
    return [(coordinate.clipped(below), 1 - fraction), (coordinate.clipped(below + 1), fraction)]


def _cubic(alpha: float, exclude: int) -> Callable[[_Coordinate, PrimExpr, str], Taps]:
    def taps(coordinate: _Coordinate, i: PrimExpr, dtype: str) -> Taps:
        below, t = coordinate.below(i), coordinate.fraction(i, dtype)
        # Keys' cubic at distances t + 1, t, 1 - t and 2 - t.
        weights = [_outer(t + 1, alpha), _inner(t, alpha), _inner(1 - t, alpha), _outer(2 - t, alpha)]
        indices = [below + step for step in (-1, 0, 1, 2)]
        if exclude:
            inside = [te.all(index >= 0, index < coordinate.extent) for index in indices]
            weights = [te.if_then_else(inside[n], weight, 0.0) for n, weight in enumerate(weights)]
            total = weights[0] + weights[1] + weights[2] + weights[3]
            weights = [weight / total for weight in weights]
        return [(coordinate.clipped(index), weight) for index, weight in zip(indices, weights, strict=True)]

    return taps


def _inner(d: PrimExpr, alpha: float) -> PrimExpr:
    return ((alpha + 2) * d - (alpha + 3)) * d * d + 1


def _outer(d: PrimExpr, alpha: float) -> PrimExpr:
    return ((alpha * d - 5 * alpha) * d + 8 * alpha) * d - 4 * alpha


def _weighted(pixel: Callable[[PrimExpr, PrimExpr], PrimExpr], rows: Taps, columns: Taps, dtype: str) -> PrimExpr:
    def element(row: PrimExpr, column: PrimExpr) -> PrimExpr:
        value = pixel(row, column)
        return value if value.dtype == dtype else value.astype(dtype)

    sums = [_sum([weight * element(row, column) for column, weight in columns]) for row, _ in rows]
    return _sum([weight * line for (_, weight), line in zip(rows, sums, strict=True)])


def _sum(terms: Sequence[PrimExpr]) -> PrimExpr:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _coordinate(extent: int, size: int, mode: str) -> _Coordinate:
    if mode == "asymmetric":
        return _Coordinate(extent, extent, 0, size, size)
    if mode == "half_pixel":
        return _Coordinate(extent, 2 * extent, extent - size, 2 * size, size)
    return _Coordinate(extent, extent - 1, 0, size - 1, size) if size > 1 else _Coordinate(extent, 0, 0, 1, size)


def _check(what: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        names = ", ".join(repr(name) for name in known)
        raise InputError(
            f"resize: {what} {value!r} is not supported", help=did_you_mean(value, known, f"write {names}")
        )
