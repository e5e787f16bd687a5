"""What a compiled model must know of the program it came from: inputs, outputs, weights, kernels and their sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FusedLoc,
    MemRefType,
    ModuleOp,
    NameLoc,
    StringAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xrelay.dialects.attribute_names import ARENA, VALUE_NAME
from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.types import element_type_of, is_static, shape_of
from xrelay.dialects.relay.structure.constant import array_of
from xrelay.dialects.relay.structure.weights import WeightAttr
from xrelay.errors import InputError, LoweringError
from xrelay.passes.infra.locations import location_of
from xrelay.passes.infra.verify import walk_ops
from xrelay.runtime.metadata import KernelInfo, TensorSpec


@dataclass(frozen=True)
class Signature:
    """Inputs and outputs of `@main`, and the kernels it calls."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    kernels: tuple[KernelInfo, ...]


def main_function(module: ModuleOp) -> FuncOp:
    """`@main`; raises `InputError` where the module has none, or only declares it."""
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    for function in functions:
        if function.sym_name.data == "main" and not function.is_declaration:
            return function
    names = ", ".join(f"@{function.sym_name.data}" for function in functions) or "no functions"
    raise InputError(f"the module has no function @main with a body, it has {names}", help="call the entry @main")


def signature_of(module: ModuleOp) -> Signature:
    """The interface of a module of fused kernels, where tuples are flattened and every type is known.

    Raises `LoweringError` for an input or output whose shape is not static.
    """
    main = main_function(module)
    kernels = [op for op in module.ops if isinstance(op, FuncOp) and op is not main and not op.is_declaration]
    hints = [argument.name_hint for argument in main.body.block.args]
    return Signature(
        _specs("input", main, main.function_type.inputs.data, main.arg_attrs, hints),
        _specs("output", main, main.function_type.outputs.data, main.res_attrs, []),
        tuple(KernelInfo(kernel.sym_name.data, _sources(kernel)) for kernel in kernels),
    )


def weight_arrays(attributes: Sequence[Attribute]) -> tuple[list[TensorSpec], list[NDArray[Any]]]:
    """Tables and arrays of the weights of `@main`; raises `UnresolvedWeightError` for one whose bytes are missing."""
    arrays: list[NDArray[Any]] = []
    specs: list[TensorSpec] = []
    for number, attribute in enumerate(attributes):
        name = f"constant{number}"
        if isinstance(attribute, WeightAttr):
            array, name = attribute.data.array, attribute.data.name
        elif isinstance(attribute, DenseIntOrFPElementsAttr):
            array = array_of(attribute)
        else:
            raise LoweringError(f"a weight is {attribute}, which has no bytes")
        arrays.append(array)
        specs.append(TensorSpec(name, str(array.dtype), array.shape))
    return specs, arrays


def arena_size(module: ModuleOp) -> int:
    """Bytes of the arena that `loop-plan-memory` gave `@main`."""
    main = main_function(module)
    marks = main.arg_attrs.data if main.arg_attrs is not None else ()
    for argument, attributes in zip(main.body.block.args, marks, strict=True):
        if ARENA in attributes.data and isinstance(argument.type, MemRefType):
            return argument.type.get_shape()[0]
    return 0


def _specs(
    kind: str,
    main: FuncOp,
    types: Sequence[Attribute],
    attributes: ArrayAttr[DictionaryAttr] | None,
    hints: Sequence[str | None],
) -> tuple[TensorSpec, ...]:
    """One row for each argument or result."""
    specs: list[TensorSpec] = []
    for number, type_ in enumerate(types):
        given = attributes.data[number].data.get(VALUE_NAME) if attributes is not None else None
        hint = hints[number] if number < len(hints) else None
        name = given.data if isinstance(given, StringAttr) else hint if hint is not None else f"{kind}{number}"
        if not is_static(type_):
            raise LoweringError(
                f"{kind} {name!r} is {type_}, whose shape is not known when compiling",
                location=location_of(main),
                help="fix it with shapes= or --shapes",
            )
        shape = tuple(int(str(extent)) for extent in shape_of(type_))
        specs.append(TensorSpec(name, str(numpy_dtype(element_type_of(type_))), shape))
    return tuple(specs)


def _sources(kernel: FuncOp) -> tuple[str, ...]:
    """The names of the source nodes that a kernel computes, in order."""
    found: dict[str, None] = {}
    for op in walk_ops(kernel):
        found |= dict.fromkeys(source_names(op.location))
    return tuple(found)


def source_names(location: Attribute) -> list[str]:
    """The names that source nodes gave a location, in order: of `loc(fused["conv1", "relu1"])` both."""
    names: list[str] = []
    pending: list[Attribute] = [location]
    while pending:
        match pending.pop():
            case NameLoc() as named:
                names.append(named.desc.data)
            case FusedLoc() as fused if isinstance(fused.locations, ArrayAttr):
                pending += reversed(fused.locations.data)
            case _:
                pass
    return names
