"""The casts of arith for vectors, which xDSL supports only for scalars; part of `arith_extras`.

The classes subclass xDSL's, so patterns and folders for those apply.
"""

from __future__ import annotations

from typing import Self

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloatConstr,
    FixedBitwidthType,
    IndexType,
    IntegerType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    EqAttrConstraint,
    IRDLOperation,
    base,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

_INTEGER_LIKE = base(IntegerType) | base(IndexType)
BOOLEANS = EqAttrConstraint(i1) | VectorType.constr(EqAttrConstraint(i1))
INTEGERS = _INTEGER_LIKE | VectorType.constr(_INTEGER_LIKE)
FLOATS = AnyFloatConstr | VectorType.constr(AnyFloatConstr)


def element_type(type_: Attribute) -> Attribute:
    """The element type of a vector; any other type unchanged."""
    return type_.element_type if isinstance(type_, VectorType) else type_


def with_element(type_: Attribute, element: Attribute) -> Attribute:
    """`element`, or a vector of it with the shape of `type_` if that is a vector."""
    if not isinstance(type_, VectorType):
        return element
    return VectorType(element, type_.shape, type_.scalable_dims)


def check_same_shape(op: Operation, operand: Attribute, result: Attribute) -> None:
    """Raises C1 of `op` unless both types are scalars or vectors of the same shape."""
    if with_element(operand, i1) != with_element(result, i1):
        raise VerifyException(f"[{op.name} C1] operand {operand} and result {result} have different shapes")


def _bits(type_: Attribute) -> int:
    element = element_type(type_)
    return element.bitwidth if isinstance(element, FixedBitwidthType) else 64


class _Cast(IRDLOperation):
    """An elementwise conversion. C1: operand and result have the same shape.

    `parse` and `print` are defined here because the xDSL classes that subclasses extend define their own.
    """

    assembly_format = None
    traits = traits_def(Pure())

    def __init__(self, op: SSAValue | Operation, target_type: Attribute):
        IRDLOperation.__init__(self, operands=[op], result_types=[target_type])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parses `%a : type to type`."""
        position = parser.pos
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        source = parser.parse_type()
        parser.parse_keyword("to")
        op = cls(parser.resolve_operands([operand], [source], position)[0], parser.parse_type())
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Prints `%a : type to type`."""
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)
        printer.print_string(" to ")
        printer.print_attribute(self.results[0].type)

    def verify_(self) -> None:
        """Checks C1."""
        check_same_shape(self, self.operands[0].type, self.results[0].type)


class _Narrower(_Cast):
    def verify_(self) -> None:
        """Checks C1 and C2."""
        super().verify_()
        source, target = self.operands[0].type, self.results[0].type
        if _bits(target) >= _bits(source):
            raise VerifyException(f"[{self.name} C2] {target} is not narrower than {source}")


class _Wider(_Cast):
    def verify_(self) -> None:
        """Checks C1 and C2."""
        super().verify_()
        source, target = self.operands[0].type, self.results[0].type
        if _bits(target) <= _bits(source):
            raise VerifyException(f"[{self.name} C2] {target} is not wider than {source}")


class _IndexCast(_Cast):
    def verify_(self) -> None:
        """Checks C1 and C2."""
        super().verify_()
        source, target = element_type(self.operands[0].type), element_type(self.results[0].type)
        if isinstance(source, IndexType) == isinstance(target, IndexType):
            raise VerifyException(f"[{self.name} C2] exactly one of {source} and {target} must be index")


@irdl_op_definition
class FPToSIOp(_Cast, arith.FPToSIOp):
    """Rounds floats toward zero to signed integers; out of range values are poison. C1: same shape.

    ```mlir
    %a = "test.op"() : () -> vector<8xf32>
    %0 = arith.fptosi %a : vector<8xf32> to vector<8xi32>
    ```
    """

    name = "arith.fptosi"
    input = operand_def(FLOATS)
    result = result_def(INTEGERS)


@irdl_op_definition
class FPToUIOp(_Cast, arith.FPToUIOp):
    """Rounds floats toward zero to unsigned integers; out of range values are poison. C1: same shape.

    ```mlir
    %a = "test.op"() : () -> vector<8xf32>
    %0 = arith.fptoui %a : vector<8xf32> to vector<8xi32>
    ```
    """

    name = "arith.fptoui"
    input = operand_def(FLOATS)
    result = result_def(INTEGERS)


@irdl_op_definition
class SIToFPOp(_Cast, arith.SIToFPOp):
    """Converts signed integers to floats, rounded to nearest. C1: same shape.

    ```mlir
    %a = "test.op"() : () -> vector<8xi32>
    %0 = arith.sitofp %a : vector<8xi32> to vector<8xf32>
    ```
    """

    name = "arith.sitofp"
    input = operand_def(INTEGERS)
    result = result_def(FLOATS)


@irdl_op_definition
class UIToFPOp(_Cast, arith.UIToFPOp):
    """Converts unsigned integers to floats, rounded to nearest. C1: same shape.

    ```mlir
    %a = "test.op"() : () -> vector<8xi32>
    %0 = arith.uitofp %a : vector<8xi32> to vector<8xf32>
    ```
    """

    name = "arith.uitofp"
    input = operand_def(INTEGERS)
    result = result_def(FLOATS)


@irdl_op_definition
class TruncIOp(_Narrower, arith.TruncIOp):
    """Drops the high bits of integers. C1: same shape. C2: the result is narrower.

    ```mlir
    %a = "test.op"() : () -> vector<8xi32>
    %0 = arith.trunci %a : vector<8xi32> to vector<8xi8>
    ```
    """

    name = "arith.trunci"
    input = operand_def(INTEGERS)
    result = result_def(INTEGERS)


@irdl_op_definition
class ExtSIOp(_Wider, arith.ExtSIOp):
    """Widens signed integers. C1: same shape. C2: the result is wider.

    ```mlir
    %a = "test.op"() : () -> vector<8xi8>
    %0 = arith.extsi %a : vector<8xi8> to vector<8xi32>
    ```
    """

    name = "arith.extsi"
    input = operand_def(INTEGERS)
    result = result_def(INTEGERS)


@irdl_op_definition
class ExtUIOp(_Wider, arith.ExtUIOp):
    """Widens unsigned integers. C1: same shape. C2: the result is wider.

    ```mlir
    %a = "test.op"() : () -> vector<8xi1>
    %0 = arith.extui %a : vector<8xi1> to vector<8xi32>
    ```
    """

    name = "arith.extui"
    input = operand_def(INTEGERS)
    result = result_def(INTEGERS)


@irdl_op_definition
class IndexCastOp(_IndexCast, arith.IndexCastOp):
    """Signed conversion between index and an integer type. C1: same shape. C2: exactly one side is index.

    ```mlir
    %a = "test.op"() : () -> vector<8xindex>
    %0 = arith.index_cast %a : vector<8xindex> to vector<8xi32>
    ```
    """

    name = "arith.index_cast"
    input = operand_def(INTEGERS)
    result = result_def(INTEGERS)


@irdl_op_definition
class IndexCastUIOp(_IndexCast):
    """Unsigned conversion between index and an integer type. C1: same shape. C2: exactly one side is index.

    ```mlir
    %a = "test.op"() : () -> i8
    %0 = arith.index_castui %a : i8 to index
    ```
    """

    name = "arith.index_castui"
    input = operand_def(INTEGERS)
    result = result_def(INTEGERS)
