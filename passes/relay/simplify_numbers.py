"""Patterns of `relay-simplify-expr` on numbers: neutral elements, casts, bounds, and constants that can be joined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TypeAlias

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.algorithm_sort import ArgsortOp
from xrelay.dialects.relay.ops.qnn_quantize import DequantizeOp
from xrelay.dialects.relay.ops.tensor.arg_reduce import ArgmaxOp, ArgminOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, DivideOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.fill import FullOp, OnesLikeOp, OnesOp, ZerosLikeOp, ZerosOp
from xrelay.dialects.relay.ops.tensor.unary import ClipOp, RsqrtOp, SqrtOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import is_half, numpy_dtype
from xrelay.dialects.shared.types import element_type_of
from xrelay.passes.graph.float_range import float_range
from xrelay.passes.graph.rewriting import Emitter, constant_of, plain_owner_of
from xrelay.passes.relay.simplify_binomials import FactorBinomial

_NEUTRAL: Mapping[type[Operation], tuple[float, tuple[int, ...]]] = {
    AddOp: (0.0, (0, 1)),
    SubtractOp: (0.0, (1,)),
    MultiplyOp: (1.0, (0, 1)),
    DivideOp: (1.0, (1,)),
}
"""The number that changes nothing, and the operands that it may be."""


class DropNeutral(RewritePattern):
    """An operand less 0, plus 0, times 1 or over 1 → the operand. Exact, but for the sign of a zero.

    Before:

        %y = relay.add(%x, %zero) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

    After: `%x` in the place of `%y`. Left alone: what the other operand makes larger, and booleans, which nobody
    subtracts.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Look for the number on either side."""
        neutral, places = _NEUTRAL[type(op)]
        for place in places:
            data = op.operands[1 - place]
            is_number = numpy_dtype(element_type_of(data.type)) != np.bool_
            if is_number and data.type == op.results[0].type and uniform_number(op.operands[place]) == neutral:
                Emitter(rewriter, op).replace(data)
                return


class TakeNumberOfFull(RewritePattern):
    """A tensor full of one number beside one of the same shape → the number. Exact.

    Before:

        %f = relay.full(%n) {shape = [4, 6]} : (tensor<f32>) -> tensor<4x6xf32>
        %y = relay.multiply(%x, %f) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>

    After:

        %y = relay.multiply(%x, %n) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Look for the tensor on either side."""
        for place in (0, 1):
            operand, other = op.operands[place], op.operands[1 - place]
            full = operand.owner
            if other.type != op.results[0].type or operand.type != other.type or other.owner is full:
                continue
            if not isinstance(full, FullOp | ZerosOp | OnesOp):
                continue
            emit = Emitter(rewriter, op)
            if isinstance(full, FullOp) and element_type_of(full.fill_value.type) == element_type_of(operand.type):
                number = full.fill_value
            elif isinstance(full, ZerosOp | OnesOp):
                number = emit.scalar(float(isinstance(full, OnesOp)), operand.type)
            else:
                continue
            operands = [number, other] if place == 0 else [other, number]
            emit.replace(emit.insert(type(op).create(operands=operands, result_types=op.result_types)).results[0])
            return


class DoubleSelf(RewritePattern):
    """A value plus itself → twice the value. Exact.

    Before:

        %y = relay.add(%x, %x)

    After:

        %y = relay.multiply(%x, %two)
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddOp, rewriter: PatternRewriter) -> None:
        """Where both operands are one."""
        if op.lhs is op.rhs and np.dtype(bool) != numpy_dtype(element_type_of(op.lhs.type)):
            emit = Emitter(rewriter, op)
            emit.replace(emit.call(MultiplyOp, op.lhs, emit.scalar(2, op.lhs.type)))


_Join: TypeAlias = Callable[[Array, Array], Array]


