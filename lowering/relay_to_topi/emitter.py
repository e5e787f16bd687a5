"""`TopiEmitter`: gives an implementation the relay op's operands and properties, and inserts its topi ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

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
from xrelay.dialects.topi.build import Body, Number, compute, variables
from xrelay.dialects.topi.shapes import shape_of, tensor_type
from xrelay.errors import LoweringError
from xrelay.passes.infra.conversion import ConversionRewriter

OpT = TypeVar("OpT", bound=Operation)


class TopiEmitter:
    """Serves the implementation of one relay op."""

    op: Operation

    def __init__(self, op: Operation, rewriter: ConversionRewriter):
        self.op, self.rewriter = op, rewriter

    # --- operands and result -----------------------------------------------------------------------------------

    def operand(self, index: int) -> SSAValue:
        """Operand `index`, a tensor of static shape."""
        return self.checked(self.op.operands[index])

    def operands_of_tuple(self, index: int) -> list[SSAValue]:
        """The tensors of operand `index`, a tuple made in this kernel."""
        return [self.checked(value) for value in tuple_fields(self.op.operands[index])]

    def checked(self, value: SSAValue) -> SSAValue:
        """`value`, refused where its shape is not known: topi's index spaces are static."""
        type = value.type
        if not isinstance(type, TensorType) or any(extent < 0 for extent in type.get_shape()):
            raise LoweringError(
                f"{self.op.name} has an operand of type {type}; native code needs static shapes",
                help="fix the input shapes with shapes={…}",
            )
        return value

    @property
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
    def result_shape(self) -> tuple[int, ...]:
        """The shape of the op's only tensor."""
        return self.result_type.get_shape()

    # --- properties --------------------------------------------------------------------------------------------

    def ints(self, name: str) -> tuple[int, ...]:
        """An integer-array property; empty where it is absent."""
        return ints(self.op.properties.get(name))

    def integer(self, name: str) -> int:
        """An integer property."""
        return cast(IntegerAttr[IntegerType], self.op.properties[name]).value.data

    def flag(self, name: str) -> bool:
        """A boolean property."""
        return bool(self.integer(name))

    def number(self, name: str) -> float:
        """A float property."""
        return cast(FloatAttr[Float64Type], self.op.properties[name]).value.data

    def text(self, name: str) -> str:
        """A string property."""
        return cast(StringAttr, self.op.properties[name]).data

    # --- building ----------------------------------------------------------------------------------------------

    def insert(self, op: OpT) -> OpT:
        """Add a topi op before the relay op, with its location."""
        return self.rewriter.insert(op)

    def compute(
        self,
        label: str,
        spatial: Mapping[str, int],
        element_type: Attribute,
        fill: Callable[[Body], SSAValue],
        *,
        reduce: Mapping[str, int] | None = None,
        init: Sequence[Number] = (),
    ) -> SSAValue:
        """Add a `topi.compute` of one tensor."""
        op = compute(label, spatial, [element_type], lambda body: [fill(body)], reduce=reduce, init=init)
        return self.insert(op).results[0]

    def counted(self, buffer: SSAValue, count: SSAValue, field: int = 0) -> SSAValue:
        """Result `field` of the op, of open extent: as many elements of a buffer as `count`, an i64, says.

        Only what a kernel returns may be so; see `counted_results`.
        """
        cast = UnrealizedConversionCastOp.get([buffer, count], [self.result_types[field]])
        return self.insert(cast).results[0]

    def map_elements(self, label: str, fill: Callable[[Body, list[SSAValue]], SSAValue]) -> list[SSAValue]:
        """Add an elementwise compute: `fill` gets the operands' elements, broadcast to the result's shape."""
        sources = [self.operand(index) for index in range(len(self.op.operands))]
        shape = self.result_shape

        def body(b: Body) -> SSAValue:
            return fill(b, [read_broadcast(b, source, shape) for source in sources])

        return [self.compute(label, variables("i", shape), self.result_type.element_type, body)]


def read_broadcast(b: Body, source: SSAValue, shape: Sequence[int]) -> SSAValue:
    """The element of `source` that numpy's broadcasting brings to the current point of an index space of `shape`."""
    extents = shape_of(source)
    variables_of = b.spatial[len(shape) - len(extents) :]
    return b.read(source, *(0 if extent == 1 else at for at, extent in zip(variables_of, extents, strict=True)))


def tuple_fields(value: SSAValue) -> list[SSAValue]:
    """The tensors behind a tuple value: a tuple that is already converted is a cast of its tensors."""
    owner = value.owner
    if isinstance(owner, UnrealizedConversionCastOp):
        return list(owner.inputs)
    raise LoweringError(f"a tuple of type {value.type} reaches a kernel from outside", help="run relay-outline-fused")


def element_of(value: SSAValue) -> Attribute:
    """The element type of a tensor value."""
    return tensor_type(value).element_type
