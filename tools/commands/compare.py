"""`xrelay compare`."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from xrelay.runtime.metadata import TensorSpec
from xrelay.tools.commands.base import (
    Command,
    UsageError,
    add_source,
    compiled_model,
)
from xrelay.tools.commands.feeding import add_run_options, make_inputs

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from xdsl.dialects.builtin import ModuleOp

    from xrelay.tools.comparison.divergence import ValueRow
    from xrelay.tools.comparison.node_values import NodeValue

ENGINES = ("interpreter", "onnxruntime")
RTOL, ATOL = 1e-3, 1e-4
"""The default tolerances; the second is a fraction of the largest value."""


class CompareCommand(Command):
    """Compare the value of each node of a model with a reference, and find the first that differs.

    The model is compiled with the value of every node as an output, and runs on random inputs unless they are given.
    The reference is the interpreter of the program, or onnxruntime without optimisations. Values that differ are
    listed in the order of the nodes, with the largest absolute and relative difference and the largest value of the
    reference. For the first one, the element that is furthest apart is printed. The exit code is 1 if a value differs.

    Values that are outputs cannot be fused into a kernel. If all nodes agree and the outputs of `xrelay run --check`
    do not, the difference is due to fusion: use --keep-fusion, which compares the outputs of the model only.
    """

    name: ClassVar[str] = "compare"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the model, its inputs and the tolerance."""
        add_source(parser, "model: .onnx, or .mlir at the relay level")
        add_run_options(parser)
        parser.add_argument("--against", choices=ENGINES, default=ENGINES[0], help="the reference (interpreter)")
        parser.add_argument("--keep-fusion", action="store_true", help="compare the outputs of the model only")
        parser.add_argument("--rtol", type=float, default=RTOL, help="relative tolerance (1e-3)")
        parser.add_argument(
            "--atol", type=float, default=ATOL, help="absolute tolerance, as a fraction of the largest value (1e-4)"
        )
        parser.add_argument("--all", action="store_true", help="list the values that agree, too")
        parser.add_argument("--json", action="store_true", help="print all values as JSON")

    def run(self, args: Namespace) -> int:
        """Compares the values and prints the table; returns 1 if one differs."""
        from xrelay.tools.comparison.divergence import report

        rows = compared_rows(args)
        if args.json:
            sys.stdout.write(json.dumps([row.as_data() for row in rows]) + "\n")
        else:
            sys.stdout.writelines(f"{line}\n" for line in report(rows, ("native", args.against), in_full=args.all))
        return int(not all(row.agrees for row in rows))


def compared_rows(args: Namespace) -> list[ValueRow]:
    """Returns the value of each node, computed natively and by `args.against`."""
    from xrelay.tools.comparison.divergence import compared_values

    _check_usage(args)
    args.random = True
    module, values = _with_node_outputs(args)
    model = compiled_model(args, module)
    inputs = make_inputs(args, model.inputs)
    own = _arrays(model.outputs, model.run(inputs))
    reference = _reference(args, module, values, inputs)
    levels = ("native", args.against)
    return list(compared_values(values, own, reference, levels, rtol=args.rtol, atol=args.atol))


def _check_usage(args: Namespace) -> None:
    if args.model.suffix == ".xrelay":
        raise UsageError("a compiled model has no nodes", help="pass the .onnx or .mlir file")
    if args.against == "onnxruntime":
        if args.model.suffix != ".onnx":
            raise UsageError(f"--against onnxruntime takes an .onnx model, not {args.model.suffix!r}")
        if find_spec("onnxruntime") is None:
            raise UsageError("onnxruntime is not installed", help="pip install onnxruntime")


def _with_node_outputs(args: Namespace) -> tuple[ModuleOp, list[NodeValue]]:
    """Returns the program with the value of each node as an output, and all these values and outputs."""
    from xrelay.api.intermediates import add_outputs
    from xrelay.api.programs import program_of
    from xrelay.api.sources import load_source
    from xrelay.tools.comparison.node_values import NodeValue, node_outputs, values_of_model, values_of_module

    module = load_source(args.model, shapes=dict(args.shapes), trust=args.trust)
    is_onnx = args.model.suffix == ".onnx"
    values = values_of_model(args.model) if is_onnx else list(values_of_module(module))
    outputs = [spec.name for spec in program_of(module).outputs]
    known = {value.name for value in values}
    if not args.keep_fusion:
        inner = [value.name for value in values if value.name not in outputs]
        add_outputs(module, inner, nodes=node_outputs(args.model) if is_onnx else None, only_known=True)
    return module, [*values, *(NodeValue(name, "output") for name in outputs if name not in known)]


def _reference(
    args: Namespace, module: ModuleOp, values: Sequence[NodeValue], inputs: Mapping[str, Any]
) -> dict[str, NDArray[Any]]:
    """Returns the values of the reference by name."""
    from xrelay.api.programs import program_of
    from xrelay.tools.comparison.node_values import onnxruntime_values

    program = program_of(module)
    if args.against == "interpreter":
        return _arrays(program.outputs, program.run([inputs[spec.name] for spec in program.inputs]))
    wanted = {spec.name for spec in program.outputs}
    return onnxruntime_values(args.model, [value.name for value in values if value.name in wanted], inputs)


def _arrays(specs: Sequence[TensorSpec], values: Sequence[Any]) -> dict[str, NDArray[Any]]:
    from xrelay.runtime.lists import flatten_arrays

    return flatten_arrays([spec.name for spec in specs], values)
