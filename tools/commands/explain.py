"""`xrelay explain`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from xrelay.errors import InputError, did_you_mean, printable
from xrelay.tools.command_line import add_switches
from xrelay.tools.commands.base import Command, UsageError, add_records, add_shapes, add_source

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from xrelay.lowering.pipelines import Phase
    from xrelay.passes.fusion.explain import ExplainedBlock, ExplainedOp


LAYOUT_PASSES: Final = (
    *("relay-alter-op-layout", "relay-convert-layout", "relay-split-convolutions", "relay-apply-winograd"),
    *("relay-split-products", "relay-split-attention"),
)
"""The passes that choose layouts."""


class ExplainCommand(Command):
    """Explain the compiler's decisions about a model.

    `xrelay explain fusion MODEL` lists the kernels with the ops in each. With --op NAME it explains one op: its
    post-dominator, the rule that applied, the node or edge that blocked it, and the change that would be needed. NAME
    is a node of the ONNX model or another source location, a value (%y), an operator (nn.relu), or a number (5). The
    model is explained after the graph optimiser, as `xrelay compile` fuses it, or before it with --as-is.

    `xrelay explain layout MODEL` lists the layout of each op that the optimiser converts, with the reason, and the
    reasons why others keep theirs or are not computed by Winograd's algorithm; --op NAME selects a node, a value of a
    text (%y) or an operator.

    `xrelay explain versions MODEL` lists the kernels with extents as arguments, the sizes for which a specialised
    version exists, and the reasons. `xrelay explain views MODEL` lists the buffers that are views of a larger buffer,
    which saves a copy, and the remaining copies with their reasons.

    `xrelay explain schedule MODEL` lists the candidates for the schedule of each kernel with their estimated costs, the
    schedules that are not possible with the reason, and the chosen one, marked with `*`. With --kernel NAME it explains
    one kernel, and prints its primitives; NAME is a kernel or a source location. --target selects another CPU.
    With --records, a kernel with a tuning record has its schedule, and the measured times as the reason.
    """

    name: ClassVar[str] = "explain"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the subject, the model, and the output format."""
        parser.add_argument(
            "subject", choices=["fusion", "layout", "versions", "views", "schedule"], help="subject of the explanation"
        )
        add_source(parser, "model: .onnx or .mlir")
        add_shapes(parser)
        parser.add_argument("--op", metavar="NAME", help="explain this op only")
        parser.add_argument("--kernel", metavar="NAME", help="explain the schedule of this kernel only")
        parser.add_argument("--target", help="CPU to choose schedules for (default: this machine)")
        add_records(parser.add_argument)
        parser.add_argument("--as-is", action="store_true", help="do not run the graph optimiser first")
        parser.add_argument(
            "-O", dest="opt_level", type=int, choices=range(4), default=3, help="optimisation level (3)"
        )
        parser.add_argument("--max-depth", type=int, default=256, help="maximum number of nodes of a kernel (256)")
        parser.add_argument(
            "--max-function-args", type=int, default=0, help="maximum number of kernel arguments; 0 is unlimited (0)"
        )
        form = parser.add_mutually_exclusive_group()
        add_switches(
            form.add_argument,
            {
                "--json": "write JSON",
                "--dot": "write a graph for Graphviz",
            },
        )

    def run(self, args: Namespace) -> int:
        """Optimises and fuses the model, and prints the explanation."""
        if args.dot and args.op is not None:
            raise UsageError("--dot draws whole functions", help="leave out --op, or use --json with it")
        if args.subject != "schedule" and {args.kernel, args.target, args.records} != {None}:
            raise UsageError("--kernel, --target and --records are for schedule", help="leave them out")
        if args.subject == "schedule":
            if args.op is not None or args.as_is or args.dot:
                raise UsageError("--op, --as-is and --dot are for fusion", help="leave them out")
            sys.stdout.writelines(printable(line) + "\n" if not args.json else line for line in _schedules(args))
            return 0
        if args.subject == "layout":
            if args.as_is or args.json or args.dot:
                raise UsageError("--as-is, --json and --dot are for fusion", help="leave them out")
            sys.stdout.writelines(printable(line) + "\n" for line in _layouts(args))
            return 0
        if args.subject != "fusion":
            if args.op is not None or args.as_is or args.json or args.dot:
                raise UsageError("--op, --as-is, --json and --dot are for fusion", help="leave them out")
            from xrelay.lowering.pipelines import Phase
            from xrelay.tools.commands.explain_kernels import version_lines, view_lines

            if args.subject == "versions":
                lines = version_lines(_lowered(args, Phase.SCF))
            else:
                lines = view_lines(_lowered(args, Phase.LOOP, before="loop-collapse-images"))
            sys.stdout.writelines(printable(line) + "\n" for line in lines)
            return 0
        blocks = _explain(args)
        chosen = None if args.op is None else _selected_ops(blocks, args)
        sys.stdout.writelines(line + "\n" for line in _written(args, blocks, chosen))
        return 0


