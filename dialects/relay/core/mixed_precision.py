"""Mixed precision: whether an operator is worth doing, and safe to do, in floats of fewer bits."""

from __future__ import annotations

from enum import IntEnum


class MixedPrecision(IntEnum):
    """What `relay-to-mixed-precision` makes of an operator.

    Source: the categories of TVM 0.16's `ToMixedPrecision`; the numbers are part of what users know.
    """

    ALWAYS = 0
    """Done in the mixed type, its operands cast where they are wider: convolutions and matrix products."""
    FOLLOW = 1
    """Done in the mixed type where that needs no cast of a value that was computed: additions, movements, pools."""
    NEVER = 2
    """Done in the program's own type: long sums, exponentials, coordinates, random numbers."""
