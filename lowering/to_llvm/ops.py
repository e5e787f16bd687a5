"""Constructors of llvm ops and constants, and patterns that replace an op with one op.

A constructor of xDSL sorts its arguments into the fields of the op's definition, which takes most of its time. The
functions for ops that occur in a kernel by the hundred pass the fields directly, so each lists all properties; the
result equals that of xDSL's constructor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from math import copysign
from typing import Any, Final, TypeVar

from xdsl.dialects import func, llvm
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FixedBitwidthType,
    FloatAttr,
    IndexType,
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
from xdsl.utils.hints import isa

from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.op_lists import is_kind
from xrelay.dialects.shared.op_making import make
from xrelay.dialects.upstream.arith_extras import with_element
from xrelay.errors import LoweringError
from xrelay.lowering.to_llvm.types import PTR
from xrelay.passes.infra.conversion import ConversionPattern, ConversionRewriter

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


def enclosing_function(op: Operation) -> func.FuncOp | llvm.FuncOp:
    """Returns the function that contains `op`, or raises `LoweringError`."""
    around = op.parent_op()
    while around is not None and not isinstance(around, func.FuncOp | llvm.FuncOp):
        around = around.parent_op()
    if around is None:
        raise LoweringError(f"{op.name} is not inside a function", location=describe_location(op))
    return around


def split_before(op: Operation) -> Block:
    """Moves `op` and the ops after it to a new block after its own, which is left without a terminator.

    xDSL's `Block.split_before` counts the blocks before it, which is quadratic for functions with many blocks.
    """
    block = op.parent_block()
    region = None if block is None else block.parent_region()
    assert block is not None, "the op is in a block"
    assert region is not None, "its block is in a region"
    rest = Block()
    region.insert_block_after(rest, block)
    following: Operation | None = op
    while following is not None:
        moved, following = following, following.next_op
        moved.detach()
        rest.add_op(moved)
    return rest


# --- constants


def number_attribute(value: float, type_: Attribute) -> Attribute:
    """Returns `value` as an attribute of scalar or vector `type_`; an index becomes an i64. Results are cached."""
    return _number_attribute(value, copysign(1.0, value), type_)


@lru_cache(maxsize=4096)
def _number_attribute(value: float, _sign: float, type_: Attribute) -> Attribute:
    """Implements `number_attribute`; the sign distinguishes -0.0 from 0.0, which compare equal."""
    if isa(type_, VectorType):
        element = i64 if isinstance(type_.element_type, IndexType) else type_.element_type
        vector = VectorType(element, type_.shape, type_.scalable_dims)
        if isa(vector, VectorType[IntegerType] | VectorType[IndexType]):
            return DenseIntOrFPElementsAttr.from_list(vector, [int(value)])
        if is_attribute(vector, VectorType[AnyFloat]):
            return DenseIntOrFPElementsAttr.from_list(vector, [float(value)])
    if isinstance(type_, IndexType):
        return IntegerAttr(int(value), 64)
    if isa(type_, IntegerType):
        return IntegerAttr(int(value), type_)
    if isa(type_, AnyFloat):
        return FloatAttr(float(value), type_)
    raise LoweringError(f"there are no constants of type {type_}")


def constant(value: float, type_: Attribute) -> llvm.ConstantOp:
    """Returns `llvm.mlir.constant(value) : type_`, a splat for a vector; an index becomes an i64."""
    attribute = number_attribute(value, type_)
    if isinstance(attribute, IntegerAttr):
        result = attribute.type
    else:
        assert isinstance(attribute, DenseIntOrFPElementsAttr | FloatAttr), "number_attribute makes these three kinds"
        result = attribute.get_type()
    return make(llvm.ConstantOp, result_types=(result,), properties={"value": attribute})


# --- intrinsics and one-to-one patterns

Builder = Callable[[Any, Sequence[SSAValue], Attribute], Operation]
"""Creates the new op from the old one, its converted operands and its converted result type."""


class OneToOne(ConversionPattern[Operation]):
    """`%r = <source> %operands` → `%r = <result of build> %operands`, with converted types."""

    def __init__(self, source: type[Operation], build: Builder):
        self.source, self.build = source, build

    def handles(self, op_type: type[Operation]) -> bool:
        """Whether `op_type` is the source class or derived from it."""
        return is_kind(op_type, (self.source,))

    def rewrite(self, op: Operation, rewriter: ConversionRewriter) -> str | None:
        """Replaces `op` with the new op."""
        new = self.build(op, rewriter.operands(op.operands), rewriter.types.convert(op.results[0].type))
        rewriter.replace(op, rewriter.insert(new))
        return None


def fast_math(op: Operation) -> llvm.FastMathAttr:
    """Returns the fast-math flags of an arith, math or vector op, for an llvm op."""
    flags = op.properties.get("fastmath")
    return _fast_math(flags) if isinstance(flags, FastMathFlagsAttr) else EXACT


@lru_cache(maxsize=256)
def _fast_math(flags: FastMathFlagsAttr) -> llvm.FastMathAttr:
    return llvm.FastMathAttr(flags.data)


def type_suffix(type_: Attribute) -> str:
    """Returns the suffix for a type in the name of an overloaded intrinsic, as in `llvm.fma.v16f32`."""
    if isinstance(type_, llvm.LLVMPointerType):
        return "p0"
    if isinstance(type_, VectorType):
        shape = type_.get_shape()
        return f"v{shape[0]}{type_suffix(type_.element_type)}"
    assert isinstance(type_, FixedBitwidthType), f"{type_} does not overload an intrinsic"
    return str(type_)


def call_intrinsic(
    name: str,
    operands: Sequence[SSAValue],
    result: Attribute | None,
    *,
    overloads: Sequence[Attribute] = (),
    fast: llvm.FastMathAttr = EXACT,
) -> llvm.CallIntrinsicOp:
    """Returns `llvm.call_intrinsic "llvm.<name>.<overloads>"(operands)`."""
    suffix = "".join(f".{type_suffix(type_)}" for type_ in overloads)
    return make(
        llvm.CallIntrinsicOp,
        operands,
        () if result is None else (result,),
        {
            "intrin": StringAttr(f"llvm.{name}{suffix}"),
            "op_bundle_sizes": _NO_BUNDLES,
            "operandSegmentSizes": indices((len(operands), 0)),
            "fastmathFlags": fast,
        },
    )


def intrinsic(op: Operation, operands: Sequence[SSAValue], result: Attribute) -> Operation:
    """Returns the intrinsic with the name of `op`, overloaded by its result type: `math.tan` → `llvm.tan.f32`."""
    name = op.name.partition(".")[2]
    return call_intrinsic(name, operands, result, overloads=[result], fast=fast_math(op))


def plain(source: type[Operation], target: type[Operation]) -> OneToOne:
    """Returns the pattern for an op without properties."""
    return OneToOne(source, lambda _, operands, type_: one_result(target, operands, type_))


def floating(source: type[Operation], target: type[Operation]) -> OneToOne:
    """Returns the pattern for an op with fast-math flags."""
    return OneToOne(
        source, lambda op, operands, type_: one_result(target, operands, type_, {"fastmathFlags": fast_math(op)})
    )
