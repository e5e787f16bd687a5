"""Floats as sums of two bf16 numbers, and the products of these that a product of two floats consists of.

The high part of x is x rounded to bf16, the low part is the rest rounded to bf16: 16 significant bits of 24. A product
of floats has the products high × high, high × low and low × high; low × low is less than the rounding error of a part.
The high part of an infinity is the greatest number of bf16 and its low part the infinity, so that high × low is finite.
"""

from __future__ import annotations

from typing import Final

PARTS: Final = 2
"""The number of parts of a float, the high part first."""

LARGEST: Final = (2 - 2**-7) * 2.0**127
"""The greatest number of bf16, and the greatest high part."""

PAIRS: Final = ((0, 1), (0, 0), (1, 0))
"""The parts of the left and of the right factor of each product: pair p has parts `p // 2` and `(2 - p) // 2`.

Neighbours share a factor, which stays in registers.
"""

CHANNELS: Final = 32
"""The number of channels that an instruction on tiles of bf16 sums up, and of a block of split channels."""

COLUMNS: Final = 16
"""The number of columns of an image in a tile."""
