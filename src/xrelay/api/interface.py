"""The interface of a compiled model, read from the attributes of its last module: inputs, outputs, weights, kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    VectorType,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xrelay.dialects.relay.structure.constant import array_of
from xrelay.dialects.relay.structure.weights import WeightAttr
from xrelay.dialects.shared.attribute_names import (
    ARENA_SIZE,
    CALLS,
    CHECKS,
    DIMS,
    INPUTS,
    KERNELS,
    MEMORY,
    OUTPUTS,
    POLLS,
    STRAIGHT,
    VALUE_NAME,
    WEIGHTS,
)
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.requirements import RequirementsAttr
from xrelay.dialects.shared.types import (
    ClosureType,
    OptionalType,
    SequenceType,
    dims_in,
    element_of_any_rank,
    element_type_of,
    shape_of,
)
from xrelay.errors import InputError, LoweringError
from xrelay.index_algebra.dims import AnyDim, Dim, names_of, symbol
from xrelay.index_algebra.requirement import LHS, RHS
from xrelay.runtime.arena import align
from xrelay.runtime.dim_text import name_and_size
from xrelay.runtime.metadata import (
    ANY_RANK,
    OPEN,
    OPTIONAL,
    SEQUENCE,
    CheckInfo,
    KernelInfo,
    MemoryInfo,
    ModelMetadata,
    TensorSpec,
    function_spec,
)

_NONE: Final = ArrayAttr[Attribute]([])
_REQUIRED: Final = frozenset({INPUTS, OUTPUTS, WEIGHTS})
"""The lists that every interface has; others are empty if they are absent."""


def tables_of(module: ModuleOp) -> tuple[ModelMetadata, tuple[NDArray[Any], ...]]:
    """Returns the tables of a module below the loop level, without its target, and the arrays of the weights.

    The attributes are described in `lowering/interface.py`. Raises `LoweringError` if one is absent or malformed, or if
    the shape of an input or output does not follow from the module's dimension names. Raises `UnresolvedWeightError`
    for a weight without data.
    """
    size = module.attributes.get(ARENA_SIZE)
    if not isinstance(size, IntegerAttr):
        raise _malformed(module, ARENA_SIZE)
    dims = _texts(module, module.attributes.get(DIMS, _NONE), DIMS)
    weights = _tensors(module, WEIGHTS)
    arrays = tuple(_checked_array(*weight) for weight in weights)
    metadata = ModelMetadata(
        inputs=tuple(_spec("input", name, type, dims) for name, type, _ in _tensors(module, INPUTS)),
        outputs=tuple(_spec("output", name, type, None) for name, type, _ in _tensors(module, OUTPUTS)),
        weights=tuple(
            TensorSpec(name, str(array.dtype), array.shape) for (name, _, _), array in zip(weights, arrays, strict=True)
        ),
        arena_size=size.value.data,
        kernels=_kernels(module, KERNELS),
        calls=_kernels(module, CALLS),
        dims=dims,
        checks=tuple(_check(module, row) for row in _rows(module, CHECKS)),
        polls=POLLS in module.attributes,
        straight=STRAIGHT in module.attributes,
        memory=_memory(module),
    )
    return metadata, arrays


def _rows(module: ModuleOp, key: str) -> Sequence[DictionaryAttr]:
    rows = module.attributes.get(key, None if key in _REQUIRED else _NONE)
    if not is_attribute(rows, ArrayAttr[DictionaryAttr]):
        raise _malformed(module, key)
    return rows.data


def _tensors(module: ModuleOp, key: str) -> list[tuple[str, Attribute, Attribute | None]]:
    """Returns the name, type and value of each row."""
    found: list[tuple[str, Attribute, Attribute | None]] = []
    for row in _rows(module, key):
        name, type = row.data.get("name"), row.data.get("type")
        if not isinstance(type, SequenceType | OptionalType | ClosureType | TensorType):
            raise _malformed(module, key)
        if not isinstance(name, StringAttr):
            raise _malformed(module, key)
        found.append((name.data, type, row.data.get("value")))
    return found


def _kernels(module: ModuleOp, key: str) -> tuple[KernelInfo, ...]:
    found: list[KernelInfo] = []
    for row in _rows(module, key):
        name = row.data.get("name")
        if not isinstance(name, StringAttr):
            raise _malformed(module, key)
        found.append(KernelInfo(name.data, _texts(module, row.data.get("sources", _NONE), key)))
    return tuple(found)


def _check(module: ModuleOp, row: DictionaryAttr) -> CheckInfo:
    text, requires = row.data.get("text"), row.data.get("requires")
    if not isinstance(text, StringAttr):
        raise _malformed(module, CHECKS)
    sources = _texts(module, row.data.get("sources", _NONE), CHECKS)
    if not isinstance(requires, RequirementsAttr) or len(requires.data) != 1:
        return CheckInfo(text.data, sources=sources)
    (requirement,) = requires.data
    relation = replace(requirement, lhs=symbol(LHS), rhs=symbol(RHS)).text
    return CheckInfo(text.data, relation, (str(requirement.lhs), str(requirement.rhs)), sources)


def _memory(module: ModuleOp) -> MemoryInfo:
    """Returns the memory that `loop-plan-memory` recorded."""
    needs = module.attributes.get(MEMORY, DictionaryAttr({}))
    if not isinstance(needs, DictionaryAttr):
        raise _malformed(module, MEMORY)
    numbers = [needs.data.get(name, IntegerAttr(0, i64)) for name in ("dynamic_buffers", "kernels", "each_thread")]
    sizes = [each.value.data for each in numbers if isinstance(each, IntegerAttr)]
    if len(sizes) < len(numbers):
        raise _malformed(module, MEMORY)
    return MemoryInfo(*sizes, uncounted=_texts(module, needs.data.get("uncounted", _NONE), MEMORY))


def _texts(module: ModuleOp, texts: Attribute, key: str) -> tuple[str, ...]:
    if not is_attribute(texts, ArrayAttr[StringAttr]):
        raise _malformed(module, key)
    return tuple(text.data for text in texts)


def _malformed(module: ModuleOp, key: str) -> LoweringError:
    found = module.attributes.get(key)
    return LoweringError(
        f"the module attribute {key} is {'absent' if found is None else str(found)}",
        location=location_of(module),
        help="compile from the loop level or above; convert-loop-to-scf writes it",
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


def check_values(main: FuncOp) -> None:
    """Raises `InputError` if a parameter or result of `@main`, at the relay level, is a buffer, vector or scalar."""
    for what, types in (("parameter", main.function_type.inputs), ("result", main.function_type.outputs)):
        for number, type in enumerate(types):
            if isinstance(type, AnyFloat | IntegerType | IndexType | MemRefType | VectorType):
                raise InputError(
                    f"{what} #{number} of @main is of type {type}, but ops of relay compute tensors",
                    location=location_of(main),
                    help="use a tensor: a number is a tensor<f32>",
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


def _spec(kind: str, name: str, type: Attribute, names: Sequence[str] | None) -> TensorSpec:
    """Returns the spec of a tensor; its extents may use only `names` unless that is `None`."""
    if isinstance(type, TensorType):
        dims = shape_of(type)
        if any(isinstance(dim, AnyDim) or (names is not None and not names_of(dim).issubset(names)) for dim in dims):
            raise _open_shape(f"{kind} {name!r}", type, None)
    return spec_of(name, type)


def spec_of(name: str, type: Attribute) -> TensorSpec:
    """Returns the spec of a value; dynamic extents are texts, and `?` if they have no name."""
    if isinstance(type, FunctionType | ClosureType):
        return function_spec(name)
    if isinstance(type, SequenceType | OptionalType):
        return container_spec(name, type)
    shape = tuple(dim if isinstance(dim, int) else str(dim) for dim in shape_of(type))
    return TensorSpec(name, str(numpy_dtype(element_type_of(type))), shape)


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


def _open_shape(subject: str, type_: Attribute, location: str | None) -> LoweringError:
    return LoweringError(
        f"{subject} is {type_}, whose shape is not known when compiling",
        location=location,
        help="fix it with shapes= or --shapes",
    )


def _checked_array(name: str, type: Attribute, value: Attribute | None) -> NDArray[Any]:
    """Returns the data of a weight in the layout of native code. Raises `UnresolvedWeightError` if it is missing.

    The weight then refers to this data, moved one weight at a time, so that all weights are never in memory twice.
    Raises `LoweringError` unless size and shape match the weight's buffer.
    """
    if isinstance(value, WeightAttr):
        weight = value.data
        weight.move_to(align(weight.array))
        array = weight.array
    elif isinstance(value, DenseIntOrFPElementsAttr):
        array = array_of(value)
    else:
        raise LoweringError(f"weight {name!r} is {value}, which has no bytes")
    fits = isinstance(type, TensorType) and array.dtype.itemsize == numpy_dtype(type.element_type).itemsize
    if not fits or array.shape != shape_of(type):
        raise LoweringError(f"weight {name!r} is {array.dtype}{list(array.shape)}, its buffer is {type}")
    return array
