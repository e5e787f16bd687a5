"""The builder of topi ops for one relay op. `Body` builds the scalars of one index space."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Protocol, TypeAlias, TypeVar, cast

import numpy as np
from xdsl.dialects.builtin import (
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    TupleType,
    UnrealizedConversionCastOp,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.requirements import new_extents
from xrelay.dialects.shared.types import shape_of as shape_of_type
from xrelay.dialects.topi.build import Body, IndexLike, Number, compute, variables
from xrelay.dialects.topi.shapes import shape_of, tensor_type
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import ANY, Dim, Shape

__all__ = [
    "Body",
    "Build",
    "IndexLike",
    "Inserter",
    "Number",
    "Tensors",
    "TopiBuilder",
    "element_of",
    "read_broadcast",
    "tuple_fields",
]

OpT = TypeVar("OpT", bound=Operation)


class Inserter(Protocol):
    """Inserts ops before a relay op, as a conversion's rewriter does."""

    def insert(self, op: OpT) -> OpT:
        """Inserts `op` and returns it."""
        ...


class TopiBuilder:
    """Builds the topi ops of one relay op: its operands, result types and properties, and new ops before it."""

    op: Operation

    def __init__(self, op: Operation, inserter: Inserter):
        self.op, self.inserter = op, inserter

    @property
    def label(self) -> str:
        """The name of the op in labels of computes: `nn_relu`."""
        return self.op.name.removeprefix("relay.").replace(".", "_")

    # --- operands and result -----------------------------------------------------------------------------------

    def operand(self, index: int) -> SSAValue:
        """Returns operand `index`, a tensor whose extents are known or have names."""
        return self.checked(self.op.operands[index])

    def operands_of_tuple(self, index: int) -> list[SSAValue]:
        """Returns the tensors of operand `index`, a tuple built in this kernel."""
        return [self.checked(value) for value in tuple_fields(self.op.operands[index])]

    @staticmethod
    def shape(value: SSAValue) -> Shape:
        """Returns the shape of a tensor."""
        return shape_of(value)

    @staticmethod
    def element(value: SSAValue) -> Attribute:
        """Returns the element type of a tensor."""
        return tensor_type(value).element_type

    def checked(self, value: SSAValue) -> SSAValue:
        """Returns a tensor. Raises `LoweringError` if an extent is neither known nor has a name."""
        type = value.type
        if not isinstance(type, TensorType) or ANY in shape_of_type(type):
            raise LoweringError(
                f"{self.op.name} has an operand of type {type}; native code needs extents that are known or have names",
                help="fix the input shapes with shapes={…}",
            )
        return value

    def known(self, value: SSAValue, what: str) -> tuple[int, ...]:
        """Returns the shape of a tensor whose extents must be integers; `what` is its name in the error."""
        return self.known_extents(shape_of(value), what)

    def known_extents(self, shape: Sequence[Dim], what: str) -> tuple[int, ...]:
        """Returns extents that must be integers. Raises `LoweringError` for an extent with a name."""
        named = next((dim for dim in shape if not isinstance(dim, int)), None)
        if named is not None:
            raise LoweringError(
                f"{self.op.name}: native code needs known extents of {what}, found {named}",
                help="fix the input shapes with shapes={…}",
            )
        return tuple(dim for dim in shape if isinstance(dim, int))

    @cached_property
    def result_types(self) -> list[TensorType[Attribute]]:
        """The types of the op's tensors: its result, or the fields of its tuple."""
        type = self.op.results[0].type
        fields = list(type.types) if isinstance(type, TupleType) else [type]
        return [cast(TensorType[Attribute], field) for field in fields]

    @property
    def result_type(self) -> TensorType[Attribute]:
        """The type of the op's only tensor."""
        return self.result_types[0]

    @property
    def result_shape(self) -> Shape:
        """The shape of the op's only tensor."""
        return self.extents(0)

    def extents(self, field: int) -> Shape:
        """Returns the shape of a field of the result. Raises `LoweringError` as `checked` does."""
        type = self.result_types[field]
        shape = shape_of_type(type)
        if ANY in shape:
            raise LoweringError(
                f"{self.op.name} has a result of type {type}; native code needs extents that are known or have names",
                help="run relay-infer-type, or fix the input shapes with shapes={…}",
            )
        return shape

    def require_no_new_extents(self) -> None:
        """Raises `LoweringError` if the op introduces an extent: its result cannot be allocated."""
        if made := new_extents(self.op):
            raise LoweringError(f"it introduces the extent {made[0].name}; run relay-name-extents first")

    # --- properties --------------------------------------------------------------------------------------------

    def ints(self, name: str) -> tuple[int, ...]:
        """Returns an integer-array property; empty if it is absent."""
        return ints(self.op.properties.get(name))

    def integer(self, name: str) -> int:
        """Returns an integer property."""
        return cast(IntegerAttr[IntegerType], self.op.properties[name]).value.data

    def flag(self, name: str) -> bool:
        """Returns a boolean property."""
        return bool(self.integer(name))

    def number(self, name: str) -> float:
        """Returns a float property."""
        return cast(FloatAttr[Float64Type], self.op.properties[name]).value.data

    def held(self, name: str) -> float:
        """Returns a float property, rounded to the element type of the result."""
        return np.asarray(self.number(name)).astype(numpy_dtype(self.result_type.element_type)).item()

    def text(self, name: str) -> str:
        """Returns a string property."""
        return cast(StringAttr, self.op.properties[name]).data

    # --- building ----------------------------------------------------------------------------------------------

    def insert(self, op: OpT) -> OpT:
        """Adds a topi op before the relay op, with its location."""
        return self.inserter.insert(op)

    def compute(
        self,
        label: str,
        spatial: Mapping[str, Dim] | Sequence[Dim],
        element_type: Attribute,
        fill: Callable[[Body], SSAValue],
        *,
        reduce: Mapping[str, Dim] | None = None,
        init: Sequence[Number] = (),
    ) -> SSAValue:
        """Adds a `topi.compute` of one tensor; without names the variables of `spatial` are i0, i1, ….

        `init` has the first value of the accumulator. Pass `compute` of `xrelay.extend.strategies` to `insert` for
        several tensors.
        """
        spatial = spatial if isinstance(spatial, Mapping) else variables("i", spatial)
        op = compute(label, spatial, [element_type], lambda body: [fill(body)], reduce=reduce, init=init)
        return self.insert(op).results[0]

    def filled(self, value: SSAValue) -> SSAValue:
        """Fills a tensor of the result's type with a scalar, converted to its element type."""
        element = self.result_type.element_type
        return self.compute("full", self.result_shape, element, lambda b: b.convert(b.read(value), element))

    def scalar(self, label: str, value: Number, type: Attribute) -> SSAValue:
        """Builds a tensor of rank 0 with a number."""
        return self.compute(label, {}, type, lambda b: b.constant(value, type))

    def converted(self, label: str, value: SSAValue, element: Attribute) -> SSAValue:
        """Converts each element of a tensor, if the type differs."""
        if self.element(value) == element:
            return value
        shape = shape_of(value)
        return self.compute(label, shape, element, lambda b: b.convert(b.read(value, *b.spatial), element))

    def counted(self, buffer: SSAValue, count: SSAValue, field: int = 0) -> SSAValue:
        """Returns result `field` of the op, with an open extent: the first `count`, an i64, elements of a buffer.

        Only results of a kernel may have an open extent; `relay.cut` cuts the buffer after the call (see
        `counted_results`).
        """
        cast = UnrealizedConversionCastOp.get([buffer, count], [self.result_types[field]])
        return self.insert(cast).results[0]

    def map_elements(self, label: str, fill: Callable[[Body, list[SSAValue]], SSAValue]) -> list[SSAValue]:
        """Adds an elementwise compute: `fill` receives the operands' elements, broadcast to the result's shape."""
        sources = [self.operand(index) for index in range(len(self.op.operands))]
        shape = self.result_shape

        def body(b: Body) -> SSAValue:
            return fill(b, [read_broadcast(b, source, shape) for source in sources])

        return [self.compute(label, variables("i", shape), self.result_type.element_type, body)]


Tensors: TypeAlias = Sequence[SSAValue]
"""The tensors of a relay op, several if its result is a tuple."""

Build: TypeAlias = Callable[[TopiBuilder], Tensors]
"""Builds the topi ops of one relay op and returns its tensors."""


def read_broadcast(b: Body, source: SSAValue, shape: Sequence[Dim]) -> SSAValue:
    """Reads the element of `source` that is broadcast to the current point of an index space of `shape`."""
    extents = shape_of(source)
    first = len(shape) - len(extents)
    rows = zip(b.spatial[first:], extents, shape[first:], strict=True)
    return b.read(source, *(b.broadcast(at, extent, space) for at, extent, space in rows))


def tuple_fields(value: SSAValue) -> list[SSAValue]:
    """Returns the tensors of a tuple: a tuple that is already converted is a cast of its tensors."""
    owner = value.owner
    if isinstance(owner, UnrealizedConversionCastOp):
        return list(owner.inputs)
    raise LoweringError(f"a tuple of type {value.type} reaches a kernel from outside", help="run relay-outline-fused")


def element_of(value: SSAValue) -> Attribute:
    """Returns the element type of a tensor."""
    return tensor_type(value).element_type
