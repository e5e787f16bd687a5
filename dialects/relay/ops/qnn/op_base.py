"""The base of the operators on quantised numbers, and the building blocks of their definitions.

A quantised number q represents `scale * (q - zero_point)`. Scales are f32 and zero points i32, each either one number
or one for each index along an axis. The documented rounding is exact: requantisation multiplies integers by the
quotient of two scales, rounded to 31 bits, unless floats are requested.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, OpResult, SSAValue

from xrelay.dialects.relay.core.constraints import ElementsIn, is_number
from xrelay.dialects.relay.op_definition import (
    Dim,
    Facts,
    Layout,
    LayoutAnswer,
    LayoutDecision,
    LayoutRefusal,
    MixedPrecision,
    OpPatternKind,
    RelayOp,
    element_type_of,
    int_attribute,
    letter_of_axis,
    numpy_dtype,
    shape_of,
    tensor_type,
)
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.fixed_point import MOST_PLACES, PLACES, cut, saturated
from xrelay.dialects.relay.structure.composite import CompositeOp, Expansion, Parts
from xrelay.dialects.relay.structure.constant import ConstantOp

_BIAS = 1022
"""The exponent bias of f64 for significands in [½, 1)."""


class QnnOp(CompositeOp):
    """Base of the operators on quantised numbers; `qnn-canonicalize-ops` replaces them by plain operators."""

    PATTERN = OpPatternKind.BROADCAST
    MIXED_PRECISION = MixedPrecision.NEVER
    EXPANDS = Expansion.QNN

    @classmethod
    def number_type(cls, index: int) -> Attribute | None:
        """Returns f32 for scales and i32 for zero points."""
        for constraint in cls.CONSTRAINTS.values():
            if isinstance(constraint, ElementsIn) and index in constraint.operands and len(constraint.types) == 1:
                return tensor_type((), constraint.types[0])
        return None


def with_parameters(decision: LayoutDecision, count: int) -> LayoutDecision:
    """Extends a decision about the first operands to `count` operands: parameters keep their layout."""
    operands = (*decision.operands, *[None] * (count - len(decision.operands)))
    return LayoutDecision(operands, decision.result, decision.properties)


def following(op: RelayOp, layout: Layout | None, axis: int | None) -> LayoutAnswer:
    """Follows the data's `layout` if it does not split `axis`, and renumbers `axis`. None: the op ignores its axis."""
    properties: dict[str, Attribute] = {}
    if axis is not None and layout is not None:
        letter = letter_of_axis(layout, axis)
        if layout.factor(letter) is not None:
            return LayoutRefusal(f"layout {layout} splits the axis that {op.relay_name()} names")
        properties = {"axis": int_attribute(layout.index(letter))}
    return with_parameters(LayoutDecision((layout,), layout, properties), len(op.operands))


def require_one_or_each(facts: Facts, operand: int, extent: Dim, constraint: str, what: str) -> None:
    """Requires that a parameter is one number, or a vector of `extent` numbers. `what` names them in messages."""
    own = facts.shape(operand)
    if is_number(own):
        return
    facts.require(
        len(own) == 1, constraint, lambda: f"operand #{operand} must be one number or a vector, found {facts[operand]}"
    )
    facts.require_equal(own[0], extent, constraint, f"extents of operand #{operand} and of the {what}:")


def along(parts: Parts, parameter: SSAValue, rank: int, axis: int) -> SSAValue:
    """Reshapes a number, or a vector along `axis`, so that it broadcasts with a tensor of rank `rank`."""
    own = shape_of(parameter.type)
    if own == (1,) and rank == 0:
        return parts.op("reshape", parameter, newshape=())
    behind = rank - 1 - axis % max(rank, 1)
    return parts.op("expand_dims", parameter, axis=1, num_newaxis=behind) if own and behind else parameter


def number(parts: Parts, parameter: SSAValue) -> SSAValue:
    """Reshapes a parameter of one element to rank 0."""
    return along(parts, parameter, 0, 0)


def distance(parts: Parts, data: SSAValue, zero_point: SSAValue) -> SSAValue:
    """Computes `data - zero_point` in 32 bits; the zero point broadcasts."""
    return parts.op("subtract", parts.op("cast", data, dtype="int32"), zero_point)


def near_distance(parts: Parts, data: SSAValue, zero_point: SSAValue, axis: int) -> SSAValue:
    """Computes `data - zero_point` for a zero point along `axis`, saturated to 32 bits."""
    broadcast = along(parts, zero_point, parts.rank(data), axis)
    if fits_data(zero_point, data):
        return distance(parts, data, broadcast)
    wide = (parts.op("cast", each, dtype="int64") for each in (data, broadcast))
    return saturated(parts, parts.op("subtract", *wide), np.dtype(np.int32))


