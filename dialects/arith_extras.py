"""The arith ops that xDSL defines for scalars alone, in their full upstream form: vectors compare, select and convert.

xDSL's `arith.cmpf` of two vectors yields one `i1`, and its casts and `arith.select` refuse vectors. The classes here
have the upstream names and syntax, subclass xDSL's where there is one (so patterns and folders written for those
apply), and stand in their place in `ARITH`. Python code that builds ops on vectors uses these classes.
"""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloatConstr,
    FixedBitwidthType,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    EqAttrConstraint,
    IRDLOperation,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.replacing import replace_ops

_INTEGER_LIKE = base(IntegerType) | base(IndexType)
BOOLEANS = EqAttrConstraint(i1) | VectorType.constr(EqAttrConstraint(i1))
INTEGERS = _INTEGER_LIKE | VectorType.constr(_INTEGER_LIKE)
FLOATS = AnyFloatConstr | VectorType.constr(AnyFloatConstr)


def element_type(type_: Attribute) -> Attribute:
    """The element type of a vector, any other type itself."""
    return type_.element_type if isinstance(type_, VectorType) else type_


def with_element(type_: Attribute, element: Attribute) -> Attribute:
    """`element`, in a vector of the shape of `type_` if that is a vector."""
    if not isinstance(type_, VectorType):
        return element
    return VectorType(element, type_.shape, type_.scalable_dims)


def _check_same_shape(op: Operation, operand: Attribute, result: Attribute) -> None:
    """Raise C1 of `op` unless both types are scalars or vectors of one shape."""
    if with_element(operand, i1) != with_element(result, i1):
        raise VerifyException(f"[{op.name} C1] operand {operand} and result {result} have different shapes")


def _bits(type_: Attribute) -> int:
    element = element_type(type_)
    return element.bitwidth if isinstance(element, FixedBitwidthType) else 64


def _predicate(name: int | str, names: list[str]) -> IntegerAttr:
    """The predicate attribute for a mnemonic such as `slt`, or for its number."""
    if isinstance(name, str):
        if name not in names:
            raise VerifyException(f"{name!r} is no comparison; use one of {', '.join(names)}")
        name = names.index(name)
    return IntegerAttr(name, 64)


@irdl_op_definition
class CmpiOp(arith.CmpiOp):
    """Compares integers element by element; the result is `i1`, or a vector of `i1` of the shape of the operands.

    C1: result and operands have the same shape.

    ```mlir
    %a = "test.op"() : () -> vector<8xi32>
    %0 = arith.cmpi slt, %a, %a : vector<8xi32>
    ```
    """

    name = "arith.cmpi"
    predicate = prop_def(IntegerAttr)
    lhs = operand_def(INTEGERS)
    rhs = operand_def(INTEGERS)
    result = result_def(BOOLEANS)

    def __init__(self, operand1: Operation | SSAValue, operand2: Operation | SSAValue, arg: int | str):
        lhs, rhs = SSAValue.get(operand1), SSAValue.get(operand2)
        IRDLOperation.__init__(
            self,
            operands=[lhs, rhs],
            result_types=[with_element(lhs.type, i1)],
            properties={"predicate": _predicate(arg, arith.CMPI_COMPARISON_OPERATIONS)},
        )

    def verify_(self) -> None:
        """Check C1."""
        _check_same_shape(self, self.lhs.type, self.result.type)


@irdl_op_definition
class CmpfOp(arith.CmpfOp):
    """Compares floats element by element; the result is `i1`, or a vector of `i1` of the shape of the operands.

    C1: result and operands have the same shape.

    ```mlir
    %a = "test.op"() : () -> vector<8xf32>
    %0 = arith.cmpf olt, %a, %a : vector<8xf32>
    ```
    """

    name = "arith.cmpf"
    predicate = prop_def(IntegerAttr)
    lhs = operand_def(FLOATS)
    rhs = operand_def(FLOATS)
    fastmath = prop_def(arith.FastMathFlagsAttr, default_value=arith.FastMathFlagsAttr("none"))
    result = result_def(BOOLEANS)

    def __init__(
        self,
        operand1: Operation | SSAValue,
        operand2: Operation | SSAValue,
        arg: int | str,
        fastmath: arith.FastMathFlagsAttr = arith.FastMathFlagsAttr("none"),  # noqa: B008  an immutable attribute
    ):
        lhs, rhs = SSAValue.get(operand1), SSAValue.get(operand2)
        IRDLOperation.__init__(
            self,
            operands=[lhs, rhs],
            result_types=[with_element(lhs.type, i1)],
            properties={"predicate": _predicate(arg, arith.CMPF_COMPARISON_OPERATIONS), "fastmath": fastmath},
        )

    def verify_(self) -> None:
        """Check C1."""
        _check_same_shape(self, self.lhs.type, self.result.type)


