"""Comparison of two sets of outputs within a tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import InputError

Array = NDArray[Any]

DEFAULT_RTOL = 1e-3
DEFAULT_ATOL = 1e-4
"""The default absolute tolerance, as a fraction of the largest absolute value of the output."""


@dataclass(frozen=True)
class Comparison:
    """The result of `same`; true if every element of every output is within tolerance.

    `max_abs` and `max_rel` are the largest absolute difference and the largest difference relative to `b`. `output` and
    `index` locate the element with the largest difference relative to its tolerance; `values` are the values of `a` and
    `b` there, and `atol` is the absolute tolerance of that output. `output` is empty if there are no elements.
    """

    equal: bool
    levels: tuple[str, str]
    max_abs: float
    max_rel: float
    output: str
    index: tuple[int, ...]
    values: tuple[float, float]
    rtol: float
    atol: float

    def __bool__(self) -> bool:
        return self.equal

    def __str__(self) -> str:
        verdict = "same" if self.equal else "different"
        index_text = f"{self.output}[{', '.join(map(str, self.index))}]"
        return (
            f"{verdict}: {self.levels[0]} against {self.levels[1]}, furthest apart at {index_text}: "
            f"{self.values[0]:.9g} and {self.values[1]:.9g} "
            f"(max abs {self.max_abs:.3g}, max rel {self.max_rel:.3g}; rtol {self.rtol:g}, atol {self.atol:.3g})"
        )


@dataclass(frozen=True)
class _Difference:
    """The comparison of a pair of outputs: the largest differences, and the element with the largest `share`."""

    max_abs: float
    max_rel: float
    share: float
    """The difference at `index` as a fraction of its tolerance; above 1 it is out of tolerance."""
    index: tuple[int, ...]
    atol: float


def compare_outputs(
    names: Sequence[str],
    first: Sequence[Array],
    second: Sequence[Array],
    *,
    levels: tuple[str, str],
    rtol: float = DEFAULT_RTOL,
    atol: float | None = None,
) -> Comparison:
    """Compares outputs pairwise: `|a - b| <= atol + rtol * |b|` for floats, equality for other dtypes.

    `atol` defaults to 1e-4 of the largest finite absolute value of each output of `second`. NaN equals NaN, and
    infinity equals infinity of the same sign. Raises `InputError` if shapes or dtypes differ.
    """
    max_abs = max_rel = 0.0
    worst, index_text = None, ("", (0.0, 0.0))
    for name, a, b in zip(names, first, second, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            raise InputError(f"output {name!r} is {a.dtype}{list(a.shape)} and {b.dtype}{list(b.shape)}")
        if a.size == 0:
            continue
        found = _difference(a, b, rtol, atol)
        max_abs, max_rel = max(max_abs, found.max_abs), max(max_rel, found.max_rel)
        if worst is None or found.share > worst.share:
            worst, index_text = found, (name, (float(a[found.index]), float(b[found.index])))
    if worst is None:
        return Comparison(True, levels, 0.0, 0.0, "", (), (0.0, 0.0), rtol, 0.0)
    return Comparison(
        worst.share <= 1, levels, max_abs, max_rel, index_text[0], worst.index, index_text[1], rtol, worst.atol
    )


def _difference(a: Array, b: Array, rtol: float, atol: float | None) -> _Difference:
    equal = (a == b) | ((a != a) & (b != b))
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    scale = np.where(np.isfinite(wide_b), np.abs(wide_b), 0.0)
    absolute = DEFAULT_ATOL * largest_finite(b) if atol is None else atol
    with np.errstate(all="ignore"):
        distance = np.where(equal, 0.0, np.abs(wide_a - wide_b))
        # Large neighbouring integers may round to one float64. NaN and infinity are never within tolerance of another
        # value.
        distance = np.where(~equal & ((distance == 0) | ~np.isfinite(distance)), np.inf, distance)
        relative = np.where(equal, 0.0, distance / np.abs(wide_b))
        allowed = 0.0 if a.dtype.kind in "biu" else absolute + rtol * scale
        share = np.where(equal, 0.0, distance / allowed)
    flat = int(np.argmax(share))
    index = tuple(int(i) for i in np.unravel_index(flat, a.shape))
    return _Difference(float(distance.max()), float(relative.max()), float(share.flat[flat]), index, absolute)


def largest_finite(array: Array) -> float:
    """Returns the largest finite absolute value of an array; 0 if there is none."""
    values = array.astype(np.float64)
    return float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))
