"""`xrelay run`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias
from zipfile import ZipFile

import numpy as np

from xrelay.errors import printable
from xrelay.runtime.lists import Listed
from xrelay.runtime.metadata import TensorSpec, function_spec
from xrelay.tools.command_line import add_switches, progress_bar
from xrelay.tools.commands.base import (
    Command,
    UsageError,
    add_source,
    compiled_model,
    prepare_outputs,
)
from xrelay.tools.commands.feeding import add_run_options, describe_output, make_inputs

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from xrelay.api.model import CompiledModel

Inputs: TypeAlias = dict[str, Any]
Outputs: TypeAlias = list[tuple[TensorSpec, Listed]]
"""The outputs as arrays; the elements of a sequence `s` are `s[0]`, `s[1]`."""


class RunCommand(Command):
    """Run a model once and describe its outputs.

    Inputs come from numpy files, or are random. A text may be at any level. Kernels at the loop level run with their
    schedules; a single kernel needs no @main. With --check the same inputs also run in the interpreter of the text's
    level, and the command fails if an output differs by more than rtol 1e-3 and atol 1e-4 of its largest value. With
    --interpret, the interpreter of the program's level (relay, topi or loop) runs it instead of native code. --output
    adds an intermediate value to the outputs; the optimiser then keeps it. --profile also runs the model as
    `xrelay profile` does, and prints its table to stderr.

    If stderr is a terminal, a bar shows the progress of the interpreters of the topi and loop levels by kernel calls.
    """

    name: ClassVar[str] = "run"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the model, its inputs, and the use of the outputs."""
        add_source(parser)
        add_run_options(parser)
        how = parser.add_mutually_exclusive_group()
        add_switches(
            how.add_argument,
            {
                "--check": "compare with the interpreter; exit code 1 if it differs",
                "--interpret": "run by the interpreter, without compiling",
            },
        )
        parser.add_argument(
            "--output",
            action="append",
            default=[],
            metavar="NODE",
            help="additional output: a value by its name in the text (%%y), or an ONNX node or value; repeatable",
        )
        parser.add_argument("--profile", action="store_true", help="print the time of each kernel to stderr")
        parser.add_argument("-o", "--save", type=Path, metavar="FILE.npz", help="write all outputs to this .npz file")

    def run(self, args: Namespace) -> int:
        """Runs the model; describes, saves and compares its outputs."""
        for flag in ("check", "interpret", "output"):
            if vars(args)[flag] and args.model.suffix == ".xrelay":
                help_ = f"pass the .onnx or .mlir file with --{flag}"
                raise UsageError(f"--{flag} needs the program, which a compiled model does not contain", help=help_)
        if args.profile and args.interpret:
            raise UsageError("--profile measures native code", help="leave out --interpret")
        prepare_outputs(args.model, args.save)
        module = _with_outputs(args) if args.output else None
        model = None if args.interpret else compiled_model(args, module)
        inputs, outputs = _interpret(args, module) if model is None else _native(args, model)
        for spec, array in outputs:
            sys.stdout.write(describe_output(spec, array) + "\n")
        sys.stdout.flush()  # the outputs precede the verdict, also if stdout and stderr are one file
        if args.profile and model is not None:
            sys.stderr.write(str(model.profile(inputs)))
        if args.save is not None:
            _save(args.save, outputs)
        return _check(args, module, inputs, outputs) if args.check else 0


def _with_outputs(args: Namespace) -> ModuleOp:
    """Returns the program with the values that --output names as additional outputs."""
    from xrelay.api.intermediates import add_outputs
    from xrelay.api.sources import load_source
    from xrelay.tools.comparison.node_values import node_outputs

    module = load_source(args.model, shapes=dict(args.shapes), trust=args.trust)
    add_outputs(module, args.output, nodes=node_outputs(args.model) if args.model.suffix == ".onnx" else None)
    return module


def _native(args: Namespace, model: CompiledModel) -> tuple[Inputs, Outputs]:
    """Returns the inputs, and the outputs of native code."""
    inputs = make_inputs(args, model.inputs)
    return inputs, _arrays([(spec.name, spec.dtype) for spec in model.outputs], model.run(inputs))


def _arrays(places: Sequence[tuple[str, str]], values: Sequence[Any]) -> Outputs:
    """Returns the arrays in the outputs of these names and dtypes, and the functions among them."""
    from xrelay.runtime.lists import flatten_arrays

    found: Outputs = []
    for (name, dtype), value in zip(places, values, strict=True):
        found += [(function_spec(name), value)] if callable(value) else []
        found += [
            (TensorSpec(key, dtype, array.shape), array) for key, array in flatten_arrays([name], [value]).items()
        ]
    return found


def _interpret(args: Namespace, module: ModuleOp | None) -> tuple[Inputs, Outputs]:
    """Returns the inputs, and the outputs of the interpreter."""
    from xrelay.api.programs import input_specs, program_of

    program = program_of(args.model if module is None else module, shapes=dict(args.shapes))
    inputs = make_inputs(args, input_specs(program))
    with progress_bar("interpreting", estimate=True) as draw:
        values = program.run(list(inputs.values()), progress=draw)
    return inputs, _arrays([(entry.name, entry.dtype) for entry in program.outputs], values)


def _check(args: Namespace, module: ModuleOp | None, inputs: Inputs, outputs: Outputs) -> int:
    """Compares with the interpreter; returns the exit code."""
    from xrelay.api.comparison import compare_outputs, largest_finite
    from xrelay.api.programs import program_of

    program = program_of(args.model if module is None else module, shapes=dict(args.shapes))
    with progress_bar("interpreting", estimate=True) as draw:
        values = program.run([inputs[spec.name] for spec in program.inputs], progress=draw)
    expected = [array for _, array in _arrays([(entry.name, entry.dtype) for entry in program.outputs], values)]
    if len(expected) != len(outputs):
        sys.stderr.write(f"check: DIFFERS, {len(outputs)} arrays, the interpreter has {len(expected)}\n")
        return 1
    status = 0
    for (spec, found), wanted in zip(outputs, expected, strict=True):
        if spec.is_function:
            continue
        answer = compare_outputs([spec.name], [found], [wanted], levels=("native", "interpreter"))
        verdict = "ok" if answer else "DIFFERS"
        difference = f"largest difference {answer.max_abs:.3g} of {largest_finite(wanted):.3g}"
        sys.stderr.write(f"check {printable(spec.name)}: {verdict}, {difference}\n")
        status = max(status, int(not answer))
    return status


def _save(path: Path, outputs: Outputs) -> None:
    """Writes the outputs like `np.savez`, which does not accept all names. Raises `UsageError` for a function."""
    for spec, _ in outputs:
        if spec.is_function:
            raise UsageError(f"output '{spec.name}' is a function, which cannot be saved", location=str(path))
    try:
        with ZipFile(path, "w") as archive:
            for spec, array in outputs:
                with archive.open(f"{spec.name}.npy", "w") as entry:
                    np.save(entry, array, allow_pickle=False)
    except OSError as error:
        raise UsageError(f"cannot write the outputs: {error.strerror}", location=str(path)) from error
