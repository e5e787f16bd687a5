"""The page of a model: of a recorded compilation with a run, or of a compiled model."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from xrelay.api.model import CompiledModel, load
from xrelay.api.profiling.profile import Profile
from xrelay.api.request import chosen_target
from xrelay.api.versions.recipe import Recipe
from xrelay.errors import XRelayError
from xrelay.passes.fusion.partition import FusionOptions
from xrelay.passes.graph.remarks import listening
from xrelay.passes.infra.pass_context import PassContext
from xrelay.runtime.dim_text import solved_sizes
from xrelay.runtime.metadata import ModelMetadata, TensorSpec
from xrelay.tools.command_line import progress_bar
from xrelay.tools.commands.compare import compared_rows
from xrelay.tools.commands.feeding import make_inputs
from xrelay.tools.comparison.divergence import ValueRow
from xrelay.tools.comparison.node_values import node_outputs
from xrelay.tools.explore.fused_graph import INPUT, KERNEL, FusedGraph, GraphNode
from xrelay.tools.explore.linked_text import Level, Span
from xrelay.tools.explore.page import PageContent
from xrelay.tools.explore.recording import PassRecorder, StageRecorder

NO_RUN: Final = "The model did not run: it was compiled for another CPU, or explored with --no-run."
NO_COMPARISON: Final = "xrelay explore --compare computes every node natively and by a reference, and lists both here."
NOT_SAVED: Final = "A saved model has native code only. Explore the .onnx or .mlir file that it was compiled from."


def recorded_page(args: Namespace) -> PageContent:
    """Compiles a model, runs it, and returns the contents of its page. Raises the errors of `compile`."""
    target = chosen_target(args.target, args.threads)
    recipe = Recipe(
        args.model,
        target,
        args.opt_level,
        dict(args.shapes),
        integers=args.integers,
        exact=args.exact,
        cache=False,
        trust=args.trust,
        records=args.records,
    )
    stages, passes = StageRecorder(), PassRecorder(target, FusionOptions(args.opt_level))
    with progress_bar("compiling") as progress, PassContext(instruments=[passes]), listening(passes.remarks.append):
        artifact = recipe.build(receiver=stages, progress=progress).artifact
    inputs = _inputs(args, artifact.metadata.inputs)
    profile, absent = _profile(CompiledModel(artifact, num_threads=args.threads), inputs)
    return PageContent(
        recipe.name,
        _summary(artifact.metadata, f", xrelay -O{args.opt_level}"),
        [_source_level(args.model, is_onnx=recipe.is_onnx), *stages.levels],
        stages.graph,
        stages.plan(_sizes(artifact.metadata.inputs, inputs)),
        passes.fusion,
        passes.schedules,
        passes.remarks,
        passes.passes,
        profile,
        _values(args, stages.levels[0]) if args.against else (),
        absent | ({} if args.against else {"values": NO_COMPARISON}),
    )


def saved_page(args: Namespace) -> PageContent:
    """Loads a compiled model, runs it, and returns the contents of its page. Raises the errors of `load`."""
    model = load(args.model, num_threads=args.threads, trust=args.trust)
    metadata = model.artifact.metadata
    profile, absent = _profile(model, _inputs(args, metadata.inputs))
    lacking = dict.fromkeys(("fusion", "rewrites", "schedule", "memory", "passes", "values"), NOT_SAVED)
    return PageContent(
        args.model.stem,
        _summary(metadata, ", a saved model"),
        [_contents_level(metadata)],
        _kernels_in_order(metadata),
        profile=profile,
        absent=lacking | absent,
    )


def _summary(metadata: ModelMetadata, more: str) -> str:
    return f"{len(metadata.kernels)} kernels for {metadata.cpu}{more}"


def _inputs(args: Namespace, specs: Sequence[TensorSpec]) -> dict[str, Any] | None:
    """Returns the inputs of a run; None if the model does not run."""
    if args.no_run or args.target is not None:
        return None
    args.random = True
    return make_inputs(args, specs)


def _sizes(specs: Sequence[TensorSpec], inputs: Mapping[str, Any] | None) -> dict[str, int]:
    """Returns the sizes of the named dimensions of inputs."""
    if inputs is None:
        return {}
    arrays = [(spec.shape, np.shape(inputs[spec.name])) for spec in specs if not spec.containers]
    return solved_sizes(pair for extents, shape in arrays for pair in zip(extents, shape, strict=False))


def _profile(model: CompiledModel, inputs: Mapping[str, Any] | None) -> tuple[Profile | None, dict[str, str]]:
    """Returns the times of a run, and for each tab that lacks them the reason."""
    if inputs is None:
        return None, dict.fromkeys(("roofline",), NO_RUN)
    try:
        return model.profile(inputs), {}
    except XRelayError as error:
        return None, dict.fromkeys(("kernels", "roofline"), f"The run failed: {error.render()}")


def _source_level(model: Path, *, is_onnx: bool) -> Level:
    """Returns the nodes of an ONNX model, or the lines of a text, as the first level."""
    if is_onnx:
        from xrelay.frontend.onnx.node_text import node_lines

        nodes = list(node_lines(model))
        text = "\n".join(line for _, line in nodes)
        return Level("onnx", "nodes of the ONNX model", text, (), {at: (name,) for at, (name, _) in enumerate(nodes)})
    text = model.read_text(encoding="utf-8")
    lines = {at: (f"line {at + 1}",) for at in range(text.count("\n") + 1)}
    return Level("text", "the text of the model", text, (), lines)


def _values(args: Namespace, imported: Level) -> list[tuple[str, ValueRow]]:
    """Returns the compared values with their nodes: those of the lines of the imported program that define them."""
    nodes: dict[str, str] = {}
    for number, line in enumerate(imported.text.split("\n")):
        name, equals, _ = line.strip().partition(" = ")
        if equals and number in imported.nodes:
            nodes[name] = imported.nodes[number][0]
    if args.model.suffix == ".onnx":
        nodes = {name: output.location for name, output in node_outputs(args.model).items()}
    return [(nodes.get(row.value.name, row.value.name), row) for row in compared_rows(args)]


def _contents_level(metadata: ModelMetadata) -> Level:
    """Returns the contents of a compiled model: inputs, outputs, weights, and kernels with their nodes and work."""

    def described(kind: str, specs: tuple[TensorSpec, ...]) -> list[str]:
        return [f"{kind} {spec.name}: {spec}" for spec in specs]

    lines = [*described("input", metadata.inputs), *described("output", metadata.outputs)]
    lines += [f"{sum(spec.nbytes for spec in metadata.weights)} bytes of weights", ""]
    spans: list[Span] = []
    for kernel in metadata.kernels:
        work = kernel.work
        spans.append(Span(len(lines), len(lines) + 2, (*kernel.sources, f"@{kernel.symbol}")))
        lines += [f"kernel {kernel.symbol}: {', '.join(kernel.sources)}", f"  schedule: {work.schedule or 'unknown'}"]
        lines += [f"  operations: {work.operations or 'unknown'}, bytes: {work.bytes or 'unknown'}"]
    return Level("model", "the contents of the file", "\n".join(lines), tuple(spans))


def _kernels_in_order(metadata: ModelMetadata) -> FusedGraph:
    """Returns the inputs and kernels of a compiled model, which has no edges."""
    inputs = [GraphNode(INPUT, spec.name) for spec in metadata.inputs]
    kernels = [GraphNode(KERNEL, each.symbol, (*each.sources, f"@{each.symbol}")) for each in metadata.kernels]
    return FusedGraph([*inputs, *kernels])
