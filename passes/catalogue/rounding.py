"""Classifies passes as exact, re-associating, quantising or changing, by how much results may differ.

An exact pass preserves every bit of every result. A re-associating pass adds, multiplies or sums in another order, so
that results differ by rounding. A quantising pass replaces floats with integers, so that results differ by steps of
quantised numbers, whose size only the pass determines. A changing pass computes another function, as intended.

`NumericCheck` checks each pass by its class; `xrelay-opt --help-pass` prints it.
"""

from __future__ import annotations

from xrelay.passes.catalogue.extensions import registered_passes
from xrelay.passes.catalogue.relay_names import relay_pass

REASSOCIATING_RTOL = 1e-5
"""The fraction of a value, and of the result's largest value, by which a re-associating pass may change a result."""

QUANTISING_RTOL, QUANTISING_STEPS = 0.05, 4
"""The fraction of a value by which a quantising pass may change floats, and the steps for integers.

The first also applies to the largest value of the result. No smaller bound holds for a network: each of its
quantisations may yield the neighbouring step, and later ones start from there.
"""

_SUMS = "sums marked fastmath<reassoc> may be taken in another order"

REASSOCIATING: dict[str, str] = {
    "relay-legalize": "the op that a hook substitutes may round differently",
    "relay-simplify-inference": "a batch norm becomes one multiplication and one addition",
    "relay-expand-composites": "each op of a composite rounds its result",
    "relay-fold-scale-axis": "factors move from activations into weights",
    **dict.fromkeys(
        ("relay-combine-parallel-conv2d", "relay-combine-parallel-dense", "relay-combine-parallel-batch-matmul"),
        "a larger product may be summed in another order",
    ),
    "relay-simplify-expr": "constants of sums and products are joined, and binomials become products of sums",
    "relay-simplify-expr-post-alter-op": "a negative zero to which 0 was added keeps its sign",
    "relay-lazy-gradient-init": "a negative zero plus 0 keeps its sign, and 0 times an infinity is 0",
    "relay-flatten-atrous-conv": "sums over windows may be taken in another order",
    **dict.fromkeys(
        ("relay-dense-to-sparse", "relay-conv2d-to-sparse", "relay-conv2d-to-sparse2"),
        "products with zeros are left out of sums, which are taken in another order",
    ),
    "relay-fast-math": "exp, erf, tanh and softmax become polynomials of few terms",
    "relay-div-to-mul": "the reciprocals of divisors are rounded",
    "relay-alter-op-layout": "sums over channels are taken block by block",
    "relay-convert-layout": "sums over channels are taken in the new layout's order",
    "convert-relay-to-topi": "each operator sums in an order of its own",
    **dict.fromkeys(
        (
            "topi-expand-named",
            "topi-inline-injective",
            "convert-topi-to-loop",
            "loop-apply-schedules",
            "loop-split",
            "loop-fuse",
            "loop-reorder",
            "loop-tile",
            "loop-unroll",
            "loop-vectorize",
            "loop-parallelize",
            "loop-cache-read",
            "loop-cache-write",
            "loop-compute-at",
            "loop-partial-sums",
            "loop-set-tail",
            "loop-lower-blocks",
            "convert-loop-to-scf",
            "convert-vector-to-llvm",
        ),
        _SUMS,
    ),
    "arith-expand-half": "reductions and fused sums of 16-bit numbers are rounded once, from f32",
    "math-expand": "exp, log, tanh and erf become polynomials, right within a few units of the last place",
}
"""Pass name → why it is not exact."""

QUANTISING: dict[str, str] = {
    "relay-fake-quantization-to-integer": "a quantised result may differ by one step from the rounded float",
    "relay-quantize-annotate": "the operands of products are rounded to 8-bit numbers",
    "relay-quantize-realize": "a quantised result may differ by one step from the rounded float",
    "relay-to-mixed-precision": "floats have fewer bits, and results may have another float type",
}
"""Pass name → how results differ: by more than `REASSOCIATING_RTOL`, unless the quantisation is fine."""

CHANGING: dict[str, str] = {
    "relay-first-order-gradient": "functions also return the gradients of their parameters",
}
"""Pass name → the other results that functions return after it."""

