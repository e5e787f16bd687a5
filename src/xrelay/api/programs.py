"""Programs at any level: objects that map arrays to arrays, with the names and types of both.

`parse` reads the text of a program, and `interpret` runs a program without compiling it.

The level of a module follows from its ops: relay, topi and loop have interpreters; a compiled model runs natively.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument
from xdsl.utils.hints import isa

from xrelay.api.interface import spec_of
from xrelay.api.model import CompiledModel, load
from xrelay.api.sources import Shapes, Source, load_source, with_known_sizes
from xrelay.arguments import GivenShapes, checked_shapes
from xrelay.dialects.loop.signature import dim_arguments, input_arguments, scratch_count
from xrelay.dialects.shared.attribute_names import CONTAINER, NUM_OUTPUTS, VALUE_NAME
from xrelay.dialects.shared.types import ClosureType, OptionalType, SequenceType, is_complete, tensor_type
from xrelay.errors import InputError, TypeInferenceError
from xrelay.index_algebra.dims import Shape
from xrelay.interpreters.at_level import values_at_level
from xrelay.interpreters.call_progress import Progress
from xrelay.interpreters.loop.module import NamedSizes
from xrelay.interpreters.relay.run import HostValue
from xrelay.lowering.interface import ordered_outputs
from xrelay.passes.graph.tuple_leaves import leaf_types
from xrelay.passes.infra.module_level import module_level
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import verify_module
from xrelay.passes.loop.entry import call_single_kernel, check_declared_outputs
from xrelay.passes.loop.signature import argument_attrs
from xrelay.passes.types.infer_type import RelayInferTypePass
from xrelay.runtime.inputs import InputBinder, is_mapping
from xrelay.runtime.metadata import OPEN, TensorSpec


class Program(ABC):
    """A runnable program and its inputs and outputs."""

    level: str
    inputs: Sequence[TensorSpec]
    outputs: Sequence[TensorSpec]

    @abstractmethod
    def run(self, inputs: Sequence[HostValue], *, progress: Progress | None = None) -> Sequence[HostValue]:
        """Returns the outputs for `inputs`, which must have the program's dtypes and shapes.

        Sequences are lists, optionals their value or `None`. The interpreters of the topi and loop levels call
        `progress` before each call in the function.
        """


class NativeProgram(Program):
    """A compiled model."""

    level = "native"

    def __init__(self, model: CompiledModel):
        self._model = model
        self.inputs, self.outputs = model.inputs, model.outputs

    def run(self, inputs: Sequence[HostValue], *, progress: Progress | None = None) -> Sequence[HostValue]:
        """Runs the compiled model."""
        return self._model.run(list(inputs))


class ModuleProgram(Program):
    """A function of a module at a level that has an interpreter."""

    def __init__(self, module: ModuleOp, function: str):
        self._name = function
        self.level = module_level(module)
        if self.level == "relay":
            module = _with_known_types(module, function)
        elif self.level == "loop" and function == "main":
            module = module.clone()
            call_single_kernel(module)
            check_declared_outputs(module)
        self._module = module
        found = _function(module, function)
        if self.level == "loop":
            self.inputs, self.outputs = _buffers(found)
        else:
            self.inputs, self.outputs = _tensors(found)

    def run(self, inputs: Sequence[HostValue], *, progress: Progress | None = None) -> Sequence[HostValue]:
        """Runs the interpreter of the level."""
        return values_at_level(self.level, self._module, self._name, inputs, progress)


def program_of(source: Source | CompiledModel, *, shapes: Shapes | None = None, function: str = "main") -> Program:
    """Returns `source` as a program; a path of a compiled model (`.xrelay`) is loaded.

    `shapes` are input shapes of an ONNX model, or sizes of named dimensions of a text or a module.

    Raises the errors of `load` and `load_source`, and `InputError` for a module below loop or without the function.
    """
    if isinstance(source, CompiledModel):
        return NativeProgram(source)
    if isinstance(source, str | PathLike) and Path(source).suffix == ".xrelay":
        return NativeProgram(load(Path(source)))
    if isinstance(source, ModuleOp):
        return ModuleProgram(with_known_sizes(source, shapes), function)
    if is_onnx(source):
        return ModuleProgram(load_source(source, shapes=shapes), function)
    return ModuleProgram(with_known_sizes(load_source(source), shapes), function)


def is_onnx(source: Source | CompiledModel) -> bool:
    """Whether `source` is an ONNX model: a path, the model in memory, or its bytes."""
    if isinstance(source, str | PathLike):
        return Path(source).suffix == ".onnx"
    return not isinstance(source, ModuleOp | CompiledModel)


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
    shapes: GivenShapes | None = None,
    function: str = "main",
) -> list[Any]:
    """Runs a program by the interpreter of its level (relay, topi or loop), on numpy and without compiling.

    `source` is a module, a path or an ONNX model, as for `compile`. `inputs` are by name or in order, and are checked
    like those of a compiled model. In inputs and results, sequences are lists, and an optional is its value or `None`.
    Raises `InputError` for invalid inputs, for dynamic shapes that `shapes` does not fix and for a program below loop,
    and `InterpreterError` for a program that is undefined for these inputs.
    """
    program = program_of(source, shapes=checked_shapes(shapes), function=function)
    binder = InputBinder(input_specs(program), native=False)
    values = binder.from_mapping(inputs) if is_mapping(inputs) else binder.from_sequence(list(inputs))
    return list(program.run(values))


def input_specs(program: Program) -> Sequence[TensorSpec]:
    """Returns the inputs of a program. Raises `InputError` for a tensor with an unnamed dynamic extent."""
    for spec in program.inputs:
        if not spec.containers and OPEN in spec.shape:
            raise InputError(f"the shape of input {spec.name!r} is unknown: {spec}", help="pass it in shapes=")
    return program.inputs


def _function(module: ModuleOp, name: str) -> FuncOp:
    functions = [op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks]
    found = next((op for op in functions if op.sym_name.data == name), None)
    if found is None:
        names = ", ".join(f"@{op.sym_name.data}" for op in functions)
        raise InputError(f"the module has no function @{name} with a body", help=f"it has {names}" if names else None)
    return found


def _with_known_types(module: ModuleOp, name: str) -> ModuleOp:
    """Returns the module, or a copy with inferred types if the types of the function are incomplete."""
    types = _function(module, name).function_type
    if all(is_complete(type) for type in (*types.inputs, *types.outputs)):
        return module
    module = module.clone()
    RelayInferTypePass().apply(Context(), module)
    return module


def _tensors(function: FuncOp) -> tuple[list[TensorSpec], list[TensorSpec]]:
    types = function.function_type
    names = _names(function.arg_attrs, [arg.name_hint for arg in function.body.block.args], "input")
    inputs = [_spec(name, type) for name, type in zip(names, types.inputs, strict=True)]
    results = leaf_types(types.outputs.data)
    names = _names(function.res_attrs, [None] * len(results), "output")
    outputs = [_spec(name, type) for name, type in zip(names, results, strict=True)]
    return inputs, outputs


def _buffers(function: FuncOp) -> tuple[list[TensorSpec], list[TensorSpec]]:
    """Returns the inputs and outputs of a function that writes its results; arena, scratch and extents follow them."""
    if not isinstance(function.attributes.get(NUM_OUTPUTS), IntegerAttr):
        raise InputError(f"@{function.sym_name.data} lacks the attribute {NUM_OUTPUTS}, its number of outputs")
    args = list(function.body.block.args)
    rest, split = scratch_count(function) + len(dim_arguments(function)), len(input_arguments(function))
    names = _names(function.arg_attrs, [arg.name_hint for arg in args], "buffer")
    rows = zip(names, args[: len(args) - rest], NamedSizes(function).shapes, strict=False)
    written = [(name, _type_of(name, value, shape, function)) for name, value, shape in rows]
    outputs = enumerate(ordered_outputs(function, written[split:]))
    return [_spec(*each) for each in written[:split]], [
        _spec(name or f"output{n}", type) for n, (name, type) in outputs
    ]


def _type_of(name: str, value: BlockArgument, shape: Shape, function: FuncOp) -> Attribute:
    """Returns the type of a buffer or list that is an argument of `function`."""
    container = argument_attrs(function)[value.index].get(CONTAINER)
    if container is not None:
        return container
    if not isa(value.type, MemRefType):
        raise InputError(f"argument {name!r} is {value.type}; the loop level has memrefs only")
    return tensor_type(shape, value.type.element_type)


def _spec(name: str, type: Attribute) -> TensorSpec:
    if not isinstance(type, FunctionType | ClosureType | SequenceType | OptionalType) and not isa(type, TensorType):
        raise InputError(f"{name!r} is {type}; only tensors can be compared", help="run relay-infer-type first")
    try:
        return spec_of(name, type)
    except TypeInferenceError as error:
        raise InputError(f"{name!r} is {type}: {error.message}") from error


def _names(attributes: ArrayAttr[DictionaryAttr] | None, hints: Sequence[str | None], kind: str) -> list[str]:
    """Returns `relay.name` of each argument or result, else its name hint, else its kind and number."""
    entries = attributes.data if attributes is not None else ()
    names: list[str] = []
    for number, hint in enumerate(hints):
        known = entries[number].data.get(VALUE_NAME) if number < len(entries) else None
        fallback = hint if hint is not None else f"{kind}{number}"
        names.append(known.data if isinstance(known, StringAttr) else fallback)
    return names
