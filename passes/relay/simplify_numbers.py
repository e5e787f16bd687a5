"""Patterns of `relay-simplify-expr` on numbers: neutral elements, constants, casts, clips and binomials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, isqrt, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.algorithm.sort import ArgsortOp
from xrelay.dialects.relay.ops.qnn.quantize import DequantizeOp
from xrelay.dialects.relay.ops.tensor.arg_reduce import ArgmaxOp, ArgminOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, DivideOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.fill import FullOp, OnesLikeOp, OnesOp, ZerosLikeOp, ZerosOp
from xrelay.dialects.relay.ops.tensor.unary import ClipOp, RsqrtOp, SqrtOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import is_half, numpy_dtype
from xrelay.dialects.shared.types import element_type_of
from xrelay.passes.graph.rewriting import Emitter, constant_of, float_range, plain_owner_of

_NEUTRAL: Mapping[type[Operation], tuple[float, tuple[int, ...]]] = {
    AddOp: (0.0, (0, 1)),
    SubtractOp: (0.0, (1,)),
    MultiplyOp: (1.0, (0, 1)),
    DivideOp: (1.0, (1,)),
}
"""Op class → its neutral element, and the indices of the operands that may be this number."""


class DropNeutral(RewritePattern):
    """Removes additions and subtractions of 0, and multiplications and divisions by 1.

    Exact, except for the sign of a zero.

    Before:

        %y = relay.add(%x, %zero) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>

    After: `%x` replaces `%y`. An operand that is broadcast to a larger shape, and booleans, are not changed.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if one of its operands is the neutral element."""
        neutral, indices = _NEUTRAL[type(op)]
        for index in indices:
            data = op.operands[1 - index]
            is_number = numpy_dtype(element_type_of(data.type)) != np.bool_
            if is_number and data.type == op.results[0].type and uniform_number(op.operands[index]) == neutral:
                Emitter(rewriter, op).replace(data)
                return


class ReplaceFullByNumber(RewritePattern):
    """Replaces an operand filled with one number by the number, if the other operand has the shape. Exact.

    Before:

        %f = relay.full(%n) {shape = [4, 6]} : (tensor<f32>) -> tensor<4x6xf32>
        %y = relay.multiply(%x, %f) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>

    After:

        %y = relay.multiply(%x, %n) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if one of its operands is filled with a number."""
        for index in (0, 1):
            operand, other = op.operands[index], op.operands[1 - index]
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
            operands = [number, other] if index == 0 else [other, number]
            emit.replace(emit.insert(type(op).create(operands=operands, result_types=op.result_types)).results[0])
            return


class ReplaceSumByDouble(RewritePattern):
    """Replaces a value plus itself by twice the value. Exact.

    Before:

        %y = relay.add(%x, %x)

    After:

        %y = relay.multiply(%x, %two)
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddOp, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if both operands are the same value."""
        if op.lhs is op.rhs and np.dtype(bool) != numpy_dtype(element_type_of(op.lhs.type)):
            emit = Emitter(rewriter, op)
            emit.replace(emit.call(MultiplyOp, op.lhs, emit.scalar(2, op.lhs.type)))


_Join: TypeAlias = Callable[[Array, Array], Array]


class JoinConstants(RewritePattern):
    """Combines constants of two consecutive sums or products, and moves factors before sums. Not exact.

    Before:

        %a = relay.add(%x, %c)
        %y = relay.multiply(%a, %d)

    After:

        %m = relay.multiply(%x, %d)
        %y = relay.add(%m, %e)                  %e : %c times %d, a constant

    Sums of sums and products of products are rewritten similarly. Not changed: inner results with other uses, and
    constants whose combination is infinite or loses precision.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if `op` and the op that defines its other operand have a constant operand."""
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
            factor = emit.constant(second, "factor")
            data = emit.call(MultiplyOp, data, factor)
        constant = emit.constant(joined, "joined")
        result = type(inner).call(data, constant)
        if result.results[0].type == op.results[0].type:
            emit.replace(emit.insert(result).results[0])
        else:
            result.erase()


def _keeps_digits(joined: Array, first: Array, second: Array, join: _Join) -> bool:
    """Whether `join` of finite floats does not overflow, and a product of nonzero factors does not underflow."""
    if joined.dtype.kind in "biu":
        return True
    size, one, other = (np.abs(array.astype(np.float64)) for array in (joined, first, second))
    least, most = float_range(joined.dtype)
    is_lost = (size < least) & (np.minimum(one, other) > 0) & (join is np.multiply)
    return not bool(np.any(np.isfinite(one) & np.isfinite(other) & ((size > most) | is_lost)))


def _with_constant(op: Operation) -> tuple[SSAValue, Array] | None:
    """The other operand of an op with a constant operand, and the constant; `None` for other ops."""
    for index in (1, 0):
        array, data = constant_of(op.operands[index]), op.operands[1 - index]
        if array is not None and constant_of(data) is None and data.type == op.results[0].type:
            return data, array
    return None


class MultiplyByRsqrt(RewritePattern):
    """Replaces a division by a square root by a product with the reciprocal square root. Not exact.

    Before:

        %r = relay.sqrt(%x)
        %y = relay.divide(%c, %r)

    After:

        %r = relay.rsqrt(%x)
        %y = relay.multiply(%c, %r)
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DivideOp, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if its divisor is a square root without other uses."""
        root = plain_owner_of(op.rhs, SqrtOp)
        if root is not None and op.rhs.has_one_use():
            emit = Emitter(rewriter, op)
            emit.replace(emit.call(MultiplyOp, op.lhs, emit.call(RsqrtOp, root.operands[0])))


class JoinCasts(RewritePattern):
    """Removes casts to the operand's type, and combines a cast with a preceding lossless cast. Exact.

    Before:

        %a = relay.cast(%x) {dtype = f32} : (tensor<4xf16>) -> tensor<4xf32>
        %y = relay.cast(%a) {dtype = f16} : (tensor<4xf32>) -> tensor<4xf16>

    After: `%x` replaces `%y`.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        """Removes `op` or the preceding cast; a cast of clipped data is lossless if the bounds fit its type."""
        emit = Emitter(rewriter, op)
        inner = plain_owner_of(op.data, CastOp)
        if op.data.type == op.result.type:
            emit.replace(op.data)
        elif inner is not None and (_is_lossless(inner.data, op.data, op.result) or _is_clipped(inner.data, op)):
            same = inner.data.type == op.result.type
            emit.replace(inner.data if same else emit.call(CastOp, inner.data, dtype=element_type_of(op.result.type)))