@irdl_op_definition
class SelectOp(arith.SelectOp):
    """Chooses between two values by an `i1`, or element by element by a vector of `i1`.

    C1: a vector condition has the shape of the values.

    ```mlir
    %c, %a = "test.op"() : () -> (vector<8xi1>, vector<8xf32>)
    %0 = arith.select %c, %a, %a : vector<8xi1>, vector<8xf32>
    ```
    """

    name = "arith.select"
    _T: ClassVar = VarConstraint("_T", AnyAttr())
    cond = operand_def(BOOLEANS)
    lhs = operand_def(_T)
    rhs = operand_def(_T)
    result = result_def(_T)
    assembly_format = None

    def verify_(self) -> None:
        """Check C1."""
        if isinstance(self.cond.type, VectorType):
            _check_same_shape(self, self.cond.type, self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> SelectOp:
        """Parse `%c, %a, %b : [condition type,] type`."""
        position = parser.pos
        names = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            names.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        condition, type_ = i1, parser.parse_type()
        if parser.parse_optional_punctuation(","):
            condition, type_ = type_, parser.parse_type()
        op = cls(*parser.resolve_operands(names, [condition, type_, type_], position))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print `%c, %a, %b : [condition type,] type`."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if isinstance(self.cond.type, VectorType):
            printer.print_attribute(self.cond.type)
            printer.print_string(", ")
        printer.print_attribute(self.result.type)


class _Cast(IRDLOperation):
    """A conversion element by element. C1: operand and result have the same shape.

    `parse` and `print` are written out because the classes of xDSL that its subclasses extend have their own.
    """

    assembly_format = None
    traits = traits_def(Pure())

    def __init__(self, op: SSAValue | Operation, target_type: Attribute):
        IRDLOperation.__init__(self, operands=[op], result_types=[target_type])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse `%a : type to type`."""
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
        """Print `%a : type to type`."""
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)
        printer.print_string(" to ")
        printer.print_attribute(self.results[0].type)

    def verify_(self) -> None:
        """Check C1."""
        _check_same_shape(self, self.operands[0].type, self.results[0].type)


class _Narrower(_Cast):
    def verify_(self) -> None:
        """Check C1 and C2."""
        super().verify_()
        source, target = self.operands[0].type, self.results[0].type
        if _bits(target) >= _bits(source):
            raise VerifyException(f"[{self.name} C2] {target} is not narrower than {source}")


class _Wider(_Cast):
    def verify_(self) -> None:
        """Check C1 and C2."""
        super().verify_()
        source, target = self.operands[0].type, self.results[0].type
        if _bits(target) <= _bits(source):
            raise VerifyException(f"[{self.name} C2] {target} is not wider than {source}")


class _IndexCast(_Cast):
    def verify_(self) -> None:
        """Check C1 and C2."""
        super().verify_()
        source, target = element_type(self.operands[0].type), element_type(self.results[0].type)
        if isinstance(source, IndexType) == isinstance(target, IndexType):
            raise VerifyException(f"[{self.name} C2] exactly one of {source} and {target} must be index")


@irdl_op_definition
class FPToSIOp(_Cast, arith.FPToSIOp):
    """Rounds floats toward zero to signed integers; out of range gives poison. C1: same shape.

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
    """Rounds floats toward zero to unsigned integers; out of range gives poison. C1: same shape.

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
    """Signed integers as floats, rounded to nearest. C1: same shape.

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
    """Unsigned integers as floats, rounded to nearest. C1: same shape.

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


ARITH = replace_ops(
    arith.Arith,
    [
        CmpiOp,
        CmpfOp,
        SelectOp,
        FPToSIOp,
        FPToUIOp,
        SIToFPOp,
        UIToFPOp,
        TruncIOp,
        ExtSIOp,
        ExtUIOp,
        IndexCastOp,
        IndexCastUIOp,
    ],
)
"""The arith dialect, its scalar-only ops replaced by those above."""
