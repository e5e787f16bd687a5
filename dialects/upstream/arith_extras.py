"""The arith ops that xDSL restricts to scalars in their full upstream form: comparisons, selects, casts of vectors.

xDSL's `arith.cmpf` of two vectors yields one `i1`, its casts and `arith.select` refuse vectors, and it has no
`arith.remf`. The classes here have the upstream names and syntax, subclass xDSL's classes if they exist (so patterns
and folders for those apply), and replace them in `ARITH`. Python code that builds ops on vectors uses these classes.
"""

from __future__ import annotations

from functools import cache
from typing import ClassVar, Self

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloatConstr,
    DenseIntOrFPElementsAttr,
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
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.printer import Printer
from xdsl.traits import HasCanonicalizationPatternsTrait, Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.upstream.replacing import replace_ops

_INTEGER_LIKE = base(IntegerType) | base(IndexType)
BOOLEANS = EqAttrConstraint(i1) | VectorType.constr(EqAttrConstraint(i1))
INTEGERS = _INTEGER_LIKE | VectorType.constr(_INTEGER_LIKE)
FLOATS = AnyFloatConstr | VectorType.constr(AnyFloatConstr)


def element_type(type_: Attribute) -> Attribute:
    """The element type of a vector; any other type unchanged."""
    # The exact type: `isinstance` of an abstract class is ten times slower.
    return type_.element_type if type(type_) is VectorType else type_


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


class _FloatToInteger(_Cast):
    input = operand_def(FLOATS)
    result = result_def(INTEGERS)


class _IntegerToFloat(_Cast):
    input = operand_def(INTEGERS)
    result = result_def(FLOATS)


class _IntegerToInteger(_Cast):
    input = operand_def(INTEGERS)
    result = result_def(INTEGERS)


class _Narrower(_IntegerToInteger):
    def verify_(self) -> None:
        """Checks C1 and C2."""
        super().verify_()
        source, target = self.operands[0].type, self.results[0].type
        if _bits(target) >= _bits(source):
            raise VerifyException(f"[{self.name} C2] {target} is not narrower than {source}")


class _WideningCast(_IntegerToInteger):
    def verify_(self) -> None:
        """Checks C1 and C2."""
        super().verify_()
        source, target = self.operands[0].type, self.results[0].type
        if _bits(target) <= _bits(source):
            raise VerifyException(f"[{self.name} C2] {target} is not wider than {source}")


class _IndexCast(_IntegerToInteger):
    def verify_(self) -> None:
        """Checks C1 and C2."""
        super().verify_()
        source, target = element_type(self.operands[0].type), element_type(self.results[0].type)
        if isinstance(source, IndexType) == isinstance(target, IndexType):
            raise VerifyException(f"[{self.name} C2] exactly one of {source} and {target} must be index")


@irdl_op_definition
class FPToSIOp(_FloatToInteger, arith.FPToSIOp):
    """Rounds floats toward zero to signed integers; out of range values are poison. C1: same shape.

    ```mlir
    %a = "test.op"() : () -> vector<8xf32>
    %0 = arith.fptosi %a : vector<8xf32> to vector<8xi32>
    ```
    """

    name = "arith.fptosi"


@irdl_op_definition
class FPToUIOp(_FloatToInteger, arith.FPToUIOp):
    """Rounds floats toward zero to unsigned integers; out of range values are poison. C1: same shape.

    ```mlir
    %a = "test.op"() : () -> vector<8xf32>
    %0 = arith.fptoui %a : vector<8xf32> to vector<8xi32>
    ```
    """

    name = "arith.fptoui"


@irdl_op_definition
class SIToFPOp(_IntegerToFloat, arith.SIToFPOp):
    """Converts signed integers to floats, rounded to nearest. C1: same shape.

    ```mlir
    %a = "test.op"() : () -> vector<8xi32>
    %0 = arith.sitofp %a : vector<8xi32> to vector<8xf32>
    ```
    """

    name = "arith.sitofp"


@irdl_op_definition
class UIToFPOp(_IntegerToFloat, arith.UIToFPOp):
    """Converts unsigned integers to floats, rounded to nearest. C1: same shape.

    ```mlir
    %a = "test.op"() : () -> vector<8xi32>
    %0 = arith.uitofp %a : vector<8xi32> to vector<8xf32>
    ```
    """

    name = "arith.uitofp"


@irdl_op_definition
class TruncIOp(_Narrower, arith.TruncIOp):
    """Drops the high bits of integers. C1: same shape. C2: the result is narrower.

    ```mlir
    %a = "test.op"() : () -> vector<8xi32>
    %0 = arith.trunci %a : vector<8xi32> to vector<8xi8>
    ```
    """

    name = "arith.trunci"


@irdl_op_definition
class ExtSIOp(_WideningCast, arith.ExtSIOp):
    """Widens signed integers. C1: same shape. C2: the result is wider.

    ```mlir
    %a = "test.op"() : () -> vector<8xi8>
    %0 = arith.extsi %a : vector<8xi8> to vector<8xi32>
    ```
    """

    name = "arith.extsi"