def fits_data(zero_point: SSAValue, data: SSAValue) -> bool:
    """Returns whether `data - zero_point` is known to be less than 2¹⁷ in magnitude, as for 16-bit numbers.

    A zero point that is known only at run time may have any 32-bit value, unless it is cast from a narrower type.
    """
    if dtype_of(data).itemsize > 2 or not isinstance(zero_point, OpResult):
        return False
    op = zero_point.op
    if isinstance(op, ConstantOp) and op.is_here:
        return bool((np.abs(op.array.astype(np.int64)) < 1 << 16).all())
    return isinstance(op, CastOp) and dtype_of(op.operands[0]).kind in "iu" and dtype_of(op.operands[0]).itemsize <= 2


def ratio(parts: Parts, numerators: tuple[SSAValue, ...], denominator: SSAValue, times: float = 1.0) -> SSAValue:
    """Computes the product of `numerators`, which broadcast, and `times`, divided by `denominator`, in f64."""
    first, *others = (parts.op("cast", scale, dtype="float64") for scale in numerators)
    for scale in others:
        first = parts.op("multiply", first, scale)
    if times != 1.0:
        first = parts.op("multiply", first, times)
    return parts.op("divide", first, parts.op("cast", denominator, dtype="float64"))


def factor_of(parts: Parts, ratio: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Returns a factor and a number of places, both i64, for an f64 `ratio`; the factor is rounded to 31 bits.

    Halves are rounded away from zero. For a nonzero i32 times the factor and `cut`, a ratio of 2³¹ or more exceeds 32
    bits, and one below 2⁻³² yields 0. Infinities, and NaN as if positive, are ratios of 2³¹ or more.
    """
    bits = parts.op("reinterpret", ratio, dtype="int64")
    exponent = parts.op("bitwise_and", parts.op("right_shift", bits, 52), 0x7FF)
    whole = parts.op("bitwise_or", parts.op("bitwise_and", bits, (1 << 52) - 1), 1 << 52)
    factor = parts.op("right_shift", parts.op("add", whole, 1 << 21), 22)
    places = parts.op("subtract", parts.scalar(_BIAS + PLACES, bits), exponent)
    factor = parts.op("where", parts.op("less", places, 0), parts.scalar(1 << PLACES, bits), factor)
    factor = parts.op("where", parts.op("greater", places, MOST_PLACES), parts.scalar(0, bits), factor)
    factor = parts.op("where", parts.op("less", ratio, 0.0), parts.op("negative", factor), factor)
    return factor, parts.op("clip", places, a_min=0.0, a_max=float(MOST_PLACES))


def scaled(parts: Parts, distances: SSAValue, factor: SSAValue, *, away: bool = False) -> SSAValue:
    """Multiplies i32 differences by an f64 ratio, which broadcasts, in fixed point; rounds to i64."""
    multiplier, places = factor_of(parts, factor)
    product = parts.op("multiply", parts.op("cast", distances, dtype="int64"), multiplier)
    return cut(parts, product, places, away=away)


def scaled_in_floats(
    parts: Parts, distances: SSAValue, factor: SSAValue, dtype: np.dtype, *, away: bool = False
) -> SSAValue:
    """Multiplies differences by a ratio in the float type `dtype`; rounds to whole numbers."""
    product = parts.op("multiply", parts.op("cast", distances, dtype=dtype), parts.op("cast", factor, dtype=dtype))
    if not away:
        below = parts.op("floor", product)
        missing = parts.op("greater_equal", parts.op("subtract", product, below), 0.5)
        return parts.op("add", below, parts.op("cast", missing, dtype=dtype))
    towards_zero = parts.op("trunc", product)
    missing = parts.op("greater_equal", parts.op("abs", parts.op("subtract", product, towards_zero)), 0.5)
    step = parts.op("multiply", parts.op("sign", product), parts.op("cast", missing, dtype=dtype))
    return parts.op("add", towards_zero, step)


def shifted(parts: Parts, whole: SSAValue, zero_point: SSAValue, dtype: np.dtype) -> SSAValue:
    """Adds a zero point, which broadcasts, to whole numbers (i64 or floats); saturates to `dtype`.

    NaN counts as 0. The zero point is saturated to `dtype` as well.
    """
    if dtype_of(whole).kind == "f":
        whole = parts.op("where", parts.op("isnan", whole), parts.scalar(0, whole), whole)
    limits = np.iinfo(dtype)
    if dtype.itemsize < 4:
        zero_point = parts.op("clip", zero_point, a_min=float(limits.min), a_max=float(limits.max))
    elif dtype_of(whole) == np.float32:
        # f32 does not represent all 32-bit integers.
        whole = parts.op("cast", whole, dtype="float64")
    return saturated(parts, parts.op("add", whole, parts.op("cast", zero_point, dtype=dtype_of(whole))), dtype)


def dtype_of(value: SSAValue) -> np.dtype:
    """Returns the dtype of a tensor's elements."""
    return numpy_dtype(element_type_of(value.type))
