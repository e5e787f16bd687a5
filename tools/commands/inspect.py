"""`xrelay inspect`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from xrelay.errors import printable
from xrelay.tools.command_line import add_switches
from xrelay.tools.commands.base import Command, UsageError, add_shapes, add_source, named_size, open_line

if TYPE_CHECKING:
    from xrelay.runtime.metadata import ModelMetadata


class InspectCommand(Command):
    """Show the contents of a model: inputs, outputs, ops with their counts, and whether they are supported.

    Every node of an ONNX model is converted as for compiling. Each op is listed with its number of nodes and the
    reasons why some cannot be imported; the exit code is 1 if there are any. Values that depend on an unsupported node
    have the types that the model declares. A compiled model is listed with its kernels, its CPU, and the peak memory of
    a run; if that depends on named dimensions, --size sets their sizes.

    With --coverage, an ONNX model is listed as a table of ops by domain and opset, with the way each is imported: by a
    converter, as a function of the model, or by the standard's definition in terms of other ops. Nodes in bodies and
    functions count too, all errors are listed, and large external weights are not read.
    """

    name: ClassVar[str] = "inspect"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the model, and the shapes of dynamic inputs of an ONNX model."""
        add_source(parser)
        add_shapes(parser)
        add_switches(
            parser.add_argument,
            {
                "--coverage": "print which ops of an ONNX model are supported",
                "--json": "print the coverage as JSON",
            },
        )
        parser.add_argument(
            "--size",
            action="append",
            default=[],
            type=named_size,
            metavar="NAME=N",
            help="size of a named dimension of a compiled model, for the memory of a run; repeat for each",
        )

    def run(self, args: Namespace) -> int:
        """Inspects the model and prints the result."""
        path: Path = args.model
        if args.json and not args.coverage:
            raise UsageError("--json needs --coverage", help="add --coverage")
        if args.coverage and path.suffix != ".onnx":
            raise UsageError("--coverage applies to ONNX models only", location=str(path))
        if args.size and path.suffix != ".xrelay":
            raise UsageError("--size applies to compiled models only", location=str(path))
        match path.suffix:
            case ".xrelay":
                lines, status = _inspect_compiled(path, dict(args.size))
            case ".onnx" if args.coverage:
                lines, status = _coverage(path, dict(args.shapes), json=args.json)
            case ".onnx":
                lines, status = _inspect_onnx(path, dict(args.shapes))
            case _:
                lines, status = _inspect_text(path)
        sys.stdout.writelines(printable(line) + "\n" for line in lines)
        return status


def _coverage(path: Path, shapes: Mapping[str, Sequence[int | str]], *, json: bool) -> tuple[list[str], int]:
    """Returns the ops of a model with the way each is imported, and the exit code."""
    from xrelay.frontend.onnx.coverage import coverage
    from xrelay.tools.commands.coverage import as_json, as_text

    found = coverage(path, shapes)
    lines = [as_json(found)] if json else as_text(found)
    return lines, int(not found.is_whole)


def _inspect_onnx(path: Path, shapes: Mapping[str, Sequence[int | str]]) -> tuple[list[str], int]:
    """Returns opset, inputs, outputs, and each op with its count and the reasons why nodes cannot be imported."""
    from xrelay.tools.commands.coverage import summarize

    summary = summarize(path, shapes)
    lines = [f"opset {summary.opset}", *(f"input {line}" for line in summary.inputs)]
    lines += (f"output {name}" for name in summary.outputs)
    lines += open_line(summary.dims)
    for op in summary.ops:
        lines.append(f"{op.count:6d}  {op.name:24} {_verdict(op.supported, op.count)}".rstrip())
        lines += (f"{count:8d}  unsupported: {reason}" for reason, count in op.problems.most_common())
        lines += [f"{op.untried:8d}  not tried"] if op.untried else []
    supported, untried = sum(op.supported for op in summary.ops), sum(op.untried for op in summary.ops)
    total = sum(op.count for op in summary.ops)
    rest = f"; {untried} depend on unsupported nodes and were not tried" if untried else ""
    lines.append(f"{supported} of {total} nodes are supported{rest}")
    return lines, int(supported < total)


def _verdict(supported: int, count: int) -> str:
    if supported == count:
        return "ok"
    return "" if supported == 0 else f"{supported} ok"


def _inspect_text(path: Path) -> tuple[list[str], int]:
    """Returns the functions with their types, and each op with its count."""
    from xdsl.dialects.func import FuncOp

    from xrelay.api.sources import load_source, main_with_names
    from xrelay.passes.infra.verify import walk_ops

    module = load_source(path)
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    counts = Counter(op.name for op in walk_ops(module) if op is not module)
    lines = [f"func @{function.sym_name.data} {function.function_type}" for function in functions]
    lines += open_line(main_with_names(module)[1])
    return [*lines, *(f"{count:6d}  {name}" for name, count in counts.most_common())], 0


def _inspect_compiled(path: Path, sizes: Mapping[str, int]) -> tuple[list[str], int]:
    """Returns inputs, outputs, kernels, sizes and the CPU."""
    from xrelay.runtime.artifact import read_metadata

    metadata, versions = read_metadata(path)
    weights = sum(spec.nbytes for spec in metadata.weights)
    return [
        *(f"input {spec.name}: {spec}" for spec in metadata.inputs),
        *(f"output {spec.name}: {spec}" for spec in metadata.outputs),
        *open_line(metadata.dims),
        *(f"version {', '.join(f'{spec.name}: {spec}' for spec in version.inputs)}" for version in versions),
        f"cpu {metadata.cpu}",
        f"{weights} bytes of weights",
        f"memory of a run: {_memory(path, metadata, sizes)}",
        *(f"check {check.summary}" for check in metadata.checks),
        *(": ".join(filter(None, (f"kernel {each.symbol}", ", ".join(each.sources)))) for each in metadata.kernels),
    ], 0


def _memory(path: Path, metadata: ModelMetadata, sizes: Mapping[str, int]) -> str:
    """Returns the peak memory of a run, or the names of the dimensions on which it depends."""
    if not metadata.dims and not sizes:
        from xrelay.runtime.cores import default_num_threads
        from xrelay.runtime.memory import MemoryNeeds

        known, threads = metadata.memory, default_num_threads()
        return str(MemoryNeeds(metadata.arena_size, *known.sizes, threads, known.uncounted))
    if not sizes:
        uncounted = "".join(f"; not counted: {text}" for text in metadata.memory.uncounted)
        return f"depends on {', '.join(metadata.dims)} (set with --size){uncounted}"
    from xrelay.api.model import load

    return str(load(path).memory_needs(sizes))
