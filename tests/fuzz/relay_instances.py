"""Random uses of any Relay operator: its documented example with other extents, element types and properties.

    module = random_instance(rng, "nn.conv2d")        # `@main` with the op; None if the draw is invalid

The example determines the operands of the op, the relations of their extents and the properties that are set, so each
new operator is covered as soon as it is registered. Equal extents of the example mostly stay equal. A draw that type
inference rejects is invalid; the rejection must be an `XRelayError`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
from support.relay_examples import example_module
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    TensorType,
    TupleType,
    f64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import OptionalDef, PropertyDef, VerificationContext
from xdsl.utils.exceptions import VerifyException

from fuzz.special_values import Array, random_array
from xrelay.dialects.relay.core.attribute_values import float_array, int_array
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.dialects.shared.types import IncompleteType, shape_of, tensor_type
from xrelay.errors import XRelayError
from xrelay.index_algebra.dims import Dim, symbol
from xrelay.passes.graph.replacements import retype
from xrelay.passes.infra.verify import verify_module
from xrelay.passes.types.infer_type import infer_types

EXTENTS = (1, 2, 3, 4, 5, 7, 8, 13)
NUMBERS = (0, 1, 1, 2, 2, 3, 5, 8, -1, -1, -2, -7)
LARGE = (2**31, -(2**31), 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, -0.0, 1.0, 0.5, -1.5, 3.0, 1e-5, float("inf"), float("-inf"), float("nan"))
DTYPES = (
    *("float32", "float32", "float64", "float16", "bfloat16", "bool"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)
MAX_ELEMENTS = 20_000
"""The maximum size in elements of a tensor in an instance that runs."""


def random_instance(rng: np.random.Generator, name: str) -> ModuleOp | None:
    """Returns `@main` with a random use of the op of this name; `None` if the draw is invalid."""
    module = example_module(relay_ops()[name])
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    if not all(isinstance(type, TensorType) for type in function.function_type.inputs):
        return None
    types = _other_parameters(rng, function)
    for op in function.walk():
        if isinstance(op, RelayOp) and not _prepares(op, name):
            _change_properties(rng, op)
        if op is not function and not isinstance(op, ConstantOp):
            types |= dict.fromkeys(op.results, IncompleteType())
    retype(types)
    results = [IncompleteType()] * len(function.function_type.outputs)
    function.function_type = FunctionType.from_lists(function.body.block.arg_types, results)
    try:
        infer_types(module)
    except XRelayError:
        return None
    verify_module(module)
    return module


def is_small(module: ModuleOp) -> bool:
    """Whether each tensor has at most `MAX_ELEMENTS`, with dynamic extents ignored and extents of 0 counted as 1."""
    types = [type for op in module.walk() for result in op.results for type in _tensors(result.type)]
    extents = [[max(extent, 1) for extent in shape_of(type) if isinstance(extent, int)] for type in types]
    return all(np.prod(known, dtype=np.float64) <= MAX_ELEMENTS for known in extents)


def random_arguments(rng: np.random.Generator, module: ModuleOp, domains: Sequence[str]) -> list[Array]:
    """Returns inputs of `@main`, each from one of `domains`; a named extent has one random size."""
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    sizes: dict[str, int] = {}
    arrays: list[Array] = []
    for type in function.function_type.inputs:
        shape = [_size(rng, extent, sizes) for extent in shape_of(type)]
        assert isinstance(type, TensorType)
        domain = domains[int(rng.integers(len(domains)))]
        arrays.append(random_array(rng, tuple(shape), numpy_dtype(type.element_type), domain))
    return arrays


def _size(rng: np.random.Generator, extent: Dim, sizes: dict[str, int]) -> int:
    return extent if isinstance(extent, int) else sizes.setdefault(str(extent), int(rng.choice((0, *EXTENTS))))


def _tensors(type: Attribute) -> list[Attribute]:
    if isinstance(type, TupleType):
        return [tensor for field in type.types for tensor in _tensors(field)]
    return [type] if isinstance(type, TensorType) else []


def _other_parameters(rng: np.random.Generator, function: FuncOp) -> dict[SSAValue, Attribute]:
    """Other parameter types: other extents, some of them named, and other elements; equal extents mostly stay equal."""
    extents: dict[Dim, Dim] = {}
    elements: dict[Attribute, Attribute] = {}
    types: dict[SSAValue, Attribute] = {}
    keeps, names = rng.random() < 0.3, rng.random() < 0.3
    for argument in function.body.block.args:
        type = SSAValue.get(argument, type=TensorType).type
        shape = [_other_extent(rng, extent, extents, names) if not keeps else extent for extent in shape_of(type)]
        element = elements.setdefault(type.element_type, _other_element(rng, type.element_type))
        types[argument] = tensor_type(shape, element)
    return types


def _other_extent(rng: np.random.Generator, extent: Dim, extents: dict[Dim, Dim], names: bool) -> Dim:
    chosen = rng.random()
    if chosen < 0.05:
        return int(rng.choice((0, *EXTENTS)))
    if extent not in extents:
        known = extent if chosen < 0.5 else 0 if chosen < 0.55 else int(rng.choice(EXTENTS))
        extents[extent] = symbol(f"n{len(extents)}") if names and rng.random() < 0.5 else known
    return extents[extent]


def _other_element(rng: np.random.Generator, element: Attribute) -> Attribute:
    return element if rng.random() < 0.5 else element_type(str(rng.choice(DTYPES)))


def _prepares(op: RelayOp, name: str) -> bool:
    """Whether `op` computes an operand of the op of this name: its properties may matter, as for ascending rows."""
    return any(use.operation.name == f"relay.{name}" for result in op.results for use in result.uses)


def _change_properties(rng: np.random.Generator, op: RelayOp) -> None:
    """Changes some properties to other values of their kind, and sets or removes optional ones."""
    definitions = op.get_irdl_definition().properties
    for name, definition in definitions.items():
        if rng.random() > 0.3:
            continue
        old = op.properties.get(name)
        if isinstance(definition, OptionalDef) and rng.random() < 0.3:
            op.properties.pop(name, None)
        elif name.endswith("dtype"):
            drawn = element_type(str(rng.choice(DTYPES)))
            if _fits(definition, drawn):
                op.properties[name] = drawn
        elif old is not None:
            op.properties[name] = _other_value(rng, op, name, old)


def _fits(definition: PropertyDef, value: Attribute) -> bool:
    """Whether a property may have this value; some dtypes must be integers, for example."""
    try:
        definition.constr.verify(value, VerificationContext())
    except VerifyException:
        return False
    return True


def _other_value(rng: np.random.Generator, op: Operation, name: str, old: Attribute) -> Attribute:
    """Returns another value of the kind of `old`."""
    if isinstance(old, IntegerAttr):
        kind = old.type
        assert isinstance(kind, IntegerType)
        return IntegerAttr(int(rng.integers(2)) if kind.width.data == 1 else _number(rng), kind)
    if isinstance(old, FloatAttr):
        return FloatAttr(float(rng.choice(FLOATS)), f64)
    if isinstance(old, StringAttr):
        return StringAttr(str(rng.choice([old.data, *_words(type(op))])))
    if isinstance(old, DenseArrayBase):
        values = list(old.get_values())
        if values and rng.random() < 0.8:
            place = int(rng.integers(len(values)))
            values[place] = float(rng.choice(FLOATS)) if old.elt_type == f64 else _number(rng)
        elif rng.random() < 0.5:
            values = values[:-1]
        else:
            values = [*values, 1]
        return float_array([float(each) for each in values]) if old.elt_type == f64 else int_array([*map(int, values)])
    return old


def _number(rng: np.random.Generator) -> int:
    return int(rng.choice(LARGE if rng.random() < 0.05 else NUMBERS))


@cache
def _words(op: type[Operation]) -> tuple[str, ...]:
    """The quoted words in the documentation of an op, which include the values of its string properties."""
    return tuple(sorted(set(re.findall(r"[\"'`](\w+)[\"'`]", op.__doc__ or "")))) or ("",)
