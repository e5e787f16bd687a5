"""The folder of each pass of `passes/`; module and class follow from the name."""

from __future__ import annotations

from importlib import import_module

from xdsl.passes import ModulePass

FOLDERS: dict[str, str] = {
    "relay-dynamic-to-static": "relay",
    "relay-name-extents": "relay",
    "relay-fake-quantization-to-integer": "qnn",
    "relay-quantize-annotate": "qnn",
    "relay-quantize-realize": "qnn",
    "qnn-legalize": "qnn",
    "qnn-canonicalize-ops": "qnn",
    "relay-legalize": "relay",
    "relay-simplify-inference": "relay",
    "relay-fold-constant": "relay",
    "relay-expand-composites": "relay",
    "relay-canonicalize-ops": "relay",
    "relay-fold-scale-axis": "relay",
    "relay-alter-op-layout": "layout",
    "relay-recursion-to-loop": "relay",
    "relay-inline": "relay",
    "relay-lift-closures": "relay",
    "relay-specialize-functions": "relay",
    "relay-to-basic-block-normal-form": "relay",
    "relay-eliminate-common-subexpr": "relay",
    "relay-dead-code-elimination": "relay",
    "relay-simplify-expr": "relay",
    "relay-fold-explicit-padding": "relay",
    "relay-flatten-atrous-conv": "relay",
    "relay-div-to-mul": "relay",
    "relay-fast-math": "relay",
    "relay-split-args": "relay",
    "relay-split-wide-ops": "relay",
    "relay-simplify-fc-transpose": "relay",
    "relay-dense-to-sparse": "relay",
    "relay-conv2d-to-sparse": "relay",
    "relay-conv2d-to-sparse2": "relay",
    "relay-simplify-expr-post-alter-op": "relay",
    "relay-to-mixed-precision": "relay",
    "relay-canonicalize-cast": "relay",
    "relay-combine-parallel-conv2d": "relay",
    "relay-combine-parallel-dense": "relay",
    "relay-combine-parallel-batch-matmul": "relay",
    "relay-merge-composite": "relay",
    "relay-fuse-ops": "fusion",
    "relay-defuse-ops": "fusion",
    "relay-outline-fused": "fusion",
    "relay-convert-layout": "layout",
    "relay-annotate-target": "byoc",
    "relay-merge-compiler-regions": "byoc",
    "relay-partition-graph": "byoc",
    "relay-outline-compiler-functions": "byoc",
    "relay-mark-compiler-functions-as-extern": "byoc",
    "relay-inline-compiler-functions-bound-to": "byoc",
    "relay-dissolve-compiler-regions": "byoc",
    "relay-first-order-gradient": "gradient",
    "relay-lazy-gradient-init": "gradient",
    "relay-to-a-normal-form": "relay",
    "relay-to-graph-normal-form": "relay",
    "relay-annotate-used-memory": "relay",
    "relay-annotate-spans": "relay",
    "relay-label-ops": "relay",
    "relay-check-basic-block-normal-form": "relay",
    "relay-partial-eval": "relay",
    "relay-narrow-products": "relay",
    "relay-to-cps": "relay",
    "relay-un-cps": "relay",
    "relay-remove-unused-functions": "relay",
    "relay-infer-type": "types",
    "relay-check-types": "types",
    "test-print-post-dominators": "fusion",
    "topi-expand-named": "topi",
    "topi-inline-injective": "topi",
    "topi-add-versions": "topi",
    "loop-apply-schedules": "loop",
    "loop-split": "loop",
    "loop-guard": "loop",
    "loop-fuse": "loop",
    "loop-reorder": "loop",
    "loop-tile": "loop",
    "loop-unroll": "loop",
    "loop-disable-unroll": "loop",
    "loop-vectorize": "loop",
    "loop-contract": "loop",
    "loop-settle": "loop",
    "loop-parallelize": "loop",
    "loop-cache-read": "loop",
    "loop-cache-write": "loop",
    "loop-compute-at": "loop",
    "loop-partial-sums": "loop",
    "loop-set-tail": "loop",
    "loop-lower-blocks": "loop",
    "loop-split-conditions": "loop",
    "loop-check-accesses": "loop",
    "loop-plan-memory": "loop",
    "loop-merge-kernels": "loop",
    "loop-compute-in-place": "loop",
    "loop-place-parts": "loop",
}
"""Pass name → folder of `passes/`."""


def target_of(name: str) -> str:
    """Returns module and class of a pass: "xrelay.passes.fusion.fuse_ops:RelayFuseOpsPass" for `relay-fuse-ops`."""
    dialect, _, rest = name.partition("-")
    stem = (name if dialect == "test" else rest).replace("-", "_")
    return f"xrelay.passes.{FOLDERS[name]}.{stem}:{''.join(part.capitalize() for part in name.split('-'))}Pass"


def class_of(target: str) -> type[ModulePass]:
    """Imports the class at "module:Class"."""
    module, _, class_name = target.partition(":")
    return getattr(import_module(module), class_name)
