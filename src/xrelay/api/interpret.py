"""Parses texts to modules, and runs modules by the interpreter of their level without compiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from xrelay.api.programs import Program, program_of
from xrelay.api.sources import Shapes, Source, load_source
from xrelay.errors import InputError
from xrelay.index_algebra.dims import ANY
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import verify_module
from xrelay.runtime.inputs import InputBinder, is_mapping
from xrelay.runtime.metadata import TensorSpec


def parse(source: str | PathLike[str], *, name: str = "<text>") -> ModuleOp:
    """Parses and verifies a program at any level: a text, or the path of an `.mlir` file.

    A `str` is a path if it ends in `.mlir` and has no line break. The weight file that a text file names is read too.
    `name` replaces the file name in errors and source locations. Raises `ParseError` and `VerificationError` with
    `name:line:col`.
    """
    if not isinstance(source, str) or (source.endswith(".mlir") and "\n" not in source):
        return load_source(source)
    module = parse_module(full_context(), source, name)
    verify_module(module)
    return module


def interpret(
    source: Source,
    inputs: Mapping[str, object] | Sequence[object],
    *,
    shapes: Shapes | None = None,
    function: str = "main",
) -> list[Any]:
    """Runs a program by the interpreter of its level (relay, topi or loop), on numpy and without compiling.

    `source` is a module, a path or an ONNX model, as for `compile`. `inputs` are by name or in order, and are checked
    like those of a compiled model. In inputs and results, sequences are lists, and an optional is its value or `None`.
    Raises `InputError` for invalid inputs, for dynamic shapes that `shapes` does not fix and for a program below loop,
    and `InterpreterError` for a program that is undefined for these inputs.
    """
    program = program_of(source, shapes=shapes, function=function)
    binder = InputBinder(input_specs(program), native=False)
    values = binder.from_mapping(inputs) if is_mapping(inputs) else binder.from_sequence(list(inputs))
    return list(program.run(values))


def input_specs(program: Program) -> list[TensorSpec]:
    """Returns the inputs of a program, with named dimensions as text. Raises `InputError` for an unnamed dimension."""
    specs: list[TensorSpec] = []
    for entry in program.inputs:
        if entry.container is not None:
            specs.append(entry.container)
            continue
        if ANY in entry.shape:
            raise InputError(f"the shape of input {entry.name!r} is unknown: {entry}", help="pass it in shapes=")
        shape = tuple(dim if isinstance(dim, int) else str(dim) for dim in entry.shape)
        specs.append(TensorSpec(entry.name, entry.dtype, shape))
    return specs
