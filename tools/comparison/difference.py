"""The difference between the outputs of two engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xrelay.tools.comparison.engines import Array

RTOL, ATOL = 1e-3, 1e-4
"""The tolerances: relative to each value, and to the largest value of its output."""


@dataclass(frozen=True)
class Difference:
    """The largest difference of an output as a fraction of its largest value, and whether all outputs agree."""

    share: float
    agrees: bool


def difference(found: Sequence[Array], wanted: Sequence[Array]) -> Difference:
    """Compares the outputs `found` with `wanted`; outputs of different number, shape or dtype never agree.

    They agree if |found - wanted| <= 1e-3 |wanted| + 1e-4 max|wanted| for each element; NaN equals NaN.
    """
    if [(each.shape, each.dtype) for each in found] != [(each.shape, each.dtype) for each in wanted]:
        return Difference(float("inf"), agrees=False)
    each = [_of_output(*pair) for pair in zip(found, wanted, strict=True)]
    return Difference(max((one.share for one in each), default=0.0), all(one.agrees for one in each))


def _of_output(found: Array, wanted: Array) -> Difference:
    with np.errstate(invalid="ignore", over="ignore"):
        a, b = found.astype(np.float64), wanted.astype(np.float64)
        distance = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
        largest = float(np.abs(b[np.isfinite(b)]).max(initial=0.0))
        share = float(distance.max(initial=0.0)) / largest if largest else float(distance.max(initial=0.0))
    bound = np.where(np.isfinite(b), RTOL * np.abs(b) + ATOL * largest, 0.0)
    return Difference(share, agrees=bool((distance <= bound).all()))
