"""Comparison of two sets of outputs within a tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    found: list[tuple[float, Comparison]] = []
    for name, a, b in zip(names, first, second, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            raise InputError(f"output {name!r} is {a.dtype}{list(a.shape)} and {b.dtype}{list(b.shape)}")
        if a.size:
            found.append(_compare_output(name, a, b, levels, rtol, atol))
    if not found:
        return Comparison(True, levels, 0.0, 0.0, "", (), (0.0, 0.0), rtol, 0.0)
    _, worst = max(found, key=lambda pair: pair[0])
    max_abs, max_rel = (max(column) for column in zip(*((c.max_abs, c.max_rel) for _, c in found), strict=True))
    return replace(worst, max_abs=max_abs, max_rel=max_rel)


def _compare_output(
    name: str, a: Array, b: Array, levels: tuple[str, str], rtol: float, atol: float | None
) -> tuple[float, Comparison]:
    """Compares an output; also returns the largest difference as a fraction of its tolerance."""
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
        shares = np.where(equal, 0.0, distance / allowed)
    flat = int(np.argmax(shares))
    index, share = tuple(int(i) for i in np.unravel_index(flat, a.shape)), float(shares.flat[flat])
    values = float(a[index]), float(b[index])
    found = (float(distance.max()), float(relative.max()))
    return share, Comparison(share <= 1, levels, *found, name, index, values, rtol, absolute)


def largest_finite(array: Array) -> float:
    """Returns the largest finite absolute value of an array, or 0."""
    values = array.astype(np.float64)
    return float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))
