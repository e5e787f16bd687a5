"""`xrelay inspect`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from pathlib import Path
from typing import ClassVar

from xrelay.tools.commands.base import Command
from xrelay.tools.commands.options import add_source


class InspectCommand(Command):
    """Show what a model contains: inputs, outputs, ops and how many of each, and whether they are supported.

    For an ONNX model every op is listed with the number of its nodes and whether a converter exists for it at the
    model's opset; the exit code is 1 where one is missing. A compiled model shows its kernels and for which CPU it is.
    """

    name: ClassVar[str] = "inspect"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The model."""
        add_source(parser)

    def run(self, args: Namespace) -> int:
        """Look and print."""
        path: Path = args.model
        match path.suffix:
            case ".xrelay":
                lines, status = _inspect_compiled(path)
            case ".onnx":
                lines, status = _inspect_onnx(path)
            case _:
                lines, status = _inspect_text(path)
        sys.stdout.writelines(line + "\n" for line in lines)
        return status


def _inspect_onnx(path: Path) -> tuple[list[str], int]:
    """Opset, inputs and outputs, and each op with its count and whether it can be imported."""
    from xrelay.tools.commands.coverage import summarize

    summary = summarize(path)
    lines = [f"opset {summary.opset}", *(f"input {line}" for line in summary.inputs)]
    lines += (f"output {name}" for name in summary.outputs)
    for op in summary.ops:
        lines.append(f"{op.count:6d}  {op.name:24} {'ok' if op.problem is None else 'unsupported: ' + op.problem}")
    missing = sum(op.count for op in summary.ops if op.problem is not None)
    total = sum(op.count for op in summary.ops)
    lines.append(f"{total - missing} of {total} nodes are supported")
    return lines, int(missing > 0)


def _inspect_text(path: Path) -> tuple[list[str], int]:
    """Functions with their types, and each op with its count."""
    from xdsl.dialects.func import FuncOp

    from xrelay.api.sources import load_source
    from xrelay.passes.infra.verify import walk_ops

    module = load_source(path)
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    counts = Counter(op.name for op in walk_ops(module) if op is not module)
    lines = [f"func @{function.sym_name.data} {function.function_type}" for function in functions]
    return [*lines, *(f"{count:6d}  {name}" for name, count in counts.most_common())], 0


def _inspect_compiled(path: Path) -> tuple[list[str], int]:
    """Inputs, outputs, kernels, sizes and the CPU."""
    from xrelay.api.model import load

    model = load(path, trust=True)  # nothing of it is run
    metadata = model.artifact.metadata
    weights = sum(spec.nbytes for spec in metadata.weights)
    return [
        *(f"input {spec.name}: {spec}" for spec in model.inputs),
        *(f"output {spec.name}: {spec}" for spec in model.outputs),
        f"cpu {metadata.cpu}",
        f"{weights} bytes of weights, {metadata.arena_size} bytes of arena",
        *(f"kernel {kernel.symbol}: {', '.join(kernel.sources)}" for kernel in metadata.kernels),
    ], 0