@irdl_op_definition
class ExtUIOp(_WideningCast, arith.ExtUIOp):
    """Widens unsigned integers. C1: same shape. C2: the result is wider.

    ```mlir
    %a = "test.op"() : () -> vector<8xi1>
    %0 = arith.extui %a : vector<8xi1> to vector<8xi32>
    ```
    """

    name = "arith.extui"


@irdl_op_definition
class IndexCastOp(_IndexCast, arith.IndexCastOp):
    """Signed conversion between index and an integer type. C1: same shape. C2: exactly one side is index.

    ```mlir
    %a = "test.op"() : () -> vector<8xindex>
    %0 = arith.index_cast %a : vector<8xindex> to vector<8xi32>
    ```
    """

    name = "arith.index_cast"


@irdl_op_definition
class IndexCastUIOp(_IndexCast):
    """Unsigned conversion between index and an integer type. C1: same shape. C2: exactly one side is index.

    ```mlir
    %a = "test.op"() : () -> i8
    %0 = arith.index_castui %a : i8 to index
    ```
    """

    name = "arith.index_castui"


@irdl_op_definition
class RemFOp(arith.FloatingPointLikeBinaryOperation):
    """The remainder of a division of floats rounded towards zero, with the sign of the dividend (C's `fmod`); exact.

    ```mlir
    %a, %b = "test.op"() : () -> (vector<4xf32>, vector<4xf32>)
    %0 = arith.remf %a, %b : vector<4xf32>
    ```
    """

    name = "arith.remf"

    traits = traits_def(Pure())


__all__ = [
    "ARITH",
    "BOOLEANS",
    "CmpfOp",
    "CmpiOp",
    "ExtSIOp",
    "ExtUIOp",
    "FPToSIOp",
    "FPToUIOp",
    "IndexCastOp",
    "IndexCastUIOp",
    "RemFOp",
    "SIToFPOp",
    "SelectOp",
    "TruncIOp",
    "UIToFPOp",
    "element_type",
    "with_element",
]


def _predicate(name: int | str, names: list[str]) -> IntegerAttr:
    """The predicate attribute for a mnemonic such as `slt`, or for its number."""
    if isinstance(name, str):
        if name not in names:
            raise VerifyException(f"unknown comparison {name!r}; use one of {', '.join(names)}")
        name = names.index(name)
    return _predicate_number(name)


@cache
def _predicate_number(number: int) -> IntegerAttr:
    return IntegerAttr(number, 64)


@irdl_op_definition
class CmpiOp(arith.CmpiOp):
    """Compares integers elementwise; the result is `i1`, or a vector of `i1` of the shape of the operands.

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
        # Built with `Operation.__init__`: the constructor spends most of its time sorting arguments.
        Operation.__init__(
            self,
            operands=(lhs, rhs),
            result_types=(with_element(lhs.type, i1),),
            properties={"predicate": _predicate(arg, arith.CMPI_COMPARISON_OPERATIONS)},
        )

    def verify_(self) -> None:
        """Checks C1."""
        check_same_shape(self, self.lhs.type, self.result.type)


class _CompareWithItself(RewritePattern):
    """`arith.cmpi sle, %a, %a : vector<4xi32>` → `arith.constant dense<true>`; `slt` → false."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CmpiOp, rewriter: PatternRewriter) -> None:
        """Replaces the comparison of a value with itself by a constant."""
        if op.lhs is not op.rhs:
            return
        holds = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data] in ("eq", "sle", "sge", "ule", "uge")
        value: IntegerAttr | DenseIntOrFPElementsAttr = IntegerAttr.from_bool(holds)
        if is_attribute(op.result.type, VectorType[IntegerType]):
            value = DenseIntOrFPElementsAttr.from_list(op.result.type, [int(holds)])
        rewriter.replace(op, arith.ConstantOp(value))


class _CanonicalizeComparison(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return (_CompareWithItself(),)


# xDSL's trait folds a vector's comparison with itself to an i1, and traits of a base class cannot be overridden.
CmpiOp.traits = traits_def(Pure(), _CanonicalizeComparison())


@irdl_op_definition
class CmpfOp(arith.CmpfOp):
    """Compares floats elementwise; the result is `i1`, or a vector of `i1` of the shape of the operands.

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
        """Checks C1."""
        check_same_shape(self, self.lhs.type, self.result.type)


@irdl_op_definition
class SelectOp(arith.SelectOp):
    """Selects one of two values by an `i1`, or elementwise by a vector of `i1`.

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
        """Checks C1."""
        if isinstance(self.cond.type, VectorType):
            check_same_shape(self, self.cond.type, self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> SelectOp:
        """Parses `%c, %a, %b : [condition type,] type`."""
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
        """Prints `%c, %a, %b : [condition type,] type`."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if isinstance(self.cond.type, VectorType):
            printer.print_attribute(self.cond.type)
            printer.print_string(", ")
        printer.print_attribute(self.result.type)


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
        RemFOp,
    ],
)
"""The arith dialect with the ops above instead of its scalar-only ops."""
