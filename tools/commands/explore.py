"""`xrelay explore`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from xrelay.errors import InputError
from xrelay.tools.command_line import add_switches, progress_bar
from xrelay.tools.commands.base import (
    Command,
    UsageError,
    add_records,
    add_shapes,
    add_source,
    add_threads,
    refuse_to_replace,
)
from xrelay.tools.commands.feeding import add_input_options

if TYPE_CHECKING:
    from xrelay.api.profile import Profile
    from xrelay.runtime.artifact import Artifact
    from xrelay.tools.explore.linked_text import Level


class ExploreCommand(Command):
    """Write a page that shows a model at every level, with the compiler's decisions.

    The page is one file without network access. On its left is the graph of kernels, searchable and collapsible by the
    scopes in the names of nodes. On its right are levels of the program side by side, from ONNX nodes to assembly: a
    click on a node, a line or an instruction highlights the parts of all levels that were made from the same nodes.
    Below are the times of kernels in a run, the reasons for fusion, the ranking of schedules, the memory of a run over
    time, and the passes with the lines that each changed. Inputs are random unless given.
    """

    name: ClassVar[str] = "explore"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the model, the page, and the compile options."""
        add_source(parser, "model: .onnx or .mlir")
        parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="page to write (default: MODEL.html)")
        add_shapes(parser)
        parser.add_argument(
            "-O", dest="opt_level", type=int, choices=range(4), default=3, help="optimisation level (3)"
        )
        parser.add_argument("--target", help="CPU to compile for (default: this machine); without a run")
        add_input_options(parser)
        add_threads(parser)
        add_records(parser.add_argument)
        add_switches(
            parser.add_argument,
            {
                "--integers": "compute between quantised values with integers",
                "--exact": "allow no approximations, only other orders of sums",
                "--no-run": "do not run the model: the page has no times",
            },
        )

    def run(self, args: Namespace) -> int:
        """Compiles the model and writes the page."""
        if args.model.suffix == ".xrelay":
            raise UsageError(f"'{args.model}' has native code only", help="pass the .onnx or .mlir file of the model")
        output: Path = args.model.with_suffix(".html") if args.output is None else args.output
        refuse_to_replace(args.model, output)
        _explore(args, output)
        sys.stderr.write(f"wrote {output} ({output.stat().st_size / 1024:.0f} KiB)\n")
        return 0


def _explore(args: Namespace, output: Path) -> None:
    """Records the compilation of the model, and writes the page."""
    from xrelay.api.recipe import Recipe
    from xrelay.api.request import chosen_target
    from xrelay.passes.fusion.partition import FusionOptions
    from xrelay.passes.infra.pass_context import PassContext
    from xrelay.tools.explore.page import page_data, page_text
    from xrelay.tools.explore.recording import PassRecorder, StageRecorder

    target = chosen_target(args.target, args.threads)
    recipe = Recipe(
        args.model,
        target,
        args.opt_level,
        dict(args.shapes),
        integers=args.integers,
        exact=args.exact,
        cache=False,
        records=args.records,
    )
    stages, passes = StageRecorder(), PassRecorder(target, FusionOptions(args.opt_level))
    with progress_bar("compiling") as progress, PassContext(instruments=[passes]):
        built = recipe.build(receiver=stages, progress=progress)
    stages.levels.insert(0, _onnx_level(args.model) if recipe.is_onnx else _text_level(args.model))
    profile = None if args.no_run or args.target is not None else _profile(args, built.artifact)
    metadata = built.artifact.metadata
    summary = f"{len(metadata.kernels)} kernels for {metadata.cpu}, xrelay -O{args.opt_level}"
    text = page_text(page_data(recipe.name, summary, stages, passes, profile), recipe.name)
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write the page: {error.strerror}", location=str(output)) from error


def _profile(args: Namespace, artifact: Artifact) -> Profile:
    """Returns the times of a run of the recorded compilation."""
    from xrelay.api.model import CompiledModel
    from xrelay.tools.commands.feeding import make_inputs

    args.random = True
    model = CompiledModel(artifact, num_threads=args.threads)
    return model.profile(make_inputs(args, model.inputs))


def _text_level(model: Path) -> Level:
    """Returns the text of a model as the first level; its nodes are its lines."""
    from xrelay.tools.explore.linked_text import Level

    text = model.read_text(encoding="utf-8")
    lines = {at: (f"line {at + 1}",) for at in range(text.count("\n") + 1)}
    return Level("text", "the text of the model", text, (), lines)


def _onnx_level(model: Path) -> Level:
    """Returns the nodes of an ONNX model as the first level."""
    from xrelay.frontend.onnx.node_text import node_lines
    from xrelay.tools.explore.linked_text import Level

    nodes = list(node_lines(model))
    text = "\n".join(line for _, line in nodes)
    return Level("onnx", "nodes of the ONNX model", text, (), {at: (name,) for at, (name, _) in enumerate(nodes)})
