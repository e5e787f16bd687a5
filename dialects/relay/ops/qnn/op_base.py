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
from xrelay.dialects.relay.ops.tensor.fixed_point import MAX_PLACES, PLACES, cut, saturated
from xrelay.dialects.relay.structure.composite import CompositeOp, DecompositionBuilder, Expansion
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


def along(build: DecompositionBuilder, parameter: SSAValue, rank: int, axis: int) -> SSAValue:
    """Reshapes a number, or a vector along `axis`, so that it broadcasts with a tensor of rank `rank`."""
    own = shape_of(parameter.type)
    if own == (1,) and rank == 0:
        return build.op("reshape", parameter, newshape=())
    behind = rank - 1 - axis % max(rank, 1)
    return build.op("expand_dims", parameter, axis=1, num_newaxis=behind) if own and behind else parameter


def number(build: DecompositionBuilder, parameter: SSAValue) -> SSAValue:
    """Reshapes a parameter of one element to rank 0."""
    return along(build, parameter, 0, 0)


def is_one(parameter: SSAValue) -> bool:
    """Returns whether a parameter is the constant 1, or a vector of it."""
    op = parameter.owner
    return isinstance(op, ConstantOp) and op.is_here and bool((op.array == 1).all())


def distance(build: DecompositionBuilder, data: SSAValue, zero_point: SSAValue) -> SSAValue:
    """Computes `data - zero_point` in 32 bits; the zero point broadcasts."""
    return build.op("subtract", build.op("cast", data, dtype="int32"), zero_point)


def near_distance(build: DecompositionBuilder, data: SSAValue, zero_point: SSAValue, axis: int) -> SSAValue:
    """Computes `data - zero_point` for a zero point along `axis`, saturated to 32 bits."""
    broadcast = along(build, zero_point, build.rank(data), axis)
    if fits_data(zero_point, data):
        return distance(build, data, broadcast)
    wide = (build.op("cast", each, dtype="int64") for each in (data, broadcast))
    return saturated(build, build.op("subtract", *wide), np.dtype(np.int32))


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


def ratio(
    build: DecompositionBuilder, numerators: tuple[SSAValue, ...], denominator: SSAValue, times: float = 1.0
) -> SSAValue:
    """Computes the product of `numerators`, which broadcast, and `times`, divided by `denominator`, in f64."""
    first, *others = (build.op("cast", scale, dtype="float64") for scale in numerators)
    for scale in others:
        first = build.op("multiply", first, scale)
    if times != 1.0:
        first = build.op("multiply", first, times)
    return build.op("divide", first, build.op("cast", denominator, dtype="float64"))


def factor_of(build: DecompositionBuilder, ratio: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Returns a factor and a number of places, both i64, for an f64 `ratio`; the factor is rounded to 31 bits.

    Halves are rounded away from zero. For a nonzero i32 times the factor and `cut`, a ratio of 2³¹ or more exceeds 32
    bits, and one below 2⁻³² yields 0. Infinities, and NaN as if positive, are ratios of 2³¹ or more.
    """
    bits = build.op("reinterpret", ratio, dtype="int64")
    exponent = build.op("bitwise_and", build.op("right_shift", bits, 52), 0x7FF)
    whole = build.op("bitwise_or", build.op("bitwise_and", bits, (1 << 52) - 1), 1 << 52)
    factor = build.op("right_shift", build.op("add", whole, 1 << 21), 22)
    places = build.op("subtract", build.scalar(_BIAS + PLACES, bits), exponent)
    factor = build.op("where", build.op("less", places, 0), build.scalar(1 << PLACES, bits), factor)
    factor = build.op("where", build.op("greater", places, MAX_PLACES), build.scalar(0, bits), factor)
    factor = build.op("where", build.op("less", ratio, 0.0), build.op("negative", factor), factor)
    return factor, build.op("clip", places, a_min=0.0, a_max=float(MAX_PLACES))


def scaled(build: DecompositionBuilder, distances: SSAValue, factor: SSAValue, *, away: bool = False) -> SSAValue:
    """Multiplies i32 differences by an f64 ratio, which broadcasts, in fixed point; rounds to i64."""
    multiplier, places = factor_of(build, factor)
    product = build.op("multiply", build.op("cast", distances, dtype="int64"), multiplier)
    return cut(build, product, places, away=away)


def scaled_in_floats(
    build: DecompositionBuilder, distances: SSAValue, factor: SSAValue, dtype: np.dtype, *, away: bool = False
) -> SSAValue:
    """Multiplies differences by a ratio in the float type `dtype`; rounds to whole numbers."""
    product = build.op("multiply", build.op("cast", distances, dtype=dtype), build.op("cast", factor, dtype=dtype))
    if not away:
        below = build.op("floor", product)
        missing = build.op("greater_equal", build.op("subtract", product, below), 0.5)
        return build.op("add", below, build.op("cast", missing, dtype=dtype))
    towards_zero = build.op("trunc", product)
    missing = build.op("greater_equal", build.op("abs", build.op("subtract", product, towards_zero)), 0.5)
    step = build.op("multiply", build.op("sign", product), build.op("cast", missing, dtype=dtype))
    return build.op("add", towards_zero, step)


def shifted(build: DecompositionBuilder, whole: SSAValue, zero_point: SSAValue, dtype: np.dtype) -> SSAValue:
    """Adds a zero point, which broadcasts, to whole numbers (i64 or floats); saturates to `dtype`.

    NaN counts as 0. The zero point is saturated to `dtype` as well.
    """
    if dtype_of(whole).kind == "f":
        whole = build.op("where", build.op("isnan", whole), build.scalar(0, whole), whole)
    limits = np.iinfo(dtype)
    if dtype.itemsize < 4:
        zero_point = build.op("clip", zero_point, a_min=float(limits.min), a_max=float(limits.max))
    elif dtype_of(whole) == np.float32:
        # f32 does not represent all 32-bit integers.
        whole = build.op("cast", whole, dtype="float64")
    return saturated(build, build.op("add", whole, build.op("cast", zero_point, dtype=dtype_of(whole))), dtype)


def dtype_of(value: SSAValue) -> np.dtype:
    """Returns the dtype of a tensor's elements."""
    return numpy_dtype(element_type_of(value.type))
