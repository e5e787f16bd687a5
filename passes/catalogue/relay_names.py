"""The table of Relay's passes: the name of each, its level, the passes it requires, and its arguments.

The passes themselves are plain xDSL `ModulePass`es; a row here maps Relay's `FoldConstant` to `relay-fold-constant`.
Both names are accepted wherever a pass is named.

These facts are not attributes of the classes for two reasons. Contexts and `xrelay-opt` compare names without importing
the classes, which takes longer than the start of the tool. Also, a class may have several names in Relay, each with
other options: `relay-fold-scale-axis` has three. The levels are those of Relay's `Sequential`; the compiler has its own
(`default_pipeline`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class RelayPass:
    """A row: Relay's name, the name for `xrelay-opt`, and Relay's description of the pass."""

    name: str
    pass_name: str
    opt_level: int
    required: tuple[str, ...] = ("InferType",)
    positional: tuple[str, ...] = ()
    """The options that Relay accepts by position, in order."""
    fixed: Mapping[str, str | bool] = field(default_factory=dict[str, "str | bool"])
    """Options for which the pass behaves as in Relay."""
    alias: str = ""
    """The name of the Python function, if it differs from that in Relay's info."""
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    """Options that cannot be written as text (functions, mappings): the caller's name → the parameter's name.

    A function takes them instead of the pass (`compat/relay/pass_api/named_passes.py`).
    """


