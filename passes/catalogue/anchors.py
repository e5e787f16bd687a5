"""The passes that process one function at a time, so that they may be in `func.func(…)`.

Every pass is applied to a module. The passes in this table do not read or change other functions: on a module with a
single function, they have the same effect as on its original module. Passes of schedule primitives are not included:
they select kernels by the names of loops, and a name without a match is an error.
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
"""Function passes other than those that `relay_names` lists as such."""


def is_function_pass(name: str) -> bool:
    """Whether the pass with this name processes one function at a time."""
    row = relay_pass(name)
    if row is not None:
        return row.kind is PassKind.FUNCTION
    added = registered_passes().get(name)
    return added.per_function if added is not None else name in FUNCTION_PASSES
