"""Mixed precision: whether an operator is profitable and safe in narrower floats, and how it computes in them."""

from __future__ import annotations

from enum import Enum, IntEnum


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


class HalfPrecision(Enum):
    """How the `compute` method of an operator treats elements of f16 and bf16.

    A sum of halves stops growing at a thousand times its terms, so sums are in f32 and rounded once, as in onnxruntime.
    """

    OWN = "computed as they are: movements, maxima, comparisons"
    SINGLE = "operands are widened to f32 and results rounded"
    SINGLE_RESULTS = "results of f32 are rounded; `compute` widens its factors"
