"""The interface of a compiled model, read from the attributes of its last module: inputs, outputs, weights, kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xrelay.dialects.relay.structure.constant import array_of
from xrelay.dialects.relay.structure.weights import WeightAttr
from xrelay.dialects.shared.attribute_names import VALUE_NAME
from xrelay.dialects.shared.container_types import ClosureType, OptionalType, SequenceType
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.types import dims_in, element_of_any_rank, shape_of
from xrelay.errors import InputError, LoweringError
from xrelay.index_algebra.dims import AnyDim, Dim, names_of, symbol
from xrelay.index_algebra.requirement import LHS, RHS
from xrelay.lowering.interface import CheckEntry, TensorEntry, read_interface
from xrelay.runtime.arena import aligned
from xrelay.runtime.dim_text import name_and_size
from xrelay.runtime.metadata import (
    ANY_RANK,
    OPEN,
    OPTIONAL,
    SEQUENCE,
    CheckInfo,
    KernelInfo,
    MemoryInfo,
    TensorSpec,
    function_spec,
)


@dataclass(frozen=True)
class ModelTables:
    """The tables of a compiled model, in the order of `@main`'s arguments, and the arrays of its weights."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    weights: tuple[TensorSpec, ...]
    arrays: tuple[NDArray[Any], ...]
    arena_size: int
    kernels: tuple[KernelInfo, ...]
    calls: tuple[KernelInfo, ...]
    dims: tuple[str, ...]
    checks: tuple[CheckInfo, ...]
    polls: bool
    straight: bool
    memory: MemoryInfo


def tables_of(module: ModuleOp) -> ModelTables:
    """Returns the tables of a module below the loop level.

    Raises `LoweringError` if the module lacks attributes needed to run it, or if the shape of an input or output does
    not follow from the module's dimension names. Raises `UnresolvedWeightError` for a weight without data.
    """
    interface = read_interface(module)
    arrays = tuple(_checked_array(entry) for entry in interface.weights)
    return ModelTables(
        tuple(_spec("input", entry, interface.dims) for entry in interface.inputs),
        tuple(_spec("output", entry, None) for entry in interface.outputs),
        tuple(
            TensorSpec(entry.name, str(array.dtype), array.shape)
            for entry, array in zip(interface.weights, arrays, strict=True)
        ),
        arrays,
        interface.arena_size,
        tuple(KernelInfo(kernel.name, kernel.sources) for kernel in interface.kernels),
        tuple(KernelInfo(call.name, call.sources) for call in interface.calls),
        interface.dims,
        tuple(map(_check_info, interface.checks)),
        interface.polls,
        interface.straight,
        MemoryInfo(**asdict(interface.memory)),
    )


def main_function(module: ModuleOp) -> FuncOp:
    """Returns `@main`. Raises `InputError` if the module has none, or only a declaration."""
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    for function in functions:
        if function.sym_name.data == "main" and not function.is_declaration:
            return function
    names = ", ".join(f"@{function.sym_name.data}" for function in functions) or "no functions"
    raise InputError(
        f"the module has no function @main with a body, it has {names}", help="name the entry function @main"
    )


def check_names(module: ModuleOp) -> None:
    """Raises `LoweringError` for an input of `@main` with a dimension whose size cannot be derived.

    Each name must be determined by an input extent of the form `a * name + b`. Extents of outputs then follow from
    names, or depend on data, which the lowering of each op checks.
    """
    main = main_function(module)
    attributes = main.arg_attrs.data if main.arg_attrs is not None else ()
    determined = {
        name
        for type in main.function_type.inputs
        for dim in dims_in(type)
        if (name := _name_determined_by(dim)) is not None
    }
    for number, argument in enumerate(main.body.block.args):
        open_dims = [dim for dim in dims_in(argument.type) if isinstance(dim, AnyDim) or not dim.names <= determined]
        if not open_dims:
            continue
        recorded = attributes[number].data.get(VALUE_NAME) if attributes else None
        hint = argument.name_hint if argument.name_hint is not None else f"input{number}"
        name = recorded.data if isinstance(recorded, StringAttr) else hint
        raise _open_shape(f"input {name!r}", argument.type, location_of(main))


def _name_determined_by(dim: Dim) -> str | None:
    """Returns the name whose size follows from an extent, or `None`."""
    found = name_and_size(str(dim), 0)
    return found[0] if found is not None else None


def _spec(kind: str, entry: TensorEntry, names: Sequence[str] | None) -> TensorSpec:
    """Returns the spec of a tensor, with dynamic extents as text, which may use only `names` unless that is `None`."""
    if isinstance(entry.type, ClosureType):
        return function_spec(entry.name)
    if isinstance(entry.type, SequenceType | OptionalType):
        return container_spec(entry.name, entry.type)
    dims = shape_of(entry.type)
    if any(isinstance(dim, AnyDim) or (names is not None and not names_of(dim).issubset(names)) for dim in dims):
        raise _open_shape(f"{kind} {entry.name!r}", entry.type, None)
    shape = tuple(dim if isinstance(dim, int) else str(dim) for dim in dims)
    return TensorSpec(entry.name, str(numpy_dtype(entry.type.element_type)), shape)


def container_spec(name: str, type: SequenceType | OptionalType) -> TensorSpec:
    """Returns the spec of a sequence or optional of tensors; dynamic extents in it have no names."""
    containers: list[str] = []
    inner: Attribute = type
    while isinstance(inner, SequenceType | OptionalType):
        containers.append(SEQUENCE if isinstance(inner, SequenceType) else OPTIONAL)
        inner = inner.element
    element = element_of_any_rank(inner)
    assert element is not None, "lists contain tensors only"
    shape = shape_of(inner) if isinstance(inner, TensorType) else (ANY_RANK,)
    extents = tuple(extent if isinstance(extent, int | str) else OPEN for extent in shape)
    return TensorSpec(name, str(numpy_dtype(element)), extents, containers=tuple(containers))


def _check_info(check: CheckEntry) -> CheckInfo:
    requirement = check.requirement
    if requirement is None:
        return CheckInfo(check.text, sources=check.sources)
    relation = replace(requirement, lhs=symbol(LHS), rhs=symbol(RHS)).text
    return CheckInfo(check.text, relation, (str(requirement.lhs), str(requirement.rhs)), check.sources)


def _open_shape(subject: str, type_: Attribute, location: str | None) -> LoweringError:
    return LoweringError(
        f"{subject} is {type_}, whose shape is not known when compiling",
        location=location,
        help="fix it with shapes= or --shapes",
    )


def _checked_array(entry: TensorEntry) -> NDArray[Any]:
    """Returns the data of a weight. Raises `LoweringError` unless its size and shape match its buffer."""
    array, type = _array(entry), entry.type
    fits = isinstance(type, TensorType) and array.dtype.itemsize == numpy_dtype(type.element_type).itemsize
    if not fits or array.shape != shape_of(type):
        raise LoweringError(f"weight {entry.name!r} is {array.dtype}{list(array.shape)}, its buffer is {type}")
    return array


def _array(entry: TensorEntry) -> NDArray[Any]:
    """Returns the data of a weight in the layout of native code. Raises `UnresolvedWeightError` if it is missing.

    The weight then refers to this data, moved one weight at a time, so that all weights are never in memory twice.
    """
    if isinstance(entry.value, WeightAttr):
        weight = entry.value.data
        weight.move_to(aligned(weight.array))
        return weight.array
    if isinstance(entry.value, DenseIntOrFPElementsAttr):
        return array_of(entry.value)
    raise LoweringError(f"weight {entry.name!r} is {entry.value}, which has no bytes")
