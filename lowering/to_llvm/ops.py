"""Fast constructors of the llvm ops that occur in a kernel by the hundred.

A constructor of xDSL sorts its arguments into the fields of the op's definition, which takes most of its time. These
functions pass the fields directly, so each lists all properties; the result equals that of xDSL's constructor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Final, TypeVar

from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    UnrealizedConversionCastOp,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.op_making import make
from xrelay.dialects.upstream.arith_extras import with_element
from xrelay.errors import LoweringError
from xrelay.lowering.to_llvm.types import PTR

OpT = TypeVar("OpT", bound=Operation)

WRAPS: Final = IntegerAttr(0, 32)
NO_SIGNED_WRAP: Final = IntegerAttr(llvm.OverflowAttr((llvm.OverflowFlag.NO_SIGNED_WRAP,)).to_int(), 32)
NO_WRAP: Final = IntegerAttr(
    llvm.OverflowAttr((llvm.OverflowFlag.NO_SIGNED_WRAP, llvm.OverflowFlag.NO_UNSIGNED_WRAP)).to_int(), 32
)
"""Overflow flags of integer operations that may wrap, of those without signed overflow, and of those without any."""
EXACT: Final = llvm.FastMathAttr(None)
EXTERNAL: Final = llvm.LinkageAttr("external")

_UNIT: Final = UnitAttr()
_NOT_ATOMIC: Final = IntegerAttr(0, 64)
_NO_FLAGS: Final = IntegerAttr(0, 32)
_DEFAULT_VISIBILITY: Final = IntegerAttr(0, 64)
_C_CONVENTION: Final = llvm.CallingConventionAttr("ccc")
_NO_TAIL_CALL: Final = llvm.TailCallKindAttr(llvm.TailCallKind.NONE)
_NO_BUNDLES: Final = DenseArrayBase.from_list(i32, [])


def one_result(
    kind: type[OpT], operands: Sequence[SSAValue], type_: Attribute, properties: Mapping[str, Attribute] | None = None
) -> OpT:
    """Returns an op of class `kind` with these operands, a result of `type_`, and these properties."""
    return make(kind, operands, (type_,), properties if properties is not None else {})


def overflowing(
    kind: type[llvm.ArithmeticBinOpOverflow], lhs: SSAValue, rhs: SSAValue, overflow: IntegerAttr[IntegerType] = WRAPS
) -> llvm.ArithmeticBinOpOverflow:
    """Returns `llvm.add`, `sub`, `mul` or `shl`, with overflow flags."""
    return one_result(kind, (lhs, rhs), lhs.type, {"overflowFlags": overflow})


def compare(predicate: str, lhs: SSAValue, rhs: SSAValue) -> llvm.ICmpOp:
    """Returns `llvm.icmp "slt" %lhs, %rhs`."""
    type_ = with_element(lhs.type, i1) if isinstance(lhs.type, VectorType) else i1
    return one_result(llvm.ICmpOp, (lhs, rhs), type_, {"predicate": _predicate(predicate)})


@cache
def _predicate(name: str) -> IntegerAttr[IntegerType]:
    return IntegerAttr(llvm.ICmpPredicateFlag(name).to_int(), i64)


def element_pointer(
    pointer: SSAValue, steps: Sequence[int | SSAValue], element: Attribute, *, inbounds: bool = True
) -> llvm.GEPOp:
    """Returns `llvm.getelementptr inbounds %pointer[steps]`, in steps of this element type."""
    values = [step for step in steps if isinstance(step, SSAValue)]
    numbers = tuple(llvm.GEP_USE_SSA_VAL if isinstance(step, SSAValue) else step for step in steps)
    properties: dict[str, Attribute] = {
        "rawConstantIndices": indices(numbers),
        "elem_type": element,
        "noWrapFlags": _NO_FLAGS,
    }
    if inbounds:
        properties["inbounds"] = _UNIT
    return one_result(llvm.GEPOp, (pointer, *values), PTR, properties)


@lru_cache(maxsize=4096)
def indices(numbers: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    """Returns `array<i32: numbers>`."""
    return DenseArrayBase.from_list(i32, numbers)


@lru_cache(maxsize=256)
def _alignment(number: int) -> IntegerAttr[IntegerType]:
    return IntegerAttr(number, 64)


def load(pointer: SSAValue, type_: Attribute, alignment: int | None = None) -> llvm.LoadOp:
    """Returns `llvm.load %pointer {alignment}`; the default alignment is that of the type."""
    return one_result(llvm.LoadOp, (pointer,), type_, _access(alignment))


def store(
    value: SSAValue, pointer: SSAValue, alignment: int | None = None, *, nontemporal: bool = False
) -> llvm.StoreOp:
    """Returns `llvm.store %value, %pointer {alignment}`; the default alignment is that of the type."""
    properties = _access(alignment)
    if nontemporal:
        properties["nontemporal"] = _UNIT
    return make(llvm.StoreOp, (value, pointer), properties=properties)


def _access(alignment: int | None) -> dict[str, Attribute]:
    if alignment is None:
        return {"ordering": _NOT_ATOMIC}
    return {"ordering": _NOT_ATOMIC, "alignment": _alignment(alignment)}


def on_stack(count: SSAValue, type_: Attribute, alignment: int) -> llvm.AllocaOp:
    """Returns `llvm.alloca %count x type {alignment}`."""
    return one_result(llvm.AllocaOp, (count,), PTR, {"alignment": _alignment(alignment), "elem_type": type_})


def call(callee: SymbolRefAttr, operands: Sequence[SSAValue], result: Attribute | None) -> llvm.CallOp:
    """Returns `%r = llvm.call @callee(operands)`."""
    return make(
        llvm.CallOp,
        operands,
        () if result is None else (result,),
        {
            "callee": callee,
            "fastmathFlags": EXACT,
            "CConv": _C_CONVENTION,
            "op_bundle_sizes": _NO_BUNDLES,
            "operandSegmentSizes": indices((len(operands), 0)),
            "TailCallKind": _NO_TAIL_CALL,
        },
    )


@lru_cache(maxsize=1024)
def signature(inputs: tuple[Attribute, ...], output: Attribute) -> llvm.LLVMFunctionType:
    """Returns `!llvm.func<output (inputs)>`."""
    return llvm.LLVMFunctionType(inputs, output)


def function(
    name: StringAttr,
    type_: llvm.LLVMFunctionType,
    body: Region | None = None,
    *,
    properties: Mapping[str, Attribute] | None = None,
    attributes: Mapping[str, Attribute] | None = None,
) -> llvm.FuncOp:
    """Returns `llvm.func @name(…) {body}` with external linkage; a declaration without a body."""
    own: dict[str, Attribute] = {
        "sym_name": name,
        "function_type": type_,
        "CConv": _C_CONVENTION,
        "linkage": EXTERNAL,
        "visibility_": _DEFAULT_VISIBILITY,
    }
    return llvm.FuncOp.create(
        properties={**(properties or {}), **own},
        attributes=attributes or {},
        regions=(Region() if body is None else body,),
    )


def cast(value: SSAValue, type_: Attribute) -> UnrealizedConversionCastOp:
    """Returns `builtin.unrealized_conversion_cast %value`, to be removed by a conversion."""
    return one_result(UnrealizedConversionCastOp, (value,), type_)


def result_of(value: SSAValue) -> llvm.ReturnOp:
    """Returns `llvm.return %value`."""
    return make(llvm.ReturnOp, (value,))


def branch(target: Block, values: Sequence[SSAValue] = ()) -> llvm.BrOp:
    """Returns `llvm.br ^target(values)`."""
    return make(llvm.BrOp, values, successors=(target,))


def choose(
    condition: SSAValue,
    then: Block,
    then_values: Sequence[SSAValue],
    otherwise: Block,
    values: Sequence[SSAValue],
) -> llvm.CondBrOp:
    """Returns `llvm.cond_br %condition, ^then(then_values), ^otherwise(values)`."""
    sizes = indices((1, len(then_values), len(values)))
    operands = (condition, *then_values, *values)
    return make(llvm.CondBrOp, operands, properties={"operandSegmentSizes": sizes}, successors=(then, otherwise))


def intrinsic_call(
    name: str, operands: Sequence[SSAValue], result: Attribute | None, fast: llvm.FastMathAttr = EXACT
) -> llvm.CallIntrinsicOp:
    """Returns `llvm.call_intrinsic "name"(operands)`; `name` includes the overloads."""
    return make(
        llvm.CallIntrinsicOp,
        operands,
        () if result is None else (result,),
        {
            "intrin": StringAttr(name),
            "op_bundle_sizes": _NO_BUNDLES,
            "operandSegmentSizes": indices((len(operands), 0)),
            "fastmathFlags": fast,
        },
    )


def enclosing_function(op: Operation) -> func.FuncOp | llvm.FuncOp:
    """Returns the function that contains `op`; raises `LoweringError` if there is none."""
    around = op.parent_op()
    while around is not None and not isinstance(around, func.FuncOp | llvm.FuncOp):
        around = around.parent_op()
    if around is None:
        raise LoweringError(f"{op.name} is not inside a function", location=describe_location(op))
    return around
