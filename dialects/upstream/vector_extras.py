"""Ops of upstream's vector dialect on multi-dimensional vectors that xDSL lacks and dot products need."""

from __future__ import annotations

from math import prod
from typing import Self

from typing_extensions import override
from xdsl.dialects.builtin import DenseArrayBase, VectorType, i64
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag, Vector
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.upstream.replacing import replace_ops


@irdl_op_definition
class ShapeCastOp(IRDLOperation):
    """The same elements, in row-major order, as a vector of another shape.

    C1: both vectors have the same element type and number of elements.

    ```mlir
    %a = "test.op"() : () -> vector<64xi8>
    %0 = vector.shape_cast %a : vector<64xi8> to vector<16x4xi8>
    ```
    """

    name = "vector.shape_cast"

    source = operand_def(VectorType)
    result = result_def(VectorType)

    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue, result_type: VectorType[Attribute]):
        super().__init__(operands=[source], result_types=[result_type])

    def verify_(self) -> None:
        """Checks C1."""
        source, result = vector_type(self.source), vector_type(self.result)
        if source.element_type != result.element_type or prod(source.get_shape()) != prod(result.get_shape()):
            raise VerifyException(f"[{self.name} C1] {source} and {result} have different element types")


@irdl_op_definition
class MultiReductionOp(IRDLOperation):
    """Combines the elements of a vector along some of its dimensions, and the results with an accumulator.

    C1: the accumulator has the vector's shape without these dimensions, and its element type. C2: the dimensions are
    distinct dimensions of the vector.

    ```mlir
    %a, %acc = "test.op"() : () -> (vector<16x4xi32>, vector<16xi32>)
    %0 = vector.multi_reduction <add>, %a, %acc [1] : vector<16x4xi32> to vector<16xi32>
    ```
    """

    name = "vector.multi_reduction"

    kind = prop_def(CombiningKindAttr)
    source = operand_def(VectorType)
    acc = operand_def()
    reduction_dims = prop_def(DenseArrayBase.constr(i64))
    dest = result_def()

    traits = traits_def(Pure())

    def __init__(self, source: SSAValue, acc: SSAValue, dims: list[int]):
        super().__init__(
            operands=[source, acc],
            result_types=[acc.type],
            properties={
                "kind": CombiningKindAttr(CombiningKindFlag.ADD),
                "reduction_dims": DenseArrayBase.from_list(i64, dims),
            },
        )

    @property
    def dims(self) -> tuple[int, ...]:
        """The reduced dimensions."""
        return tuple(self.reduction_dims.get_values())

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(f" <{self.kind.data}>, ")
        printer.print_list((self.source, self.acc), printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(f" {list(self.dims)} : {self.source.type} to {self.dest.type}")

    @override
    @classmethod
    def parse(cls, parser: Parser) -> Self:
        with parser.in_angle_brackets():
            kind = CombiningKindAttr(parser.parse_str_enum(CombiningKindFlag))
        parser.parse_punctuation(",")
        source = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        acc = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        dims = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        parser.parse_keyword("to")
        result = parser.parse_type()
        return cls.create(
            operands=[parser.resolve_operand(source, type_), parser.resolve_operand(acc, result)],
            result_types=[result],
            properties={"kind": kind, "reduction_dims": DenseArrayBase.from_list(i64, dims)},
            attributes=attributes,
        )

    def verify_(self) -> None:
        """Checks C1 and C2."""
        source = vector_type(self.source)
        if len(set(self.dims)) < len(self.dims) or not set(self.dims) <= set(range(source.get_num_dims())):
            raise VerifyException(f"[{self.name} C2] {list(self.dims)} are not distinct dimensions of {source}")
        kept = [extent for dim, extent in enumerate(source.get_shape()) if dim not in self.dims]
        expected = VectorType(source.element_type, kept) if kept else source.element_type
        if self.acc.type != expected or self.dest.type != expected:
            raise VerifyException(f"[{self.name} C1] accumulator and result must be {expected}, found {self.acc.type}")


def vector_type(value: SSAValue) -> VectorType[Attribute]:
    """The type of a vector."""
    return SSAValue.get(value, type=VectorType).type


VECTOR = replace_ops(Vector, [ShapeCastOp, MultiReductionOp])
"""xDSL's vector dialect with these ops."""
