"""The folder of each pass in `passes/` and `compat/relay/`; module and class follow from the name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

FOLDERS: dict[str, str] = {
    "relay-dynamic-to-static": "passes/extents",
    "relay-name-extents": "passes/extents",
    "relay-fake-quantization-to-integer": "passes/qnn",
    "relay-quantize-annotate": "passes/qnn",
    "relay-quantize-realize": "passes/qnn",
    "qnn-legalize": "passes/qnn",
    "qnn-multiply-integers": "passes/qnn",
    "qnn-canonicalize-ops": "passes/qnn",
    "relay-legalize": "passes/relay",
    "relay-simplify-inference": "passes/relay",
    "relay-fold-constant": "passes/relay",
    "relay-expand-composites": "passes/relay",
    "relay-canonicalize-ops": "passes/relay",
    "relay-fold-scale-axis": "passes/relay",
    "relay-alter-op-layout": "passes/layout",
    "relay-recursion-to-loop": "passes/functions",
    "relay-inline": "passes/functions",
    "relay-add-callers": "passes/functions",
    "relay-lift-closures": "passes/functions",
    "relay-select-entry": "passes/functions",
    "relay-to-basic-block-normal-form": "passes/relay",
    "relay-eliminate-common-subexpr": "passes/relay",
    "relay-dead-code-elimination": "passes/relay",
    "relay-simplify-expr": "passes/relay",
    "relay-fold-explicit-padding": "compat/relay/passes",
    "relay-flatten-atrous-conv": "compat/relay/passes",
    "relay-div-to-mul": "compat/relay/passes",
    "relay-fast-math": "passes/relay",
    "relay-split-args": "compat/relay/passes",
    "relay-split-wide-ops": "passes/relay",
    "relay-simplify-fc-transpose": "compat/relay/passes/sparse",
    "relay-dense-to-sparse": "compat/relay/passes/sparse",
    "relay-conv2d-to-sparse": "compat/relay/passes/sparse",
    "relay-conv2d-to-sparse2": "compat/relay/passes/sparse",
    "relay-simplify-expr-post-alter-op": "compat/relay/passes",
    "relay-to-mixed-precision": "compat/relay/passes",
    "relay-canonicalize-cast": "compat/relay/passes",
    "relay-combine-parallel-conv2d": "compat/relay/passes",
    "relay-combine-parallel-dense": "compat/relay/passes",
    "relay-combine-parallel-batch-matmul": "compat/relay/passes",
    "relay-merge-composite": "compat/relay/passes",
    "relay-fuse-ops": "passes/fusion",
    "relay-defuse-ops": "passes/fusion",
    "relay-outline-fused": "passes/fusion",
    "relay-convert-layout": "passes/layout",
    "relay-annotate-target": "compat/relay/byoc",
    "relay-merge-compiler-regions": "compat/relay/byoc",
    "relay-partition-graph": "compat/relay/byoc",
    "relay-outline-compiler-functions": "compat/relay/byoc",
    "relay-mark-compiler-functions-as-extern": "compat/relay/byoc",
    "relay-inline-compiler-functions-bound-to": "compat/relay/byoc",
    "relay-dissolve-compiler-regions": "passes/relay",
    "relay-first-order-gradient": "passes/gradient",
    "relay-lazy-gradient-init": "passes/gradient",
    "relay-to-a-normal-form": "passes/relay",
    "relay-to-graph-normal-form": "compat/relay/passes",
    "relay-annotate-used-memory": "compat/relay/passes",
    "relay-annotate-spans": "compat/relay/passes",
    "relay-label-ops": "compat/relay/passes",
    "relay-check-basic-block-normal-form": "compat/relay/passes",
    "relay-partial-eval": "compat/relay/passes",
    "relay-narrow-products": "passes/relay",
    "relay-split-conv-transpose": "passes/relay",
    "relay-widen-products": "passes/relay",
    "relay-to-cps": "compat/relay/passes",
    "relay-un-cps": "compat/relay/passes",
    "relay-remove-unused-functions": "passes/functions",
    "relay-infer-type": "passes/types",
    "relay-check-types": "passes/types",
    "test-print-post-dominators": "passes/fusion",
    "topi-expand-named": "passes/topi",
    "topi-inline-injective": "passes/topi",
    "topi-add-versions": "passes/topi",
    "loop-apply-schedules": "passes/loop",
    "loop-split": "passes/loop/primitives",
    "loop-cut": "passes/loop/primitives",
    "loop-guard": "passes/loop/primitives",
    "loop-fuse": "passes/loop/primitives",
    "loop-reorder": "passes/loop/primitives",
    "loop-tile": "passes/loop/primitives",
    "loop-unroll": "passes/loop/primitives",
    "loop-disable-unroll": "passes/loop/primitives",
    "loop-vectorize": "passes/loop/primitives",
    "loop-contract": "passes/loop/primitives",
    "loop-settle": "passes/loop/primitives",
    "loop-parallelize": "passes/loop/primitives",
    "loop-cache-read": "passes/loop/primitives",
    "loop-cache-write": "passes/loop/primitives",
    "loop-compute-at": "passes/loop/primitives",
    "loop-partial-sums": "passes/loop/primitives",
    "loop-cache-inplace": "passes/loop/primitives",
    "loop-rfactor": "passes/loop/primitives",
    "loop-set-tail": "passes/loop/primitives",
    "loop-lower-blocks": "passes/loop",
    "loop-split-conditions": "passes/loop",
    "loop-check-accesses": "passes/loop",
    "loop-plan-memory": "passes/loop/memory",
    "loop-merge-kernels": "passes/loop",
    "loop-compute-in-place": "passes/loop/memory",
    "loop-elide-copies": "passes/loop/memory",
}
"""Pass name → folder. Passes in `compat/relay/` are only for programs for Relay's API."""


def target_of(name: str) -> str:
    """Returns module and class of a pass: "xrelay.passes.fusion.fuse_ops:RelayFuseOpsPass" for `relay-fuse-ops`."""
    dialect, _, rest = name.partition("-")
    stem = (name if dialect == "test" else rest).replace("-", "_")
    package = FOLDERS[name].removeprefix("compat/").replace("/", ".")
    return f"xrelay.{package}.{stem}:{''.join(part.capitalize() for part in name.split('-'))}Pass"


def member_of(target: str) -> Any:
    """Imports the class or function at "module:name"."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)