def _is_clipped(data: SSAValue, cast: CastOp) -> bool:
    """Whether `data` is clipped to numbers that the types before and after `cast` represent."""
    clip = plain_owner_of(data, ClipOp)
    return clip is not None and _is_within(clip, _limits(cast.data)) and _is_within(clip, _limits(cast.result))


def _is_lossless(first: SSAValue, middle: SSAValue, last: SSAValue) -> bool:
    """Whether a cast from `first` to the type of `middle` and then to that of `last` equals a single cast."""
    types = [element_type_of(value.type) for value in (first, middle, last)]
    source, between, target = map(numpy_dtype, types)
    if is_half(types[0]) and between.kind == "f" and between.itemsize > 2:
        return target.kind == "f"
    if is_half(types[1]) or not _holds_all(between, source):
        return False
    # A cast from float to integer saturates, while a cast between integers wraps.
    return source.kind == "f" or between.kind != "f" or _holds_all(target, source)


def _holds_all(wide: np.dtype, narrow: np.dtype) -> bool:
    """Whether `wide` represents all numbers of `narrow`; unlike in numpy, floats do not for 64-bit integers."""
    return np.can_cast(narrow, wide) and not (narrow.kind in "iu" and narrow.itemsize == 8 and wide.kind not in "iu")


def _is_within(clip: ClipOp, limits: tuple[int, int] | None) -> bool:
    """Whether the bounds of `clip` are numbers of the data's type within `limits` of an integer type."""
    low, high = clip.a_min.value.data, clip.a_max.value.data
    return limits is not None and limits[0] <= low <= high <= limits[1] and _holds(clip, low) and _holds(clip, high)


def _holds(clip: ClipOp, bound: float) -> bool:
    """Whether the data's type of `clip` represents the number `bound` exactly."""
    dtype = numpy_dtype(element_type_of(clip.data.type))
    limits = _limits(clip.data)
    if limits is not None:
        return bound == int(bound) and limits[0] <= bound <= limits[1]
    return float(np.asarray(bound).astype(dtype)) == bound


def _limits(value: SSAValue) -> tuple[int, int] | None:
    """The least and the greatest number of an integer type; `None` for other types."""
    dtype = numpy_dtype(element_type_of(value.type))
    if dtype.kind not in "iu":
        return None
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


