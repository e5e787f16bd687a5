"""Mixed precision: whether an operator is profitable and safe in narrower floats."""

from __future__ import annotations

from enum import IntEnum


class MixedPrecision(IntEnum):
    """How `relay-to-mixed-precision` treats an operator.

    Source: the categories of TVM 0.16's `ToMixedPrecision`; the numbers are part of the user interface.
    """

    ALWAYS = 0
    """Computed in the mixed type, with wider operands cast: convolutions and matrix products."""
    FOLLOW = 1
    """Computed in the mixed type if that needs no cast of a computed value: additions, movements, pools."""
    NEVER = 2
    """Computed in the program's own type: long sums, exponentials, coordinates, random numbers."""