EXACT: frozenset[str] = frozenset(
    {
        "relay-canonicalize-cast",
        "relay-dynamic-to-static",
        "relay-name-extents",
        "relay-fold-constant",
        "relay-canonicalize-ops",
        "qnn-legalize",
        "qnn-canonicalize-ops",
        "relay-recursion-to-loop",
        "relay-inline",
        "relay-add-callers",
        "relay-lift-closures",
        "relay-select-entry",
        "relay-specialize-functions",
        "relay-to-basic-block-normal-form",
        "relay-eliminate-common-subexpr",
        "relay-dead-code-elimination",
        "relay-fold-explicit-padding",
        "relay-split-args",
        "relay-split-wide-ops",
        "relay-simplify-fc-transpose",
        "relay-merge-composite",
        "relay-fuse-ops",
        "relay-defuse-ops",
        "relay-outline-fused",
        "relay-annotate-target",
        "relay-merge-compiler-regions",
        "relay-partition-graph",
        "relay-outline-compiler-functions",
        "relay-mark-compiler-functions-as-extern",
        "relay-inline-compiler-functions-bound-to",
        "relay-dissolve-compiler-regions",
        "relay-to-a-normal-form",
        "relay-to-graph-normal-form",
        "relay-annotate-used-memory",
        "relay-annotate-spans",
        "relay-label-ops",
        "relay-check-basic-block-normal-form",
        "relay-partial-eval",
        "relay-narrow-products",
        "relay-to-cps",
        "relay-un-cps",
        "relay-remove-unused-functions",
        "relay-infer-type",
        "relay-check-types",
        "test-print-post-dominators",
        "loop-assign-schedules",
        "loop-split-conditions",
        "loop-check-accesses",
        "topi-add-versions",
        "scf-select-versions",
        "scf-simplify",
        "loop-contract",
        "loop-settle",
        "loop-disable-unroll",
        "loop-guard",
        "loop-merge-kernels",
        "loop-compute-in-place",
        "loop-place-parts",
        "loop-plan-memory",
        "convert-scf-parallel-to-calls",
        "memref-hoist-allocations",
        "convert-scf-to-branches",
        "convert-scf-to-llvm",
        "convert-memref-to-llvm",
        "arith-guard-division",
        "vector-expand-dot-products",
        "convert-arith-to-llvm",
        "convert-math-to-llvm",
        "convert-cf-to-llvm",
        "convert-func-to-llvm",
        "llvm-hoist-addresses",
        "llvm-recursion-to-frames",
        "canonicalize",
        "cse",
        "dce",
        "PrintIR",
    }
)
"""Passes that preserve every bit. Passes in none of the tables, such as a user's, may change results by rounding."""


def own_pass_name(name: str) -> str:
    """Returns the name of a pass in these tables; `name` may be Relay's."""
    row = relay_pass(name)
    return name if row is None else row.pass_name


def is_exact(name: str) -> bool:
    """Whether the pass of this name, of either kind, is known to be exact."""
    added = registered_passes().get(name)
    return added.exact if added is not None else own_pass_name(name) in EXACT


def changed_results(name: str) -> str | None:
    """Returns the intended change of results by the pass of this name, or None."""
    return CHANGING.get(own_pass_name(name))


def tolerance(name: str) -> tuple[float, int]:
    """Returns the fraction of the largest value by which a pass may change floats, and the steps for integers."""
    if own_pass_name(name) in QUANTISING:
        return QUANTISING_RTOL, QUANTISING_STEPS
    return (0.0, 0) if is_exact(name) else (REASSOCIATING_RTOL, 0)


def rounding_mark(name: str) -> str | None:
    """Returns a short description of the pass's class, or None."""
    changes = changed_results(name)
    if changes is not None:
        return f"changing: {changes}"
    reason = REASSOCIATING.get(own_pass_name(name))
    if reason is not None:
        return f"re-associating: {reason}; results within {REASSOCIATING_RTOL:g} of the largest value"
    steps = QUANTISING.get(own_pass_name(name))
    if steps is not None:
        return f"quantising: {steps}"
    return "exact: results keep every bit" if is_exact(name) else None