class DropBounds(RewritePattern):
    """Removes clips whose bounds include all numbers of the data's type, or of the type before a cast. Exact.

    Before:

        %a = relay.cast(%x) {dtype = i32} : (tensor<4xui8>) -> tensor<4xi32>
        %y = relay.clip(%a) {a_min = 0.0, a_max = 255.0}

    After: `%a` replaces `%y`.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ClipOp, rewriter: PatternRewriter) -> None:
        """Compares the bounds with the range of the type before a cast, or of the data's type."""
        cast, wide = plain_owner_of(op.data, CastOp), _limits(op.data)
        limits = _limits(cast.data) if cast is not None else None
        if wide is None:
            return
        if limits is None or not wide[0] <= limits[0] <= limits[1] <= wide[1]:
            limits = wide
        if op.a_min.value.data <= limits[0] and limits[1] <= op.a_max.value.data:
            Emitter(rewriter, op).replace(op.data)


class JoinBounds(RewritePattern):
    """Combines a clip after a cast with a clip before it. Exact.

    Before:

        %a = relay.clip(%x) {a_min = 0.0, a_max = 200.0}
        %b = relay.cast(%a) {dtype = ui8}
        %y = relay.clip(%b) {a_min = 10.0, a_max = 255.0}

    After:

        %a = relay.clip(%x) {a_min = 10.0, a_max = 200.0}
        %y = relay.cast(%a) {dtype = ui8}

    Not changed: bounds that are not integers, disjoint ranges, and bounds that a type cannot represent.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ClipOp, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if the inner clip fits the type after the cast, so that the cast only drops fractions."""
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


class UseQuantized(RewritePattern):
    """Applies argmax, argmin and argsort to quantised integers instead of the dequantised floats. Exact.

    Before:

        %a = relay.qnn.dequantize(%q, %s, %z)
        %y = relay.argmax(%a) {axis = [1]}

    After:

        %y = relay.argmax(%q) {axis = [1]}

    Scales that are not a single positive constant are not changed.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if dequantisation is strictly increasing."""
        quantized = plain_owner_of(op.operands[0], DequantizeOp)
        if quantized is None or not isinstance(op, ArgmaxOp | ArgminOp | ArgsortOp):
            return
        scale, zero_point = (constant_of(operand) for operand in quantized.operands[1:])
        # Other scales might map two integers to the same float, or to infinity.
        if scale is None or scale.size != 1 or not _LEAST_SCALE < float(scale.reshape(())) < _GREATEST_SCALE:
            return
        if zero_point is None or zero_point.size != 1 or abs(int(zero_point.reshape(()))) > _MAX_ZERO_POINT:
            return
        if numpy_dtype(element_type_of(quantized.operands[0].type)).itemsize > 2 or is_half(quantized.out_dtype):
            return
        emit = Emitter(rewriter, op)
        emit.replace(emit.insert(type(op).typed([quantized.operands[0]], op.properties)).results[0])


_LEAST_SCALE, _GREATEST_SCALE, _MAX_ZERO_POINT = 1e-30, 1e30, 1 << 20
"""Products of 24-bit differences and a scale in this range are normal and distinct floats."""


def uniform_number(value: SSAValue) -> float | None:
    """The number with which a tensor is filled; `None` if it is unknown or the elements differ."""
    op = value.owner
    if isinstance(op, ZerosOp | OnesOp | ZerosLikeOp | OnesLikeOp):
        return float(isinstance(op, OnesOp | OnesLikeOp))
    array = constant_of(op.fill_value if isinstance(op, FullOp) else value)
    if array is None or not array.size or (array != array.reshape(-1)[0]).any():
        return None
    return float(array.reshape(-1)[0])


class _Term(NamedTuple):
    """The product of a number and two values."""

    number: float
    first: SSAValue
    second: SSAValue


class _Binomial(NamedTuple):
    """`x² + b x y + c y²`."""

    x: SSAValue
    y: SSAValue
    b: float
    c: float


