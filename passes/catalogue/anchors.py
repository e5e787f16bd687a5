"""Lists the passes that look at one function at a time, so that `func.func(…)` may hold them.

Every pass here is applied to a module. Those of this table ask nothing of other functions and change none of them:
applied to a module of a single function, they do to it what they do to it in its own module. The passes of schedule
primitives are not among them: they choose kernels by the loops they name, and one that names none is an error.
"""

from __future__ import annotations

from xrelay.passes.catalogue.extensions import registered_passes
from xrelay.passes.catalogue.relay_names import PassKind, relay_pass

FUNCTION_PASSES: frozenset[str] = frozenset(
    {
        "relay-narrow-products",
        "topi-expand-named",
        "topi-inline-injective",
        "loop-apply-schedules",
        "loop-lower-blocks",
        "loop-split-conditions",
        "loop-check-accesses",
        "scf-simplify",
        "memref-hoist-allocations",
        "vector-expand-dot-products",
        "math-expand",
        "convert-arith-to-llvm",
        "convert-math-to-llvm",
        "convert-vector-to-llvm",
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
"""Passes on functions beside those that `relay_names` calls function passes."""


def is_function_pass(name: str) -> bool:
    """Whether the pass of this name looks at one function at a time."""
    row = relay_pass(name)
    if row is not None:
        return row.kind is PassKind.FUNCTION
    added = registered_passes().get(name)
    return added.per_function if added is not None else name in FUNCTION_PASSES
