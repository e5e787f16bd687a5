"""The pipelines that run on random programs: every pass alone, with its options, and the compiler's own."""

from __future__ import annotations

from support.pass_checks import declared, relay_passes
from xrelay.passes.catalogue.default_pipeline import DEFAULT_PIPELINE, chosen_passes

NEEDS: dict[str, str] = {
    "relay-check-basic-block-normal-form": "relay-to-basic-block-normal-form,",
    "relay-defuse-ops": "relay-fuse-ops,",
    "relay-recompute-groups": "relay-fuse-ops,",
    "relay-fold-scale-axis": "relay-simplify-inference,relay-fold-constant,",
    "relay-narrow-products": "qnn-canonicalize-ops,",
}
"""Passes that run first, so that a pass finds something to change."""
OPTIONS: dict[str, str] = {
    "relay-to-mixed-precision": "{mixed-precision-type=float64 keep-orig-output-dtype=true}",
}
"""Options for passes that round: in a wider type, results stay comparable."""
OUTLINED = "relay-inline,relay-fuse-ops,relay-outline-fused"
"""For programs without branches and closures, which outlining rejects."""

_TAKEN = {"a": ("add", "multiply", "nn.relu", "exp", "concatenate"), "b": ("tanh", "sigmoid", "negative", "split")}
REGIONS = "relay-annotate-target{{targets=a,b ops={}}}".format(
    ",".join(f'"{target}:{name}"' for target, names in _TAKEN.items() for name in names)
)
"""Regions for two external compilers."""

_APART = {"relay-outline-fused", "relay-annotate-used-memory", "relay-to-cps", "relay-un-cps"}
"""These reject some programs, or change the signature of `@main`; they have their own tests."""

EXACT_PIPELINES = [NEEDS.get(name, "") + name for name in relay_passes(exact=True) if name not in _APART]
ROUNDED_PIPELINES = [
    NEEDS.get(name, "") + name + OPTIONS.get(name, "")
    for name in relay_passes(exact=False)
    if declared(name).changes is None  # passes that change the function itself are not compared
]

EXACT_OPTIONS = [
    "relay-to-a-normal-form,relay-to-graph-normal-form",
    "relay-fuse-ops{fuse-opt-level=0}",
    "relay-fuse-ops{max-depth=3}",
    "relay-fuse-ops{max-function-args=4}",
    "relay-fuse-ops{link-params=true}",
    REGIONS,
    f"{REGIONS},relay-merge-compiler-regions",
    f"{REGIONS},relay-partition-graph",
    f"{REGIONS},relay-merge-compiler-regions,relay-partition-graph{{bind-constants=false}}",
    f"{REGIONS},relay-merge-compiler-regions,relay-partition-graph,relay-dissolve-compiler-regions,relay-inline",
]
ROUNDED_OPTIONS = [
    "relay-fold-constant,relay-fold-scale-axis{direction=backward}",
    "relay-fold-constant,relay-fold-scale-axis{direction=forward}",
    'relay-canonicalize-ops,relay-convert-layout{desired-layouts="nn.conv2d:NCHW4c"}',
    'relay-convert-layout{desired-layouts="nn.conv2d:NHWC:HWIO","nn.max_pool2d:NHWC"}',
    'relay-convert-layout{desired-layouts="nn.conv2d:NHWC"},relay-convert-layout{desired-layouts="nn.conv2d:NCHW8c"},'
    'relay-convert-layout{desired-layouts="nn.conv2d:NCHW:default","nn.avg_pool2d:NCHW"}',
    "relay-simplify-inference,relay-canonicalize-ops,relay-alter-op-layout{vector-lanes=4}",
]
COMPILER_PIPELINES = [
    ",".join([*chosen_passes(DEFAULT_PIPELINE, level), f"relay-fuse-ops{{fuse-opt-level={level}}}"])
    for level in range(4)
]