class FactorBinomial(RewritePattern):
    """Factors `x² + b x y + c y²` into `(x + p y) (x + q y)` with p + q = b and p q = c. Not exact.

    Before:

        %a = relay.multiply(%x, %x)
        %b = relay.multiply(%x, %y)
        %c = relay.multiply(%two, %b)
        %d = relay.multiply(%y, %y)
        %e = relay.add(%a, %c)
        %z = relay.add(%e, %d)

    After:

        %s = relay.add(%x, %y)
        %z = relay.multiply(%s, %s)

    Terms and factors may be in any order. Not changed: b and c without real p and q, or, for integers, without integer
    p and q; sums in which neither square has the factor 1; inner products and sums with other uses; operands of other
    shapes than the result.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddOp, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if it is a sum of two squares and their product."""
        found = _binomial(op)
        if found is None:
            return
        whole = numpy_dtype(element_type_of(op.result.type)).kind in "iu"
        roots = _whole_roots(found.b, found.c) if whole else _roots(found.b, found.c)
        if roots is None:
            return
        emit = Emitter(rewriter, op)
        left = _sum(emit, found, roots[0])
        right = left if roots[1] == roots[0] else _sum(emit, found, roots[1])
        emit.replace(emit.call(MultiplyOp, left, right))


def _binomial(op: AddOp) -> _Binomial | None:
    """The sum as a binomial, whose first square has the factor 1; `None` for other sums."""
    terms = _terms(op)
    mixed = [term for term in terms if term.first is not term.second]
    squares = {term.first: term.number for term in terms if term.first is term.second}
    if len(terms) != 3 or len(mixed) != 1 or squares.keys() != {*mixed[0][1:]}:
        return None
    number, first, second = mixed[0]
    for x, y in ((first, second), (second, first)):
        if squares[x] == 1 and number != 0 and squares[y] != 0:
            return _Binomial(x, y, number, squares[y])
    return None


def _terms(op: AddOp) -> list[_Term]:
    """The three terms of two nested sums; fewer for other values."""
    for inner, last in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        first = plain_owner_of(inner, AddOp)
        if first is not None and inner.has_one_use():
            terms = [_term(value, op.result) for value in (first.lhs, first.rhs, last)]
            return [term for term in terms if term is not None]
    return []


def _term(value: SSAValue, result: SSAValue) -> _Term | None:
    """A product of two values of the type of `result` and any constants; `None` for other values."""
    number, leaves, pending = 1.0, list[SSAValue](), [value]
    while pending:
        factor = pending.pop()
        product, constant = plain_owner_of(factor, MultiplyOp), constant_of(factor)
        if product is not None and factor.has_one_use():
            pending += reversed(product.operands)
        elif constant is not None and constant.size == 1 and isfinite(float(constant.reshape(()))):
            number *= float(constant.reshape(()))
        elif factor.type != result.type or len(leaves) == 2:
            return None
        else:
            leaves.append(factor)
    return _Term(number, *leaves) if len(leaves) == 2 else None


def _roots(b: float, c: float) -> tuple[float, float] | None:
    """Real numbers with the sum b and the product c."""
    square = b * b - 4 * c
    if not isfinite(square) or square < 0:
        return None
    # The root of greater magnitude first, because its sum has no cancellation.
    greater = (b + (sqrt(square) if b > 0 else -sqrt(square))) / 2
    return greater, c / greater


def _whole_roots(b: float, c: float) -> tuple[float, float] | None:
    """Integers with the sum b and the product c, if these are small enough for every integer type."""
    if max(abs(b), abs(c)) > _INT8_MAX:
        return None
    square = int(b) * int(b) - 4 * int(c)
    if square < 0 or isqrt(square) ** 2 != square:
        return None
    # b and the square root are both odd or both even.
    return (int(b) + isqrt(square)) // 2, (int(b) - isqrt(square)) // 2


_INT8_MAX = 127
"""Every signed integer type can represent such numbers; in unsigned types negative roots wrap, as sums do."""


def _sum(emit: Emitter, found: _Binomial, root: float) -> SSAValue:
    """`x + root * y`."""
    scaled = found.y if root == 1 else emit.call(MultiplyOp, found.y, emit.scalar(root, found.y.type))
    return emit.call(AddOp, found.x, scaled)


_ARITHMETIC = (DropNeutral(), ReplaceFullByNumber())


NUMBER_PATTERNS: Mapping[type[Operation], Sequence[RewritePattern]] = {
    AddOp: (*_ARITHMETIC, ReplaceSumByDouble(), JoinConstants(), FactorBinomial()),
    SubtractOp: _ARITHMETIC,
    MultiplyOp: (*_ARITHMETIC, JoinConstants()),
    DivideOp: (*_ARITHMETIC, MultiplyByRsqrt()),
    CastOp: (JoinCasts(),),
    ClipOp: (DropBounds(), JoinBounds()),
    **dict.fromkeys((ArgmaxOp, ArgminOp, ArgsortOp), (UseQuantized(),)),
}
"""The patterns of this file, by the class of their root op."""