class JoinConstants(RewritePattern):
    """Constants that are added or multiplied one after the other → one of each. Re-associating.

    Before:

        %a = relay.add(%x, %c)
        %y = relay.multiply(%a, %d)

    After:

        %m = relay.multiply(%x, %d)
        %y = relay.add(%m, %e)                  %e : %c times %d, a constant

    So also sums of sums and products of products. Left alone: inner results that others read, and constants of which
    the joined one is infinite or has fewer digits.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Where the inner op has a constant too."""
        outer = _with_constant(op)
        inner = None if outer is None else plain_owner_of(outer[0], RelayOp)
        if outer is None or not isinstance(inner, AddOp | MultiplyOp) or not inner.results[0].has_one_use():
            return
        found = _with_constant(inner)
        if found is None or (isinstance(op, AddOp) and isinstance(inner, MultiplyOp)):
            return
        (data, first), second = found, outer[1]
        join: _Join = np.add if isinstance(op, AddOp) else np.multiply
        with np.errstate(all="ignore"):
            joined = np.asarray(join(first, second), first.dtype)
        if joined.size > max(first.size, second.size) or not _keeps_digits(joined, first, second, join):
            return
        emit = Emitter(rewriter, op)
        if type(inner) is not type(op):
            factor = emit.insert(ConstantOp.of(second, "factor")).result
            data = emit.call(MultiplyOp, data, factor)
        constant = emit.insert(ConstantOp.of(joined, "joined")).result
        result = type(inner).call(data, constant)
        if result.results[0].type == op.results[0].type:
            emit.replace(emit.insert(result).results[0])
        else:
            result.erase()


def _keeps_digits(joined: Array, first: Array, second: Array, join: _Join) -> bool:
    """Whether what `join` made of two floats is none but a normal number, where both are numbers; a sum may be 0."""
    if joined.dtype.kind in "biu":
        return True
    size, one, other = (np.abs(array.astype(np.float64)) for array in (joined, first, second))
    least, most = float_range(joined.dtype)
    is_lost = (size < least) & (np.minimum(one, other) > 0) & (join is np.multiply)
    return not bool(np.any(np.isfinite(one) & np.isfinite(other) & ((size > most) | is_lost)))


def _with_constant(op: Operation) -> tuple[SSAValue, Array] | None:
    """The operand of an op beside its constant, and that."""
    for place in (1, 0):
        array, data = constant_of(op.operands[place]), op.operands[1 - place]
        if array is not None and constant_of(data) is None and data.type == op.results[0].type:
            return data, array
    return None


class MultiplyByRsqrt(RewritePattern):
    """A quotient by a root → a product with its inverse. Re-associating.

    Before:

        %r = relay.sqrt(%x)
        %y = relay.divide(%c, %r)

    After:

        %r = relay.rsqrt(%x)
        %y = relay.multiply(%c, %r)
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DivideOp, rewriter: PatternRewriter) -> None:
        """Where the root has no other use."""
        root = plain_owner_of(op.rhs, SqrtOp)
        if root is not None and op.rhs.has_one_use():
            emit = Emitter(rewriter, op)
            emit.replace(emit.call(MultiplyOp, op.lhs, emit.call(RsqrtOp, root.operands[0])))


class JoinCasts(RewritePattern):
    """A cast to the own type → its operand, and one behind a cast that loses nothing → one. Exact.

    Before:

        %a = relay.cast(%x) {dtype = f32} : (tensor<4xf16>) -> tensor<4xf32>
        %y = relay.cast(%a) {dtype = f16} : (tensor<4xf32>) -> tensor<4xf16>

    After: `%x` in the place of `%y`.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        """Look through the cast before, and through bounds that are no narrower than what lies between."""
        emit = Emitter(rewriter, op)
        inner = plain_owner_of(op.data, CastOp)
        if op.data.type == op.result.type:
            emit.replace(op.data)
        elif inner is not None and _loses_nothing(inner.data, op.data, op.result):
            same = inner.data.type == op.result.type
            emit.replace(inner.data if same else emit.call(CastOp, inner.data, dtype=element_type_of(op.result.type)))
        elif inner is not None:
            clip, limits, wide = plain_owner_of(inner.data, ClipOp), _limits(op.data), _limits(op.result)
            if clip is not None and _is_within(clip, limits) and _is_within(clip, wide):
                same = inner.data.type == op.result.type
                target = element_type_of(op.result.type)
                emit.replace(inner.data if same else emit.call(CastOp, inner.data, dtype=target))