def _layouts(args: Namespace) -> Sequence[str]:
    """Returns the decisions of the layout passes. Raises `InputError` if --op names neither an op nor a decision."""
    from xrelay.api.sources import load_source
    from xrelay.dialects.shared.locations import describe_location
    from xrelay.passes.graph.remarks import Remark, listening
    from xrelay.passes.infra.verify import walk_ops

    remarks: list[Remark] = []
    module = load_source(args.model, shapes=dict(args.shapes))
    places, operators = _places(module, args.op), {args.op, f"relay.{args.op}"}
    is_op = any(op.name in operators or describe_location(op) in places for op in walk_ops(module))
    with listening(remarks.append):
        _prepare(module, args)
    found = [remark for remark in remarks if remark.pass_name in LAYOUT_PASSES]
    chosen = [each for each in found if args.op is None or each.location in places or each.op_name in operators]
    if args.op is not None and not chosen:
        if is_op:
            return [f"no layout pass considers {args.op!r}"]
        known = sorted({each.location for each in found if each.location is not None})
        raise InputError(f"no op is called {args.op!r}", help=did_you_mean(args.op, known, "omit --op"))
    return [str(remark) for remark in chosen]


def _places(module: ModuleOp, name: str | None) -> set[str | None]:
    """Returns `name`, and the location of the op that defines the value of this name, such as `%y`."""
    from xrelay.dialects.shared.locations import describe_location
    from xrelay.passes.infra.verify import walk_ops

    found = {name}
    if name is not None and name.startswith("%"):
        ops = (op for op in walk_ops(module) if any(f"%{result.name_hint}" == name for result in op.results))
        found |= {describe_location(op) for op in ops}
    return found


def _explain(args: Namespace) -> Sequence[ExplainedBlock]:
    """Returns the fused blocks of the model's functions."""
    from xrelay.api.sources import load_source
    from xrelay.passes.fusion.explain import explain_fusion
    from xrelay.passes.fusion.partition import FusionOptions

    options = FusionOptions(args.opt_level, args.max_depth, args.max_function_args)
    module = load_source(args.model, shapes=dict(args.shapes))
    _prepare(module, args)
    return explain_fusion(module, options)


def _schedules(args: Namespace) -> Iterable[str]:
    """Returns the lines for stdout about schedules."""
    from xrelay.api.sources import load_source
    from xrelay.api.stage_runner import StageRunner
    from xrelay.lowering.pipelines import compile_stages, remaining_stages, stages_before
    from xrelay.lowering.topi_to_loop.explain_schedules import explain_schedule
    from xrelay.passes.loop.nest_queries import kernels_of
    from xrelay.target import Target
    from xrelay.tools.commands.explain_schedules import schedule_lines, schedules_to_json, select_kernels

    target = Target.host() if args.target is None else Target.parse(args.target)
    module = load_source(args.model, shapes=dict(args.shapes))
    records = "" if args.records is None else str(args.records)
    stages = compile_stages(
        opt_level=args.opt_level,
        vector_lanes=target.lanes(),
        schedule_target=str(target),
        tile_products=target.tile_products,
        records=records,
    )
    StageRunner(stages_before("loop-assign-schedules", remaining_stages(stages, module))).run(module)
    explained = [explain_schedule(kernel, target) for kernel in select_kernels(kernels_of(module), args.kernel)]
    if args.json:
        return [schedules_to_json(explained, target) + "\n"]
    return schedule_lines(explained, target, in_full=args.kernel is not None)


