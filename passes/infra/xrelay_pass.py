"""`XRelayPass`, the base class of the project's passes, and the same properties of other passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from xdsl.passes import ModulePass

from xrelay.passes.catalogue.extensions import registered_passes
from xrelay.passes.infra.numerics import EXACT, UNKNOWN, Numerics

FROM_LEVEL: Final = "from_level"
"""The key in the metadata of an integer option that contexts set to their opt_level if it is negative."""


@dataclass(frozen=True)
class XRelayPass(ModulePass):
    """A pass that declares its effect on results, and the functions that it reads and changes."""

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
    """Returns the declaration of a pass: that of its registration or class, or of xDSL's pass."""
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