def _loses_nothing(first: SSAValue, middle: SSAValue, last: SSAValue) -> bool:
    """Whether a cast to the type of `middle` and on to that of `last` is one cast."""
    types = [element_type_of(value.type) for value in (first, middle, last)]
    source, between, target = map(numpy_dtype, types)
    if is_half(types[0]) and between.kind == "f" and between.itemsize > 2:
        return target.kind == "f"
    if is_half(types[1]) or not _holds_all(between, source):
        return False
    # A float between integers would bound what a cast of integers wraps.
    return source.kind == "f" or between.kind != "f" or _holds_all(target, source)


def _holds_all(wide: np.dtype, narrow: np.dtype) -> bool:
    """Whether each number of `narrow` is one of `wide`; numpy says so of 64 bits in a float too."""
    return np.can_cast(narrow, wide) and not (narrow.kind in "iu" and narrow.itemsize == 8 and wide.kind not in "iu")


def _is_within(clip: ClipOp, limits: tuple[int, int] | None) -> bool:
    """Whether the bounds, which are numbers of the data's type, are within those of an integer type."""
    low, high = clip.a_min.value.data, clip.a_max.value.data
    return limits is not None and limits[0] <= low <= high <= limits[1] and _holds(clip, low) and _holds(clip, high)


def _holds(clip: ClipOp, bound: float) -> bool:
    """Whether the type of the data of `clip` has the number `bound`; an integer type, where it is whole."""
    dtype = numpy_dtype(element_type_of(clip.data.type))
    limits = _limits(clip.data)
    if limits is not None:
        return bound == int(bound) and limits[0] <= bound <= limits[1]
    return float(np.asarray(bound).astype(dtype)) == bound


def _limits(value: SSAValue) -> tuple[int, int] | None:
    """The least and the greatest number of an integer type."""
    dtype = numpy_dtype(element_type_of(value.type))
    if dtype.kind not in "iu":
        return None
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


class DropBounds(RewritePattern):
    """Bounds that no number of a narrower type before them exceeds → nothing. Exact.

    Before:

        %a = relay.cast(%x) {dtype = i32} : (tensor<4xui8>) -> tensor<4xi32>
        %y = relay.clip(%a) {a_min = 0.0, a_max = 255.0}

    After: `%a` in the place of `%y`. So where the type of the operand itself holds no more.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ClipOp, rewriter: PatternRewriter) -> None:
        """Compare with what the type, or the type before, holds."""
        cast, wide = plain_owner_of(op.data, CastOp), _limits(op.data)
        limits = _limits(cast.data) if cast is not None else None
        if wide is None:
            return
        if limits is None or not wide[0] <= limits[0] <= limits[1] <= wide[1]:
            limits = wide
        if op.a_min.value.data <= limits[0] and limits[1] <= op.a_max.value.data:
            Emitter(rewriter, op).replace(op.data)


class JoinBounds(RewritePattern):
    """Bounds behind a cast of what has bounds → the narrower ones, and the cast. Exact.

    Before:

        %a = relay.clip(%x) {a_min = 0.0, a_max = 200.0}
        %b = relay.cast(%a) {dtype = ui8}
        %y = relay.clip(%b) {a_min = 10.0, a_max = 255.0}

    After:

        %a = relay.clip(%x) {a_min = 10.0, a_max = 200.0}
        %y = relay.cast(%a) {dtype = ui8}

    Left alone: bounds that are no integers, those that have nothing in common, and numbers that a type does not hold.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ClipOp, rewriter: PatternRewriter) -> None:
        """Where the cast loses no more than what is behind the point."""
        cast, limits = plain_owner_of(op.data, CastOp), _limits(op.data)
        inner = plain_owner_of(cast.data, ClipOp) if cast is not None else None
        if inner is None or limits is None:
            return
        bounds = [(clip.a_min.value.data, clip.a_max.value.data) for clip in (inner, op)]
        low, high = max(bounds[0][0], bounds[1][0]), min(bounds[0][1], bounds[1][1])
        whole = all(isfinite(bound) and bound == int(bound) for pair in bounds for bound in pair)
        if whole and low <= high and _is_within(inner, limits) and _holds(inner, low) and _holds(inner, high):
            emit = Emitter(rewriter, op)
            data = emit.call(ClipOp, inner.data, a_min=low, a_max=high)
            emit.replace(emit.call(CastOp, data, dtype=element_type_of(op.result.type)))


