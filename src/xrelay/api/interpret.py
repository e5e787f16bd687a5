"""Texts as modules, and modules run by the interpreter of their level: nothing is compiled."""

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
    """Parse and verify a program at any level: the text itself, or the path of an `.mlir` file.

    A `str` is a path where it ends in `.mlir` and has no line break; a weight file that the text of a file names is
    read too. `name` stands for the text in errors and source locations.
    Raises `ParseError` and `VerificationError` with `name:line:col`.
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
    """Run a program by the interpreter of its level (relay, topi or loop), on numpy and without compiling.

    `source` is a module, a path or an ONNX model, as for `compile`; `inputs` are given by name or in order, and are
    checked as those of a compiled model; sequences are lists and optionals their value or `None`, here and in what it
    gives. Raises `InputError` for inputs that do not fit, for open shapes that `shapes`
    does not fix and for a program below loop, and `InterpreterError` for one without a meaning on these inputs.
    """
    program = program_of(source, shapes=shapes, function=function)
    binder = InputBinder(input_specs(program), native=False)
    values = binder.from_mapping(inputs) if is_mapping(inputs) else binder.from_sequence(list(inputs))
    return list(program.run(values))


def input_specs(program: Program) -> list[TensorSpec]:
    """The inputs of a program, with the texts of named dimensions; `InputError` for one whose shape is open."""
    specs: list[TensorSpec] = []
    for entry in program.inputs:
        if entry.container is not None:
            specs.append(entry.container)
            continue
        if ANY in entry.shape:
            raise InputError(f"the shape of input {entry.name!r} is open: {entry}", help="fix it by shapes=")
        shape = tuple(dim if isinstance(dim, int) else str(dim) for dim in entry.shape)
        specs.append(TensorSpec(entry.name, entry.dtype, shape))
    return specs
