"""Winograd's algorithm F(m × m, 3 × 3): the numbers that its transforms consist of.

A tile of m × m results is a polynomial product, computed by its values at m + 2 points of a line: 0, pairs ±a, and ∞.
The points of F(4 × 4) are not the usual ±1 and ±2: ±5/8 and ±3/2 have half of the rounding error, and the squares and
products of them are exact in f32.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PAIRS: Final[Mapping[int, tuple[float, ...]]] = {2: (1.0,), 4: (5 / 8, 3 / 2)}
"""Maps the size m of a tile to the positive points a of the pairs ±a."""

TAPS: Final = 3
"""The height and the width of a filter."""

GROUP: Final = 12
"""The number of tiles in a group, if the height or the width of an image is dynamic: those of a register tile."""


def points(tile: int) -> list[float]:
    """Returns the finite points of tiles of a size in order: 0, a, -a, …; ∞ follows them."""
    return [0.0, *(sign * point for point in PAIRS[tile] for sign in (1, -1))]