RELAY_PASSES: tuple[RelayPass, ...] = (
    RelayPass("InferType", "relay-infer-type", 0, ()),
    RelayPass("SimplifyInference", "relay-simplify-inference", 0),
    RelayPass("FoldConstant", "relay-fold-constant", 2, (), positional=("fold_qnn",)),
    RelayPass(
        "FakeQuantizationToInteger",
        "relay-fake-quantization-to-integer",
        0,
        positional=("hard_fail", "use_qat", "optional_qnn_ops"),
    ),
    RelayPass("QuantizeAnnotate", "relay-quantize-annotate", 0),
    RelayPass("QuantizeRealize", "relay-quantize-realize", 0),
    RelayPass(
        "ToMixedPrecision",
        "relay-to-mixed-precision",
        0,
        positional=("mixed_precision_type", "missing_op_mode"),
    ),
    RelayPass("QnnLegalize", "qnn-legalize", 1),
    RelayPass("QnnCanonicalize", "qnn-canonicalize-ops", 1),
    RelayPass("Legalize", "relay-legalize", 1, positional=("legalize_map_attr_name",)),
    RelayPass("DynamicToStatic", "relay-dynamic-to-static", 2),
    RelayPass("CanonicalizeOps", "relay-canonicalize-ops", 3),
    RelayPass("FoldScaleAxis", "relay-fold-scale-axis", 3),
    RelayPass("BackwardFoldScaleAxis", "relay-fold-scale-axis", 3, fixed={"direction": "backward", "weights": "any"}),
    RelayPass("ForwardFoldScaleAxis", "relay-fold-scale-axis", 3, fixed={"direction": "forward", "weights": "any"}),
    RelayPass("InlineGlobals", "relay-inline", 1, (), alias="Inline", fixed={"marked": True}),
    RelayPass(
        "AlterOpLayout",
        "relay-alter-op-layout",
        3,
        values={"hooks": "hooks"},
    ),
    RelayPass(
        "EliminateCommonSubexpr",
        "relay-eliminate-common-subexpr",
        3,
        positional=("fskip",),
        values={"fskip": "fskip", "skip": "skip"},
    ),
    RelayPass("SimplifyExpr", "relay-simplify-expr", 0),
    RelayPass("SimplifyExprPostAlterOp", "relay-simplify-expr-post-alter-op", 0),
    RelayPass("FoldExplicitPadding", "relay-fold-explicit-padding", 0),
    RelayPass("FlattenAtrousConv", "relay-flatten-atrous-conv", 0),
    RelayPass("CanonicalizeCast", "relay-canonicalize-cast", 3),
    RelayPass("FastMath", "relay-fast-math", 4),
    RelayPass("DivToMul", "relay-div-to-mul", 0, ("InferType", "FoldConstant")),
    RelayPass(
        "CombineParallelConv2d",
        "relay-combine-parallel-conv2d",
        4,
        positional=("min_num_branches",),
        alias="CombineParallelConv2D",
    ),
    RelayPass("CombineParallelDense", "relay-combine-parallel-dense", 4, positional=("min_num_branches", "to_batch")),
    RelayPass("CombineParallelBatchMatmul", "relay-combine-parallel-batch-matmul", 4, positional=("min_num_branches",)),
    RelayPass("SplitArgs", "relay-split-args", 1, positional=("max_function_args",)),
    RelayPass("DeadCodeElimination", "relay-dead-code-elimination", 1, positional=("inline_once", "ignore_impurity")),
    RelayPass(
        "SimplifyFCTranspose",
        "relay-simplify-fc-transpose",
        4,
        ("DeadCodeElimination",),
        positional=("target_weight_name",),
    ),
    RelayPass(
        "DenseToSparse",
        "relay-dense-to-sparse",
        4,
        ("DeadCodeElimination",),
        positional=("weight_name", "weight_shape"),
    ),
    RelayPass(
        "Conv2dToSparse",
        "relay-conv2d-to-sparse",
        4,
        ("DeadCodeElimination",),
        positional=("weight_name", "weight_shape", "layout", "kernel_size"),
    ),
    RelayPass(
        "Conv2dToSparse2",
        "relay-conv2d-to-sparse2",
        5,
        ("DeadCodeElimination",),
        positional=("layout", "kernel_size", "blocksize", "sparsity_threshold"),
    ),
    RelayPass("ToBasicBlockNormalForm", "relay-to-basic-block-normal-form", 1, (), fixed={"bind": True}),
    RelayPass(
        "MergeComposite",
        "relay-merge-composite",
        0,
        positional=("pattern_table",),
        values={"pattern_table": "table"},
    ),
    RelayPass("FuseOps", "relay-fuse-ops", 0, positional=("fuse_opt_level",)),
    RelayPass("DefuseOps", "relay-defuse-ops", 3),
    RelayPass("RemoveUnusedFunctions", "relay-remove-unused-functions", 1, (), positional=("entry",)),
    RelayPass("ToANormalForm", "relay-to-a-normal-form", 1, ()),
    RelayPass("ToGraphNormalForm", "relay-to-graph-normal-form", 1, ()),
    RelayPass("LabelOps", "relay-label-ops", 1, ()),
    RelayPass("AnnotateSpans", "relay-annotate-spans", 0, ()),
    RelayPass("AnnotateUsedMemory", "relay-annotate-used-memory", 0, ("ToANormalForm", "InferType")),
    RelayPass("PartialEval", "relay-partial-eval", 1, (), alias="PartialEvaluate"),
    RelayPass("ToCPS", "relay-to-cps", 1, ()),
    RelayPass("UnCPS", "relay-un-cps", 1, ()),
    RelayPass("LambdaLift", "relay-lift-closures", 1, fixed={"keep": True}),
    RelayPass(
        "AnnotateTargetFunc",
        "relay-annotate-target",
        0,
        positional=("targets", "include_non_call_ops"),
        alias="AnnotateTarget",
    ),
    RelayPass("MergeCompilerRegions", "relay-merge-compiler-regions", 0, ()),
    RelayPass("PartitionGraph", "relay-partition-graph", 0, (), positional=("mod_name", "bind_constants")),
    RelayPass("FirstOrderGradient", "relay-first-order-gradient", 0, ()),
    RelayPass("LazyGradientInit", "relay-lazy-gradient-init", 2, ()),
    RelayPass(
        "OutlineCompilerFunctions",
        "relay-outline-compiler-functions",
        0,
        (),
        positional=("compiler_filter",),
        alias="OutlineCompilerFunctionsWithExistingGlobalSymbols",
    ),
    RelayPass(
        "MarkCompilerFunctionsAsExtern",
        "relay-mark-compiler-functions-as-extern",
        0,
        (),
        positional=("compiler_filter",),
    ),
    RelayPass(
        "InlineCompilerFunctionsBoundTo",
        "relay-inline-compiler-functions-bound-to",
        0,
        (),
        positional=("global_vars",),
    ),
    RelayPass(
        "ConvertLayout",
        "relay-convert-layout",
        3,
        ("InferType", "CanonicalizeOps"),
        positional=("desired_layouts",),
    ),
)
"""Every pass of Relay that is implemented here."""

ELSEWHERE: frozenset[str] = frozenset(
    {
        "ManifestAlloc",
        "ManifestLifetimes",
        "AnnotateMemoryScope",
        "RemoveStandaloneReshapes",
        "FlattenNestedTuples",
        "RemoveDefaultAnnotations",
        "NameMangleExtFuncs",
        "CapturePostDfsIndexInSpans",
        "AutoSchedulerLayoutRewrite",
        "MetaScheduleLayoutRewrite",
        "LowerTE",
    }
)
"""Names of Relay's passes that are not needed here: a context may disable or require them, without effect."""


def option_text(value: str | bool) -> str:
    """Returns the text of an option's value in a pipeline."""
    return str(value).lower() if isinstance(value, bool) else value


ROWS: dict[str, RelayPass] = {name: row for row in RELAY_PASSES for name in (row.name, row.alias) if name}
"""Every name of these passes, of either kind → its row."""

for _row in RELAY_PASSES:
    ROWS.setdefault(_row.pass_name, _row)


def relay_pass(name: str) -> RelayPass | None:
    """Returns the row of a pass, by either of its names."""
    return ROWS.get(name)


def canonical(name: str) -> str:
    """Returns the name by which contexts compare passes: Relay's, if the pass has one."""
    row = ROWS.get(name)
    return name if row is None else row.name