def _lowered(args: Namespace, last: Phase, before: str = "") -> ModuleOp:
    """Returns the model after the stage `last`, for this machine; if given, before a pass of that stage."""
    from xrelay.api.sources import load_source
    from xrelay.api.stage_runner import StageRunner
    from xrelay.lowering.pipelines import Phase, compile_stages, stages_before
    from xrelay.target import Target

    target, phases = Target.host(), list(Phase)
    stages = compile_stages(
        opt_level=args.opt_level,
        vector_lanes=target.lanes(),
        schedule_target=str(target),
        tile_products=target.tile_products,
    )
    module = load_source(args.model, shapes=dict(args.shapes))
    stages = [each for each in stages if phases.index(each.phase) <= phases.index(last)]
    StageRunner(stages_before(before, stages) if before else stages).run(module)
    return module


def _prepare(module: ModuleOp, args: Namespace) -> None:
    """Infers types and runs the passes before fusion."""
    from xrelay.lowering.pipelines import OPTIMIZER, Phase, all_passes, compile_stages
    from xrelay.lowering.registry import pass_thunks
    from xrelay.passes.infra.pipeline import run_pipeline
    from xrelay.passes.infra.pipeline_text import parse_passes
    from xrelay.passes.infra.source import full_context
    from xrelay.target import Target

    wanted = {Phase.TYPED} if args.as_is else {Phase.TYPED} | OPTIMIZER
    lanes = Target.host().lanes()
    stages = [each for each in compile_stages(opt_level=args.opt_level, vector_lanes=lanes) if each.phase in wanted]
    passes = parse_passes(",".join(all_passes(stages)), pass_thunks())
    run_pipeline(module, passes, context=full_context())


def _selected_ops(blocks: Sequence[ExplainedBlock], args: Namespace) -> list[ExplainedOp]:
    """Returns the ops that --op names. Raises `InputError` for an absent op."""
    name: str = args.op
    chosen = _matching(blocks, name)
    if chosen:
        return chosen
    node = _node_called(Path(args.model), name)
    if node is not None:
        place, operator = node
        if place != name and (chosen := _matching(blocks, place)):
            return chosen
        raise InputError(
            f"the importer or the optimiser has removed the node {place!r} ({operator}), or merged it into other ops",
            help="--as-is explains the model before the optimiser; or name an op that uses the node",
        )
    known = sorted(
        {known for block in blocks for op in block.ops.values() for known in op.names if not known.isdigit()}
    )
    raise InputError(
        f"no op is called {name!r}",
        help=did_you_mean(name, known, "omit --op to list all ops, or use --as-is"),
    )


def _node_called(model: Path, name: str) -> tuple[str, str] | None:
    """Returns the location and op type of the ONNX node with `name` or with such an output; `None` for other files."""
    if model.suffix != ".onnx":
        return None
    from xrelay.frontend.onnx.load import load_model

    loaded = load_model(model).proto
    for node in loaded.graph.node:
        if name == node.name or name in node.output:
            return node.name or next(filter(None, node.output), node.op_type), node.op_type
    return None


def _matching(blocks: Sequence[ExplainedBlock], name: str) -> list[ExplainedOp]:
    return [op for block in blocks for op in block.matching(name)]


def _written(args: Namespace, blocks: Sequence[ExplainedBlock], chosen: Sequence[ExplainedOp] | None) -> Sequence[str]:
    """Returns the lines for stdout."""
    from xrelay.passes.fusion.explain_text import dot_lines, group_lines, story_lines, to_json

    if args.json:
        return [to_json(blocks, chosen)]
    if args.dot:
        return [printable(line) for line in dot_lines(blocks)]
    if chosen is None:
        return [printable(line) for line in group_lines(blocks)]
    wanted = {id(op) for op in chosen}
    return [
        printable(line)
        for block in blocks
        for op in block.ops.values()
        if id(op) in wanted
        for line in story_lines(block, op)
    ]
