"""Declares by how much a pass may change results: it is exact, re-associating, quantising or changing.

An exact pass preserves every bit of every result. A re-associating pass adds, multiplies or sums in another order, so
that results differ by rounding. A quantising pass replaces floats with integers, so that results differ by steps of
quantised numbers, whose size only the pass determines. A changing pass computes another function, as intended.

    class RelayFlattenAtrousConvPass(XRelayPass):
        numerics = reassociates("sums over windows may be taken in another order")

`NumericCheck` checks each pass by its declaration; `xrelay-opt --help-pass` prints it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

REASSOCIATING_RTOL: Final = 1e-5
"""The fraction of a value, and of the result's largest value, by which a re-associating pass may change a result."""

QUANTISING_RTOL: Final = 0.05
QUANTISING_STEPS: Final = 4
"""The fraction of a value by which a quantising pass may change floats, and the steps for integers.

The first also applies to the largest value of the result. No smaller bound holds for a network: each of its
quantisations may yield the neighbouring step, and later ones start from there.
"""


@dataclass(frozen=True)
class Numerics:
    """The tolerance of the results of a pass."""

    description: str
    """The text in `--help-pass`."""
    rtol: float = REASSOCIATING_RTOL
    """The fraction of the largest value by which floats may change."""
    steps: int = 0
    """The number by which integers may change."""
    changes: str | None = None
    """The intended change of results."""


EXACT: Final = Numerics("exact: results keep every bit", rtol=0.0)
UNKNOWN: Final = Numerics("")
"""For passes without a declaration: results may differ by rounding."""


def reassociates(reason: str) -> Numerics:
    """Returns the declaration of a re-associating pass."""
    return Numerics(f"re-associating: {reason}; results within {REASSOCIATING_RTOL:g} of the largest value")


def quantises(reason: str) -> Numerics:
    """Returns the declaration of a quantising pass."""
    return Numerics(f"quantising: {reason}", QUANTISING_RTOL, QUANTISING_STEPS)


def changes(results: str) -> Numerics:
    """Returns the declaration of a changing pass; `results` describes the new results."""
    return Numerics(f"changing: {results}", changes=results)


REORDERS_SUMS: Final = reassociates("sums marked fastmath<reassoc> may be taken in another order")
