"""convert-vector-to-llvm: one-dimensional vectors become LLVM's vectors.

Vectors of more dimensions have no counterpart; they must be unrolled before, as the loop level does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import llvm, vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IntegerType,
    ModuleOp,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xrelay.dialects.upstream.llvm_extras import ExtractElementOp
from xrelay.lowering.to_llvm.constants import constant
from xrelay.lowering.to_llvm.one_to_one import OneToOne, call_intrinsic, fast_math
from xrelay.lowering.to_llvm.types import llvm_types
from xrelay.lowering.to_llvm.vector_lanes import ONE_DIMENSION, lane_count, lanes_below, shuffle, splat
from xrelay.lowering.to_llvm.vector_memory import MEMORY_PATTERNS
from xrelay.passes.infra.conversion import (
    AnyPattern,
    ConversionPattern,
    ConversionRewriter,
    apply_conversion,
    legal_outside,
)
from xrelay.passes.infra.xrelay_pass import REORDERS_SUMS, XRelayPass


class ConvertBroadcast(ConversionPattern[vector.BroadcastOp]):
    """`vector.broadcast %x : f32 to vector<16xf32>` → `insertelement` into lane 0 and a `shufflevector` of zeros."""

    def rewrite(self, op: vector.BroadcastOp, rewriter: ConversionRewriter) -> str | None:
        """Broadcasts the scalar, or lane 0 of a vector of one lane."""
        type_ = op.vector.type
        if type_.get_num_dims() != 1:
            return ONE_DIMENSION
        source = op.source
        if isinstance(source.type, VectorType):
            if source.type == type_:
                rewriter.replace(op, [source])
                return None
            if source.type.get_shape() != (1,):
                return ONE_DIMENSION
            wide = shuffle(rewriter.operand(source), [0] * type_.get_shape()[0], rewriter)
            rewriter.replace(op, [wide])
            return None
        rewriter.replace(op, [splat(source, type_, rewriter)])
        return None


class ConvertShuffle(ConversionPattern[vector.ShuffleOp]):
    """`vector.shuffle %a, %b [0, 8]` → `llvm.shufflevector %a, %b [0, 8]`, of vectors extended to one length."""

    def rewrite(self, op: vector.ShuffleOp, rewriter: ConversionRewriter) -> str | None:
        """Shuffles; `shufflevector` requires two vectors of one type."""
        left, right = rewriter.operands([op.v1, op.v2])
        if lane_count(left.type) is None or lane_count(right.type) is None:
            return ONE_DIMENSION
        n, m = lane_count(left.type) or 0, lane_count(right.type) or 0
        width = max(n, m)
        left, right = (
            side if lanes == width else shuffle(side, [i if i < lanes else -1 for i in range(width)], rewriter)
            for side, lanes in ((left, n), (right, m))
        )
        mask = [lane if lane < n else lane - n + width for lane in op.mask.iter_values()]
        rewriter.replace(op, [shuffle(left, mask, rewriter, right)])
        return None


class ConvertExtract(ConversionPattern[vector.ExtractOp]):
    """`vector.extract %v[3] : f32 from vector<16xf32>` → `llvm.extractelement %v[3]`."""

    def rewrite(self, op: vector.ExtractOp, rewriter: ConversionRewriter) -> str | None:
        """Extracts one lane."""
        lane = _lane(op.static_position, op.dynamic_position, rewriter)
        if lane is None or isinstance(op.result.type, VectorType):
            return ONE_DIMENSION
        rewriter.replace(op, rewriter.insert(ExtractElementOp(rewriter.operand(op.vector), lane)))
        return None


class ConvertInsert(ConversionPattern[vector.InsertOp]):
    """`vector.insert %x, %v[3] : f32 into vector<16xf32>` → `llvm.insertelement %x, %v[3]`."""

    def rewrite(self, op: vector.InsertOp, rewriter: ConversionRewriter) -> str | None:
        """Inserts one lane."""
        lane = _lane(op.static_position, op.dynamic_position, rewriter)
        if lane is None or isinstance(op.source.type, VectorType):
            return ONE_DIMENSION
        new = llvm.InsertElementOp(rewriter.operand(op.dest), rewriter.operand(op.source), lane)
        rewriter.replace(op, rewriter.insert(new))
        return None


class ConvertCreateMask(ConversionPattern[vector.CreateMaskOp]):
    """`vector.create_mask %n : vector<16xi1>` → `[0, 1, …, 15] < splat(%n)`."""

    def rewrite(self, op: vector.CreateMaskOp, rewriter: ConversionRewriter) -> str | None:
        """Compares lane numbers with the bound."""
        type_ = op.mask_vector.type
        if not isa(type_, VectorType) or type_.get_num_dims() != 1:
            return ONE_DIMENSION
        rewriter.replace(op, [lanes_below(op.mask_dim_sizes[0], type_, rewriter)])
        return None


REDUCTIONS = {
    "add": ("add", "fadd"),
    "mul": ("mul", "fmul"),
    "and": ("and", ""),
    "or": ("or", ""),
    "xor": ("xor", ""),
    "minsi": ("smin", ""),
    "maxsi": ("smax", ""),
    "minui": ("umin", ""),
    "maxui": ("umax", ""),
    "minnumf": ("", "fmin"),
    "maxnumf": ("", "fmax"),
    "minimumf": ("", "fminimum"),
    "maximumf": ("", "fmaximum"),
}
"""Combining kind → the intrinsic `llvm.vector.reduce.…` on integers and on floats."""

COMBINERS = {
    "add": llvm.AddOp,
    "mul": llvm.MulOp,
    "and": llvm.AndOp,
    "or": llvm.OrOp,
    "xor": llvm.XOrOp,
}
"""Combining kind → the op that adds the accumulator to an integer reduction."""


class ConvertReduction(ConversionPattern[vector.ReductionOp]):
    """`vector.reduction <add>, %v, %acc fastmath<reassoc>` → `llvm.vector.reduce.fadd(%acc, %v)`.

    Without `reassoc`, floats are added in order, lane by lane, as the op requires, which is slow. Kinds other than add
    and mul reduce the vector first and then combine the result with the accumulator.
    """

    def rewrite(self, op: vector.ReductionOp, rewriter: ConversionRewriter) -> str | None:
        """Reduces, then combines with the accumulator if there is one."""
        kind = op.kind.data.value
        operand, result = rewriter.operand(op.vector), rewriter.types.convert(op.dest.type)
        if lane_count(operand.type) is None:
            return ONE_DIMENSION
        integer = isinstance(result, IntegerType)
        name = REDUCTIONS[kind][0 if integer else 1]
        if not name:
            return f"{kind} does not reduce {result}"
        flags = fast_math(op)
        acc = None if op.acc is None else rewriter.operand(op.acc)
        operands = [operand]
        if name in ("fadd", "fmul"):
            neutral = -0.0 if name == "fadd" else 1.0
            operands = [acc if acc is not None else rewriter.insert(constant(neutral, result)).result, operand]
            acc = None
        call = call_intrinsic(f"vector.reduce.{name}", operands, result, overloads=[operand.type], fast=flags)
        value = rewriter.insert(call).results[0]
        if acc is not None:
            value = _combine(kind, name, value, acc, flags, rewriter)
        rewriter.replace(op, [value])
        return None


def _combine(
    kind: str, name: str, value: SSAValue, acc: SSAValue, flags: llvm.FastMathAttr, rewriter: ConversionRewriter
) -> SSAValue:
    """Combines the accumulator with a reduced vector."""
    combiner = COMBINERS.get(kind)
    if combiner is not None:
        return rewriter.insert(combiner(value, acc)).results[0]
    scalar = {"fmin": "minnum", "fmax": "maxnum", "fminimum": "minimum", "fmaximum": "maximum"}.get(name, name)
    return rewriter.insert(
        call_intrinsic(scalar, [value, acc], value.type, overloads=[value.type], fast=flags)
    ).results[0]


def _lane(
    static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue], rewriter: ConversionRewriter
) -> SSAValue | None:
    """Returns the position of an extract or insert as a value; None unless there is exactly one."""
    if len(static) != 1:
        return None
    (number,) = static.iter_values()
    if number == DYNAMIC_INDEX:
        return rewriter.operand(dynamic[0])
    return rewriter.insert(constant(number, i64)).result


def _fma(_: Operation, operands: Sequence[SSAValue], __: Attribute) -> Operation:
    return llvm.FMAOp(operands[0], operands[1], operands[2])


PATTERNS: tuple[AnyPattern, ...] = (
    *MEMORY_PATTERNS,
    ConvertBroadcast(),
    ConvertShuffle(),
    ConvertExtract(),
    ConvertInsert(),
    ConvertCreateMask(),
    ConvertReduction(),
    OneToOne(vector.FMAOp, _fma),
    OneToOne(vector.BitcastOp, lambda _, operands, type_: llvm.BitcastOp(operands[0], type_)),
)
"""The patterns of this pass."""


@dataclass(frozen=True)
class ConvertVectorToLLVMPass(XRelayPass):
    """Converts one-dimensional vectors to the llvm dialect.

    Refuses vectors of several dimensions, accesses along a stride other than 1, transfers with a permutation.
    """

    name = "convert-vector-to-llvm"
    numerics = REORDERS_SUMS
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts every vector op in the module."""
        convert(op)


def convert(top: Operation) -> None:
    """Converts every vector op in `top`."""
    apply_conversion(top, PATTERNS, is_legal=legal_outside("vector"), types=llvm_types())
