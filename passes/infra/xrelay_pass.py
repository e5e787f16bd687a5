"""`XRelayPass`, the base class of the project's passes, and the properties that a pass declares.

    class RelayFlattenAtrousConvPass(XRelayPass):
        name = "relay-flatten-atrous-conv"
        numerics = reassociates("sums over windows may be taken in another order")
        per_function = True

**Numerics** declare by how much a pass may change results. An exact pass preserves every bit of every result. A
re-associating pass adds, multiplies or sums in another order, so that results differ by rounding. A quantising pass
replaces floats with integers, so that results differ by steps of quantised numbers, whose size only the pass
determines. A changing pass computes another function, as intended. `NumericCheck` checks each pass by its declaration,
and `xrelay-opt --help-pass` prints it.

Passes of xDSL are in the tables of this module. Passes of other packages declare the same when they are registered, or
in a class derived from `XRelayPass`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from xdsl.passes import ModulePass

from xrelay.passes.catalogue.extensions import registered_passes

REASSOCIATING_RTOL: Final = 1e-5
"""The fraction of a value, and of the result's largest value, by which a re-associating pass may change a result."""

QUANTISING_RTOL: Final = 0.05
QUANTISING_STEPS: Final = 4
"""The fraction of a value by which a quantising pass may change floats, and the steps for integers.

The first also applies to the largest value of the result. No smaller bound holds for a network: each of its
quantisations may yield the neighbouring step, and later ones start from there.
"""

FROM_LEVEL: Final = "from_level"
"""The key in the metadata of an integer option that contexts set to their opt_level if it is negative."""


@dataclass(frozen=True)
class Numerics:
    """The permitted change of results."""

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


@dataclass(frozen=True)
class XRelayPass(ModulePass):
    """A pass that declares its effect on results, and whether it processes one function at a time."""

    numerics: ClassVar[Numerics] = UNKNOWN
    per_function: ClassVar[bool] = False
    """Whether the pass neither reads nor changes other functions, so that `func.func(…)` may contain it.

    On a module with a single function, such a pass has the same effect as on the original module. Passes of schedule
    primitives are not included: they select kernels by the names of loops, and a name without a match is an error.
    """


XDSL_EXACT: Final = frozenset({"canonicalize", "cse", "dce"})
"""Passes of xDSL that preserve every bit."""

XDSL_PER_FUNCTION: Final = frozenset(
    {
        "canonicalize",
        "control-flow-hoist",
        "cse",
        "dce",
        "licm",
        "lower-affine",
        "reconcile-unrealized-casts",
        "scf-for-loop-flatten",
        "scf-for-loop-range-folding",
        "scf-for-loop-unroll",
    }
)
"""Passes of xDSL that process one function at a time."""


def numerics_of(pass_type: type[ModulePass]) -> Numerics:
    """Returns the permitted change of results by a pass."""
    added = registered_passes().get(pass_type.name)
    if pass_type.name in XDSL_EXACT or (added is not None and added.exact):
        return EXACT
    return pass_type.numerics if issubclass(pass_type, XRelayPass) else UNKNOWN


def is_per_function(pass_type: type[ModulePass]) -> bool:
    """Whether the pass processes one function at a time."""
    added = registered_passes().get(pass_type.name)
    if pass_type.name in XDSL_PER_FUNCTION or (added is not None and added.per_function):
        return True
    return issubclass(pass_type, XRelayPass) and pass_type.per_function
