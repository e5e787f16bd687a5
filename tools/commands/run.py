"""`xrelay run`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any, ClassVar
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from xrelay.tools.commands.base import Command, UsageError
from xrelay.tools.commands.feeding import add_input_options, describe_output, make_inputs
from xrelay.tools.commands.options import add_compile_options, add_source, add_trust, compiled_model

RTOL = 1e-3
ATOL = 1e-4
"""Of the largest absolute value of an output."""


class RunCommand(Command):
    """Run a model once and describe its outputs.

    Inputs come from numpy files, or are random. A text may be at any level: kernels at the loop level run as they are
    scheduled, a single one without an @main too. With --check the same inputs go through the interpreter of the text's
    level, and the command fails where an output differs by more than rtol 1e-3 and atol 1e-4 of its largest value.
    """

    name: ClassVar[str] = "run"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The model, its inputs, and what to do with the outputs."""
        add_source(parser)
        add_input_options(parser)
        add_compile_options(parser)
        add_trust(parser)
        parser.add_argument(
            "--check", action="store_true", help="compare with the interpreter; exit code 1 if it differs"
        )
        parser.add_argument("-o", "--output", type=Path, metavar="FILE.npz", help="numpy file for all outputs")

    def run(self, args: Namespace) -> int:
        """Run, describe, save, compare."""
        if args.check and args.model.suffix == ".xrelay":
            raise UsageError("a compiled model cannot be checked", help="give the .onnx or .mlir file with --check")
        model = compiled_model(args)
        inputs = make_inputs(args, model.inputs)
        outputs = model.run(inputs)
        for spec, array in zip(model.outputs, outputs, strict=True):
            sys.stdout.write(describe_output(spec, array) + "\n")
        if args.output is not None:
            _save(args.output, dict(zip(model.output_names, outputs, strict=True)))
        return _check(args, inputs, outputs, model.output_names) if args.check else 0


def _check(args: Namespace, inputs: dict[str, NDArray[Any]], outputs: list[NDArray[Any]], names: list[str]) -> int:
    """Compare with the interpreter; gives the exit code."""
    from xrelay.api.programs import program_of

    program = program_of(args.model, shapes=dict(args.shapes))
    expected = program.run([inputs[spec.name] for spec in program.inputs])
    status = 0
    for name, found, wanted in zip(names, outputs, expected, strict=True):
        scale = float(np.abs(wanted).max()) if wanted.size else 0.0
        good = np.allclose(found, wanted, rtol=RTOL, atol=ATOL * scale, equal_nan=True)
        worst = float(np.abs(found.astype(np.float64) - wanted).max()) if wanted.size else 0.0
        sys.stderr.write(
            f"check {name}: {'ok' if good else 'DIFFERS'}, largest difference {worst:.3g} of {scale:.3g}\n"
        )
        status = max(status, int(not good))
    return status


def _save(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write the outputs as `np.savez` does, which however refuses some names."""
    try:
        with ZipFile(path, "w") as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w") as entry:
                    np.save(entry, array, allow_pickle=False)
    except OSError as error:
        raise UsageError(f"cannot write the outputs: {error.strerror}", location=str(path)) from error
