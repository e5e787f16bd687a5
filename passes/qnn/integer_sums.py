"""Sums, products, concatenation, convolutions and matrix products of several tensors, on integers.

Convolutions and matrix products are exact 32-bit sums of products of distances from zero points.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.core.constraints import NARROW
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.nn.conv import FilterOp
from xrelay.dialects.relay.ops.nn.conv_transpose import ConvTransposeOp
from xrelay.dialects.relay.ops.nn.dense import BiasAddOp
from xrelay.dialects.relay.ops.nn.matmul import MatrixProductOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import shape_of
from xrelay.passes.graph.rewriting import constant_of, per_channel
from xrelay.passes.qnn.integer_arithmetic import require_order
from xrelay.passes.qnn.integer_rules import (
    MAX_SUM,
    SCALE_TOLERANCE,
    IntegerWriter,
    NoIntegerFormError,
    Quantized,
    QuantizedValue,
    QuantParameters,
    Result,
    float_constant,
    integer_rule,
    is_same,
    known_array,
    require_headroom,
)

REFINEMENT = 256
"""The number of steps of a 32-bit sum in a step of the result; with this precision the result is rounded only once."""


@integer_rule("nn.bias_add", result=Result.ROUNDED, data=2, constants=True)
def bias_add(w: IntegerWriter) -> QuantizedValue:
    """Like `add`, with trailing axes of extent 1 for the bias and weaker requirements on dynamic extents."""
    op = w.op_as(BiasAddOp)
    shape = shape_of(op.data.type)
    axis = axis_index(op.axis.value.data, len(shape))
    if shape_of(op.bias.type) != (shape[axis],):
        raise NoIntegerFormError("the extents of bias and data may differ")
    return _sum(w, "add", axis)


@integer_rule("add", result=Result.ROUNDED, data=2, constants=True)
def add(w: IntegerWriter) -> QuantizedValue:
    """Adds a bias to 32-bit data directly; otherwise each side is first brought to steps of the result."""
    return _sum(w, "add", None)


@integer_rule("subtract", result=Result.ROUNDED, data=2, constants=True)
def subtract(w: IntegerWriter) -> QuantizedValue:
    """As for `add`."""
    return _sum(w, "subtract", None)


def _sum(w: IntegerWriter, name: str, bias_axis: int | None) -> QuantizedValue:
    """The sum or the difference of both operands; the second is along `bias_axis` if that is given."""
    wide = _sum_of_products(w, name, bias_axis)
    if wide is not None:
        return wide
    left, right = w.operands
    params = w.result_params()
    of_one_type = all(isinstance(side, Quantized) and side.params.dtype == params.dtype for side in (left, right))
    if of_one_type and bias_axis is None and params.dtype in NARROW:
        sides = w.tensor(0), w.tensor(1)
        parameters = [each for side in sides for each in (side.params.scale, side.params.zero_point)]
        axes = {f"{side}_axis": data.params.axis for side, data in zip(("lhs", "rhs"), sides, strict=True)}
        values = (side.value for side in sides)
        return Quantized(
            w.call(f"qnn.{name}", *values, *parameters, params.scale, params.zero_point, **axes),
            params,
        )
    if params.dtype not in NARROW:
        raise NoIntegerFormError("the sum may overflow 32 bits")
    fine = QuantParameters(
        w.product("divide", params.scale, w.constant(np.array(REFINEMENT, np.float32))), w.zero(), i32, 0
    )
    lhs, rhs = (_fine_side(w, index, fine) for index in (0, 1))
    if bias_axis is not None:
        rhs = w.along(rhs, len(shape_of(w.op.results[0].type)), bias_axis)
    return Quantized(w.call(name, lhs, rhs), fine)


def _sum_of_products(w: IntegerWriter, name: str, bias_axis: int | None) -> Quantized | None:
    """The sum of a 32-bit tensor and a bias with the same parameters; `None` for other operands."""
    total, bias = w.operands
    if not isinstance(total, Quantized) or total.dtype != np.int32:
        return None
    known = known_array(total.params.zero_point)
    if known is None or known.any() or w.op.results[0].type != w.op.operands[0].type:
        return None
    rank = total.rank
    if isinstance(bias, Quantized):
        data = constant_of(bias.value)
        if data is None or np.abs(data.astype(np.int64)).max(initial=0) > MAX_SUM:
            return None
        zero = known_array(bias.params.zero_point)
        same = bias.dtype == np.int32 and zero is not None and not zero.any()
        if same and is_same(total.params.scale, bias.params.scale) and _fits(total, bias, bias_axis):
            value = bias.value if bias_axis is None else w.along(bias.value, rank, bias_axis)
            return replace(total, value=w.call(name, total.value, value))
    numbers = _known_floats(w, 1)
    scale = known_array(total.params.scale)
    if numbers is None or scale is None:
        return None
    shape = (*numbers.shape, *[1] * (rank - 1 - bias_axis)) if bias_axis is not None else numbers.shape
    scales = scale.reshape(()) if total.params.is_single else scale.reshape(-1, *[1] * (rank - 1 - total.params.axis))
    with np.errstate(all="ignore"):
        quotients = numbers.reshape(shape).astype(np.float64) / scales.astype(np.float64)
    steps = np.round(quotients)
    if not (np.abs(steps) <= MAX_SUM).all():
        return None
    # If the sum is not rounded afterwards, only a bias may be rounded, since biases are quantised with these steps.
    if (
        not w.rounds_constants
        and bias_axis is None
        and not np.allclose(quotients, steps, rtol=SCALE_TOLERANCE, atol=SCALE_TOLERANCE)
    ):
        return None
    return replace(total, value=w.call(name, total.value, w.constant(steps.astype(np.int32))))


def _fits(total: Quantized, bias: Quantized, bias_axis: int | None) -> bool:
    """Whether the scales of a sum and of its bias are along the same axis."""
    if total.params.is_single:
        return bias.params.is_single
    rank = len(shape_of(bias.value.type))
    own = bias_axis if bias_axis is not None else bias.params.axis + total.rank - rank
    return own == total.params.axis


def _known_floats(w: IntegerWriter, index: int) -> Array | None:
    """The numbers of operand `index` if they are constants, quantised or not."""
    found = w.operands[index]
    if found is None:
        return float_constant(w.op.operands[index])
    if not isinstance(found, Quantized):
        return None
    data, params = known_array(found.value), found.params
    scale, zero_point = known_array(params.scale), known_array(params.zero_point)
    if data is None or scale is None or zero_point is None:
        return None
    trailing = [1] * (data.ndim - 1 - params.axis)
    factors = (each.reshape(()) if each.size == 1 else each.reshape(-1, *trailing) for each in (scale, zero_point))
    scale, zero_point = factors
    return (data.astype(np.float64) - zero_point) * scale


def _fine_side(w: IntegerWriter, index: int, fine: QuantParameters) -> SSAValue:
    """Operand `index` in 32-bit steps, saturated so that the sum of two does not overflow."""
    side = w.operands[index]
    if isinstance(side, Quantized):
        bound = float(MAX_SUM)
        return w.call("clip", w.requantize(side, fine), a_min=-bound, a_max=bound)
    numbers, scale = _known_floats(w, index), known_array(fine.scale)
    if numbers is None or scale is None:
        raise NoIntegerFormError(f"operand #{index} is neither quantised nor constant")
    with np.errstate(all="ignore"):
        steps = np.round(numbers.astype(np.float64) / scale.astype(np.float64))
    return w.constant(np.clip(np.nan_to_num(steps), -MAX_SUM, MAX_SUM).astype(np.int32))


@integer_rule("multiply", result=Result.ROUNDED, data=2, constants=True)
def multiply(w: IntegerWriter) -> QuantizedValue:
    """A constant factor changes only the scale; two 8-bit tensors have an exact 32-bit product."""
    for index in (0, 1):
        factor = float_constant(w.op.operands[index])
        if factor is not None and w.operands[index] is None:
            return _rescaled(w, 1 - index, factor)
    left, right = w.tensor(0), w.tensor(1)
    of_one_type = w.params is not None and left.params.dtype == right.params.dtype == w.params.dtype
    if of_one_type and left.params.dtype in NARROW and left.params.is_single and right.params.is_single:
        params = w.result_params()
        parameters = (left.params.scale, left.params.zero_point, right.params.scale, right.params.zero_point)
        value = w.call("qnn.mul", left.value, right.value, *parameters, params.scale, params.zero_point)
        return Quantized(value, params)
    if left.dtype.itemsize > 1 or right.dtype.itemsize > 1:
        raise NoIntegerFormError("the products of its operands may overflow 32 bits")
    axis = _axis_of_scales(w, left, right)
    value = w.call("multiply", w.distance(left), w.distance(right))
    return Quantized(
        value, QuantParameters(w.product("multiply", left.params.scale, right.params.scale), w.zero(), i32, axis)
    )


def _axis_of_scales(w: IntegerWriter, *sides: Quantized) -> int:
    """The axis of the result along which the scales of both operands are; 0 if the scales are single numbers."""
    rank = len(shape_of(w.op.results[0].type))
    axes = {side.params.axis + rank - side.rank for side in sides if not side.params.is_single}
    if len(axes) > 1:
        raise NoIntegerFormError("its operands have scales along different axes")
    return axes.pop() if axes else 0


@integer_rule("divide", result=Result.ROUNDED, data=2, constants=True)
def divide(w: IntegerWriter) -> QuantizedValue:
    """A constant divisor changes only the scale."""
    divisor = float_constant(w.op.operands[1])
    if divisor is None or w.operands[1] is not None or not divisor.all():
        raise NoIntegerFormError("the divisor is not a nonzero constant")
    return _rescaled(w, 0, 1.0 / divisor.astype(np.float64))


def _rescaled(w: IntegerWriter, index: int, factor: Array) -> Quantized:
    """Operand `index` times a constant, one number or one per index along an axis."""
    data = w.tensor(index)
    if data.value.type != w.op.results[0].type and shape_of(data.value.type) != shape_of(w.op.results[0].type):
        raise NoIntegerFormError("the constant enlarges the result")
    if factor.size == 1:
        changed = w.product("multiply", data.params.scale, w.constant(factor.reshape(()).astype(np.float32)))
        return replace(data, params=replace(data.params, scale=changed))
    extents = (*[1] * (data.rank - factor.ndim), *factor.shape)
    axis = next(position for position, extent in enumerate(extents) if extent != 1)
    vector = per_channel(factor, data.rank, axis)
    if vector is None or not (data.params.is_single or data.params.axis == axis):
        raise NoIntegerFormError("it is multiplied along more than one axis")
    own, zero_point = (
        w.along(each, 0, 0) if data.params.is_single else each for each in (data.params.scale, data.params.zero_point)
    )
    scale = w.product("multiply", own, w.constant(vector.astype(np.float32)))
    return Quantized(data.value, replace(data.params, scale=scale, zero_point=zero_point, axis=axis))


@integer_rule("maximum", "minimum", result=Result.SHARED, data=2)
def extreme(w: IntegerWriter) -> QuantizedValue:
    """The op itself, with the same parameters of both sides."""
    left, right = w.tensor(0), w.tensor(1)
    alike = left.params.is_like(right.params) and (left.params.is_single or left.rank == right.rank)
    params = left.params if alike else w.result_params()
    require_order(Quantized(left.value, params))
    return Quantized(w.call(w.op.relay_name(), w.requantize(left, params), w.requantize(right, params)), params)


@integer_rule("concatenate", result=Result.SHARED)
def concatenate(w: IntegerWriter) -> QuantizedValue:
    """The op itself if all parts have the same parameters, else the quantised operator."""
    parts = w.operands[0]
    if not isinstance(parts, tuple) or not parts or not all(part.params.is_single for part in parts):
        raise NoIntegerFormError("its parts are not quantised tensors with one scale each")
    first = parts[0].params
    if all(part.params.is_like(first) for part in parts):
        return Quantized(w.rebuild_op(w.tuple(part.value for part in parts)), first)
    params = w.result_params()
    if any(part.params.dtype != params.dtype for part in parts):
        return Quantized(w.rebuild_op(w.tuple(w.requantize(part, params) for part in parts)), params)
    columns = ([part.value for part in parts], [p.params.scale for p in parts], [p.params.zero_point for p in parts])
    tuples = map(w.tuple, columns)
    return Quantized(w.like("qnn.concatenate", *tuples, params.scale, params.zero_point), params)


# --- convolutions and matrix products -------------------------------------------------------------------------------


@integer_rule("nn.conv2d", "nn.conv2d_transpose", result=Result.OWN, data=2)
def conv2d(w: IntegerWriter) -> QuantizedValue:
    """The quantised operator."""
    data, weight, axis = _data_and_weight(w)
    value = w.like(f"qnn.{w.op.relay_name().removeprefix('nn.')}", data.value, weight.value, *_parameters(data, weight))
    return _product_of(w, value, data, weight, axis)


@integer_rule(
    "nn.conv1d", "nn.conv3d", "nn.conv1d_transpose", "nn.conv3d_transpose", result=Result.OWN, data=2
)  # fmt: skip
def conv(w: IntegerWriter) -> QuantizedValue:
    """The op itself on distances from the zero points."""
    data, weight, axis = _data_and_weight(w)
    value = w.like(w.op.relay_name(), w.distance(data), w.distance(weight))
    return _product_of(w, value, data, weight, axis)


def _data_and_weight(w: IntegerWriter) -> tuple[Quantized, Quantized, int]:
    """Returns data and weight, which may have a scale per filter, and the channel axis of the result."""
    data, weight, op = w.single(0), w.tensor(1), w.op_as(FilterOp)
    if not weight.params.is_single and weight.params.axis != axis_of_filters(op):
        raise NoIntegerFormError("the weight does not have one scale per filter")
    require_headroom(count_of_products(op), data, weight)
    return data, weight, op.layouts[2].index("C")


def axis_of_filters(op: FilterOp) -> int | None:
    """Returns the axis of the weight along which an op may have a scale per filter; `None` if it may have only one."""
    _, kernel, result = op.layouts
    grouped = isinstance(op, ConvTransposeOp) and op.groups.value.data != 1
    split = kernel.factor("O") is not None or result.factor("C") is not None
    return None if grouped or split else kernel.index("O")


def count_of_products(op: RelayOp) -> float:
    """Returns the number of products that are summed per element of the result; infinite if it is not known."""
    shape = shape_of(op.operands[1].type)
    if isinstance(op, FilterOp):
        extents = op.extents_in(op.layouts[1], shape)
        factors = [extents[letter] for letter in (*op.AXES, "I")]
    else:
        factors = [shape[-2] if isinstance(op, MatrixProductOp) and not op.transposed[1] else shape[-1]]
    return prod(factor if isinstance(factor, int) else float("inf") for factor in factors)


def _parameters(data: Quantized, weight: Quantized) -> tuple[SSAValue, ...]:
    """Zero points and scales in the order of the operands of quantised products."""
    return data.params.zero_point, weight.params.zero_point, data.params.scale, weight.params.scale


def _product_of(w: IntegerWriter, value: SSAValue, left: Quantized, right: Quantized, axis: int) -> Quantized:
    """Returns a 32-bit product with the product of the scales as its scale; those of `right` are along its `axis`."""
    scale = w.product("multiply", w.along(left.params.scale, 0, 0), right.params.scale)
    return Quantized(value, QuantParameters(scale, w.zero(), i32, axis))


@integer_rule("nn.dense", result=Result.OWN, data=2)
def dense(w: IntegerWriter) -> QuantizedValue:
    """The quantised operator."""
    return _dense(w, w.single(0), w.tensor(1))


def _dense(w: IntegerWriter, data: Quantized, weight: Quantized) -> QuantizedValue:
    """Data times the weight, which has a row for each unit."""
    if not weight.params.is_single and weight.params.axis != 0:
        raise NoIntegerFormError("the weight does not have one scale per unit")
    _require_depth(data, weight)
    value = w.call("qnn.dense", data.value, weight.value, *_parameters(data, weight))
    return _product_of(w, value, data, weight, data.rank - 1)


@integer_rule("nn.matmul", "nn.batch_matmul", result=Result.OWN, data=2)
def matmul(w: IntegerWriter) -> QuantizedValue:
    """Builds the quantised operator; the second operand is transposed unless its rows are the columns of the result."""
    left, right, op = w.single(0), w.tensor(1), w.op_as(MatrixProductOp)
    left = _transposed(w, left) if op.transpose_a.value.data else left
    right = right if op.transpose_b.value.data else _transposed(w, right)
    if w.op.relay_name() == "nn.matmul" and right.rank == 2:
        return _dense(w, left, right)
    if not right.params.is_single or right.rank < 3 or left.rank < 3:
        raise NoIntegerFormError("the matrices of a stack have more than one scale")
    _require_depth(left, right)
    value = w.call("qnn.batch_matmul", left.value, right.value, *_parameters(left, right))
    return _product_of(w, value, left, right, 0)


def _transposed(w: IntegerWriter, data: Quantized) -> Quantized:
    """Returns the transposed matrices; a vector of scales follows its axis."""
    order = [*range(data.rank - 2), data.rank - 1, data.rank - 2]
    params = data.params
    turned = QuantParameters(params.scale, params.zero_point, params.dtype, order.index(params.axis))
    return Quantized(w.call("transpose", data.value, axes=order), turned)


def _require_depth(left: Quantized, right: Quantized) -> None:
    """Requires that the sums fit into 32 bits."""
    depth = shape_of(right.value.type)[-1]
    require_headroom(depth if isinstance(depth, int) else float("inf"), left, right)