class AskQuantized(RewritePattern):
    """The place of the greatest or the least of what integers stand for → that of the integers. Exact.

    Before:

        %a = relay.qnn.dequantize(%q, %s, %z)
        %y = relay.argmax(%a) {axis = [1]}

    After:

        %y = relay.argmax(%q) {axis = [1]}

    Left alone: scales that are not one positive constant.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Where a greater integer stands for a greater number."""
        quantized = plain_owner_of(op.operands[0], DequantizeOp)
        if quantized is None or not isinstance(op, ArgmaxOp | ArgminOp | ArgsortOp):
            return
        scale, zero_point = (constant_of(operand) for operand in quantized.operands[1:])
        # A scale beyond these might bring two integers to one float, or to infinity.
        if scale is None or scale.size != 1 or not _LEAST_SCALE < float(scale.reshape(())) < _GREATEST_SCALE:
            return
        if zero_point is None or zero_point.size != 1 or abs(int(zero_point.reshape(()))) > _MOST_ZERO_POINT:
            return
        if numpy_dtype(element_type_of(quantized.operands[0].type)).itemsize > 2 or is_half(quantized.out_dtype):
            return
        emit = Emitter(rewriter, op)
        emit.replace(emit.insert(type(op).typed([quantized.operands[0]], op.properties)).results[0])


_LEAST_SCALE, _GREATEST_SCALE, _MOST_ZERO_POINT = 1e-30, 1e30, 1 << 20
"""Products of differences of 24 bits with a scale between these are normal numbers, all of them different."""


def uniform_number(value: SSAValue) -> float | None:
    """The number that a tensor is full of; `None` where that is not known."""
    op = value.owner
    if isinstance(op, ZerosOp | OnesOp | ZerosLikeOp | OnesLikeOp):
        return float(isinstance(op, OnesOp | OnesLikeOp))
    array = constant_of(op.fill_value if isinstance(op, FullOp) else value)
    if array is None or not array.size or (array != array.reshape(-1)[0]).any():
        return None
    return float(array.reshape(-1)[0])


_ARITHMETIC = (DropNeutral(), TakeNumberOfFull())
NUMBER_PATTERNS: Mapping[type[Operation], Sequence[RewritePattern]] = {
    AddOp: (*_ARITHMETIC, DoubleSelf(), JoinConstants(), FactorBinomial()),
    SubtractOp: _ARITHMETIC,
    MultiplyOp: (*_ARITHMETIC, JoinConstants()),
    DivideOp: (*_ARITHMETIC, MultiplyByRsqrt()),
    CastOp: (JoinCasts(),),
    ClipOp: (DropBounds(), JoinBounds()),
    **dict.fromkeys((ArgmaxOp, ArgminOp, ArgsortOp), (AskQuantized(),)),
}
"""The patterns of this file, by the op that they start from."""
