"""The llvm dialect with additions to xDSL: loop annotations, `extractelement`, `poison`, vector compares and casts.

Names and syntax are upstream's. `LLVM` is xDSL's dialect with these additions. Intrinsics without an op of their own
(masked loads and stores, `maximum`, integer reductions, `memcpy`, …) are `llvm.call_intrinsic` with the full name.
`#llvm.loop_annotation` controls LLVM's optimisation of one loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import ClassVar, TypeAlias

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    AnyFloatConstr,
    BoolAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    SignlessIntegerConstraint,
    VectorType,
    i1,
    i32,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    AnyAttr,
    EqAttrConstraint,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.upstream.arith_extras import BOOLEANS, with_element
from xrelay.dialects.upstream.replacing import replace_ops

LoopOption: TypeAlias = bool | int
LoopOptions: TypeAlias = Mapping[str, LoopOption | Mapping[str, LoopOption]]

_FLAG, _COUNT = True, False
LOOP_OPTIONS: dict[str, bool | dict[str, bool]] = {
    "disableNonforced": _FLAG,
    "vectorize": {"disable": _FLAG, "predicateEnable": _FLAG, "scalableEnable": _FLAG, "width": _COUNT},
    "interleave": {"count": _COUNT},
    "unroll": {"disable": _FLAG, "count": _COUNT, "runtimeDisable": _FLAG, "full": _FLAG},
    "unrollAndJam": {"disable": _FLAG, "count": _COUNT},
    "distribute": {"disable": _FLAG},
    "mustProgress": _FLAG,
    "isVectorized": _FLAG,
}
"""The supported options of a loop annotation, by group, each with whether it is a flag or a count."""


@irdl_attr_definition
class LLVMX86AMXType(ParametrizedAttribute, TypeAttribute):
    """The value of a tile register of Intel's AMX.

    ```mlir
    %0 = "test.op"() : () -> !llvm.x86_amx
    ```
    """

    name = "llvm.x86_amx"


@irdl_attr_definition
class LoopAnnotationAttr(ParametrizedAttribute):
    """Options of LLVM's optimisations for one loop.

    C1: options are those of `LOOP_OPTIONS`. C2: flags are `true` or `false`, counts are integers.

    ```mlir
    "test.op"() {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>} : () -> ()
    ```
    """

    name = "llvm.loop_annotation"

    options: DictionaryAttr

    @classmethod
    def of(cls, options: LoopOptions) -> LoopAnnotationAttr:
        """The annotation with these options, for example `of({"unroll": {"count": 4}})`."""
        return cls(DictionaryAttr({key: _option_attribute(value) for key, value in options.items()}))

    @classmethod
    def unroll_full(cls) -> LoopAnnotationAttr:
        """The annotation for full unrolling."""
        return cls.of({"unroll": {"full": True}})

    @classmethod
    def unroll_disable(cls) -> LoopAnnotationAttr:
        """The annotation that disables unrolling."""
        return cls.of({"unroll": {"disable": True}})

    def verify(self) -> None:
        """Checks C1 and C2."""
        for key, value in self.options.data.items():
            known = LOOP_OPTIONS.get(key)
            if known is None:
                raise VerifyException(f"[llvm.loop_annotation C1] {key!r} is not one of {', '.join(LOOP_OPTIONS)}")
            if isinstance(known, dict):
                _check_group(key, value, known)
            else:
                _check_option(key, value, known)

    def print_parameters(self, printer: Printer) -> None:
        """Prints `<group = <option = value, …>, …>`."""
        _print_options(printer, self.options)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        """Parses `<group = <option = value, …>, …>`."""
        return [_parse_options(parser)]


def _option_attribute(value: LoopOption | Mapping[str, LoopOption]) -> Attribute:
    if isinstance(value, bool):
        return BoolAttr.from_bool(value)
    if isinstance(value, int):
        return IntegerAttr(value, i32)
    return DictionaryAttr({key: _option_attribute(inner) for key, inner in value.items()})


def _check_group(group: str, value: Attribute, known: Mapping[str, bool]) -> None:
    if not isinstance(value, DictionaryAttr):
        raise VerifyException(f"[llvm.loop_annotation C2] {group} = {value} should be {group} = <…>")
    for key, option in value.data.items():
        if key not in known:
            raise VerifyException(f"[llvm.loop_annotation C1] {group}.{key} is not one of {', '.join(known)}")
        _check_option(f"{group}.{key}", option, known[key])


def _check_option(name: str, option: Attribute, is_flag: bool) -> None:
    if not isinstance(option, IntegerAttr) or (option.type == i1) != is_flag:
        expected = "true or false" if is_flag else "an integer"
        raise VerifyException(f"[llvm.loop_annotation C2] {name} = {option} should be {expected}")


def _print_options(printer: Printer, options: DictionaryAttr) -> None:
    def print_one(item: tuple[str, Attribute]) -> None:
        printer.print_string(f"{item[0]} = ")
        if isinstance(item[1], DictionaryAttr):
            _print_options(printer, item[1])
        else:
            printer.print_attribute(item[1])

    with printer.in_angle_brackets():
        printer.print_list(options.data.items(), print_one)


def _parse_options(parser: AttrParser) -> DictionaryAttr:
    def parse_one() -> tuple[str, Attribute]:
        key = parser.parse_identifier()
        parser.parse_punctuation("=")
        if parser.parse_optional_characters("<") is None:
            return key, parser.parse_attribute()
        inner = dict(parser.parse_comma_separated_list(parser.Delimiter.NONE, parse_one))
        parser.parse_characters(">")
        return key, DictionaryAttr(inner)

    return DictionaryAttr(dict(parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_one)))


__all__ = [
    "LLVM",
    "CmpXchgOp",
    "ExtractElementOp",
    "FCmpOp",
    "FPToSIOp",
    "FPToUIOp",
    "LoopAnnotationAttr",
    "MaskedLoadOp",
    "MaskedStoreOp",
    "PoisonOp",
    "SelectOp",
    "UIToFPOp",
    "ZeroOp",
]

_FLOATS = AnyFloatConstr | VectorType.constr(AnyFloatConstr)
_INTEGERS = SignlessIntegerConstraint | VectorType.constr(SignlessIntegerConstraint)
_MONOTONIC = IntegerAttr(2, 64)


@lru_cache(maxsize=8)
def _with_success(type: Attribute) -> llvm.LLVMStructType:
    """Returns the type of the result of `llvm.cmpxchg`: the old value, and whether it was replaced."""
    return llvm.LLVMStructType.from_type_list([type, i1])


@irdl_op_definition
class FCmpOp(llvm.FCmpOp):
    """Compares floats, or vectors of floats elementwise.

    C1: the result is `i1`, or a vector of `i1` of the operands' shape if they are vectors.

    ```mlir
    %a = "test.op"() : () -> vector<8xf32>
    %0 = llvm.fcmp "olt" %a, %a : vector<8xf32>
    ```
    """

    name = "llvm.fcmp"
    T: ClassVar = VarConstraint("T", _FLOATS)
    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(BOOLEANS)
    predicate = prop_def(IntegerAttr)
    fastmathFlags = prop_def(llvm.FastMathAttr, default_value=llvm.FastMathAttr(None))  # noqa: N815  upstream's name

    def __init__(
        self,
        lhs: Operation | SSAValue,
        rhs: Operation | SSAValue,
        predicate: str | IntegerAttr[IntegerType],
        attributes: Mapping[str, Attribute] | None = None,
        fast_math: llvm.FastMathAttr | None = None,
    ):
        if isinstance(predicate, str):
            predicate = IntegerAttr(llvm.FCmpPredicateFlag(predicate).to_int(), 64)
        IRDLOperation.__init__(
            self,
            operands=[lhs, rhs],
            result_types=[with_element(SSAValue.get(lhs).type, i1)],
            attributes={} if attributes is None else dict(attributes),
            properties={"predicate": predicate, "fastmathFlags": fast_math or llvm.FastMathAttr(None)},
        )

    def verify_(self) -> None:
        """Checks C1."""
        if self.res.type != with_element(self.lhs.type, i1):
            raise VerifyException(f"[llvm.fcmp C1] the result of comparing {self.lhs.type} cannot be {self.res.type}")


@irdl_op_definition
class SelectOp(llvm.SelectOp):
    """Selects one of two values by an `i1`, or elementwise by a vector of `i1`.

    C1: a vector condition has the shape of the values.

    ```mlir
    %c, %a = "test.op"() : () -> (vector<8xi1>, vector<8xf32>)
    %0 = llvm.select %c, %a, %a : vector<8xi1>, vector<8xf32>
    ```
    """

    name = "llvm.select"
    T: ClassVar = VarConstraint("T", AnyAttr())
    cond = operand_def(BOOLEANS)
    lhs = operand_def(T)
    rhs = operand_def(T)
    res = result_def(T)
    fastmathFlags = prop_def(llvm.FastMathAttr, default_value=llvm.FastMathAttr(None))  # noqa: N815  upstream's name

    assembly_format = None  # the inherited `parse` and `print` follow xDSL's

    def verify_(self) -> None:
        """Checks C1."""
        if isinstance(self.cond.type, VectorType) and self.cond.type != with_element(self.res.type, i1):
            raise VerifyException(f"[llvm.select C1] the condition {self.cond.type} cannot select {self.res.type}")


@irdl_op_definition
class ExtractElementOp(IRDLOperation):
    """Extracts one element of a vector; poison if the index is out of range.

    ```mlir
    %v, %i = "test.op"() : () -> (vector<8xf32>, i64)
    %0 = llvm.extractelement %v[%i : i64] : vector<8xf32>
    ```
    """

    name = "llvm.extractelement"

    ELEMENT: ClassVar = VarConstraint("ELEMENT", AnyAttr())
    vector = operand_def(VectorType.constr(ELEMENT))
    position = operand_def(SignlessIntegerConstraint)
    res = result_def(ELEMENT)

    assembly_format = "$vector `[` $position `:` type($position) `]` attr-dict `:` type($vector)"
    traits = traits_def(NoMemoryEffect())

    def __init__(self, vector: SSAValue | Operation, position: SSAValue | Operation):
        type_ = SSAValue.get(vector).type
        if not isinstance(type_, VectorType):
            raise VerifyException(f"llvm.extractelement takes a vector, not {type_}")
        super().__init__(operands=[vector, position], result_types=[type_.element_type])


@irdl_op_definition
class PoisonOp(IRDLOperation):
    """A poison value: any value that depends on it is undefined.

    ```mlir
    %0 = llvm.mlir.poison : vector<8xf32>
    ```
    """

    name = "llvm.mlir.poison"

    res = result_def()

    assembly_format = "attr-dict `:` type($res)"
    traits = traits_def(NoMemoryEffect())

    def __init__(self, type_: Attribute):
        super().__init__(result_types=[type_])


@irdl_op_definition
class MaskedLoadOp(IRDLOperation):
    """Loads the lanes that are set in `mask`; the other lanes have the values of `pass_thru` and access no memory.

    ```mlir
    %p, %m, %v = "test.op"() : () -> (!llvm.ptr, vector<8xi1>, vector<8xi8>)
    %0 = llvm.intr.masked.load %p, %m, %v {alignment = 1 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xi8>)
        -> vector<8xi8>
    ```
    """

    name = "llvm.intr.masked.load"

    V: ClassVar = VarConstraint("V", base(VectorType))
    data = operand_def(llvm.LLVMPointerType)
    mask = operand_def(VectorType.constr(EqAttrConstraint(i1)))
    pass_thru = operand_def(V)
    res = result_def(V)
    alignment = prop_def(IntegerAttr)

    assembly_format = "operands attr-dict `:` functional-type(operands, results)"
    irdl_options = (ParsePropInAttrDict(),)

    def __init__(self, data: SSAValue, mask: SSAValue, pass_thru: SSAValue, alignment: int):
        super().__init__(
            operands=[data, mask, pass_thru],
            result_types=[pass_thru.type],
            properties={"alignment": IntegerAttr(alignment, 32)},
        )


@irdl_op_definition
class MaskedStoreOp(IRDLOperation):
    """Stores the lanes that are set in `mask`; the other lanes access no memory.

    ```mlir
    %p, %m, %v = "test.op"() : () -> (!llvm.ptr, vector<8xi1>, vector<8xi32>)
    llvm.intr.masked.store %v, %p, %m {alignment = 4 : i32} : vector<8xi32>, vector<8xi1> into !llvm.ptr
    ```
    """

    name = "llvm.intr.masked.store"

    value = operand_def(VectorType)
    data = operand_def(llvm.LLVMPointerType)
    mask = operand_def(VectorType.constr(EqAttrConstraint(i1)))
    alignment = prop_def(IntegerAttr)

    assembly_format = "operands attr-dict `:` type($value) `,` type($mask) `into` type($data)"
    irdl_options = (ParsePropInAttrDict(),)

    def __init__(self, value: SSAValue, data: SSAValue, mask: SSAValue, alignment: int):
        super().__init__(operands=[value, data, mask], properties={"alignment": IntegerAttr(alignment, 32)})


@irdl_op_definition
class CmpXchgOp(IRDLOperation):
    """Atomically `*ptr == cmp ? (*ptr = val)`; returns the old value and whether it stored. Monotonic ordering.

    C1: both orderings are monotonic, number 2. C2: the result is a struct of the value's type and `i1`.

    ```mlir
    %p, %a, %b = "test.op"() : () -> (!llvm.ptr, i32, i32)
    %0 = llvm.cmpxchg %p, %a, %b monotonic monotonic : !llvm.ptr, i32
    ```
    """

    name = "llvm.cmpxchg"

    T: ClassVar = VarConstraint("T", AnyAttr())
    ptr = operand_def(llvm.LLVMPointerType)
    cmp = operand_def(T)
    val = operand_def(T)
    res = result_def(llvm.LLVMStructType)
    success_ordering = prop_def(IntegerAttr)
    failure_ordering = prop_def(IntegerAttr)

    def __init__(self, ptr: SSAValue, cmp: SSAValue, val: SSAValue):
        super().__init__(
            operands=[ptr, cmp, val],
            result_types=[_with_success(val.type)],
            properties={"success_ordering": _MONOTONIC, "failure_ordering": _MONOTONIC},
        )

    def verify_(self) -> None:
        """Checks C1 and C2."""
        for ordering in (self.success_ordering, self.failure_ordering):
            if ordering != _MONOTONIC:
                raise VerifyException(f"[llvm.cmpxchg C1] the ordering must be {_MONOTONIC}, found {ordering}")
        expected = _with_success(self.val.type)
        if self.res.type != expected:
            raise VerifyException(f"[llvm.cmpxchg C2] the result must be {expected}, found {self.res.type}")

    @classmethod
    def parse(cls, parser: Parser) -> CmpXchgOp:
        """Parses `%ptr, %cmp, %val monotonic monotonic : type, type`."""
        position = parser.pos
        names = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            names.append(parser.parse_unresolved_operand())
        for _ in range(2):
            parser.parse_keyword("monotonic")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        pointer = parser.parse_type()
        parser.parse_punctuation(",")
        value = parser.parse_type()
        op = cls(*parser.resolve_operands(names, [pointer, value, value], position))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Prints `%ptr, %cmp, %val monotonic monotonic : type, type`."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_string(" monotonic monotonic")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list((self.ptr.type, self.val.type), printer.print_attribute)


class _Cast(IRDLOperation):
    assembly_format = "$arg attr-dict `:` type($arg) `to` type($res)"
    traits = traits_def(NoMemoryEffect())

    def __init__(self, arg: SSAValue | Operation, type_: Attribute):
        super().__init__(operands=[arg], result_types=[type_])


@irdl_op_definition
class FPToSIOp(_Cast):
    """Rounds floats toward zero to signed integers; out of range values are poison.

    ```mlir
    %a = "test.op"() : () -> vector<8xf32>
    %0 = llvm.fptosi %a : vector<8xf32> to vector<8xi32>
    ```
    """

    name = "llvm.fptosi"
    arg = operand_def(_FLOATS)
    res = result_def(_INTEGERS)


@irdl_op_definition
class FPToUIOp(_Cast):
    """Rounds floats toward zero to unsigned integers; out of range values are poison.

    ```mlir
    %a = "test.op"() : () -> vector<8xf32>
    %0 = llvm.fptoui %a : vector<8xf32> to vector<8xi32>
    ```
    """

    name = "llvm.fptoui"
    arg = operand_def(_FLOATS)
    res = result_def(_INTEGERS)


@irdl_op_definition
class UIToFPOp(_Cast):
    """Converts unsigned integers to floats, rounded to nearest.

    ```mlir
    %a = "test.op"() : () -> vector<8xi32>
    %0 = llvm.uitofp %a : vector<8xi32> to vector<8xf32>
    ```
    """

    name = "llvm.uitofp"
    arg = operand_def(_INTEGERS)
    res = result_def(_FLOATS)


@irdl_op_definition
class ZeroOp(IRDLOperation):
    """The zero of any type of the dialect: null, an aggregate of zeros, or zero.

    ```mlir
    %0 = llvm.mlir.zero : !llvm.ptr
    ```
    """

    name = "llvm.mlir.zero"

    res = result_def()

    assembly_format = "attr-dict `:` type($res)"
    traits = traits_def(NoMemoryEffect())

    def __init__(self, type_: Attribute):
        super().__init__(result_types=[type_])


LLVM = replace_ops(
    llvm.LLVM,
    [
        CmpXchgOp,
        ExtractElementOp,
        FCmpOp,
        FPToSIOp,
        FPToUIOp,
        MaskedLoadOp,
        MaskedStoreOp,
        PoisonOp,
        SelectOp,
        UIToFPOp,
        ZeroOp,
    ],
    [LLVMX86AMXType, LoopAnnotationAttr],
)
"""The llvm dialect with the ops and attributes above."""
