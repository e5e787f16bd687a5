"""Convolutions and matrix products on integers: exact 32-bit sums of products of distances from zero points."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.nn.conv import FilterOp
from xrelay.dialects.relay.ops.nn.conv_transpose import ConvTransposeOp
from xrelay.dialects.relay.ops.nn.matmul import MatrixProductOp
from xrelay.dialects.shared.types import shape_of
from xrelay.passes.qnn.integer_rules import Result, integer_rule
from xrelay.passes.qnn.quantized import (
    IntegerWriter,
    NoIntegerFormError,
    Quantized,
    QuantizedValue,
    Steps,
    require_headroom,
)


@integer_rule("nn.conv2d", "nn.conv2d_transpose", result=Result.OWN, data=2)
def conv2d(w: IntegerWriter) -> QuantizedValue:
    """The quantised operator."""
    data, weight, axis = _filtered(w)
    value = w.like(f"qnn.{w.op.relay_name().removeprefix('nn.')}", data.value, weight.value, *_parameters(data, weight))
    return _product_of(w, value, data, weight, axis)


@integer_rule(
    "nn.conv1d", "nn.conv3d", "nn.conv1d_transpose", "nn.conv3d_transpose", result=Result.OWN, data=2
)  # fmt: skip
def conv(w: IntegerWriter) -> QuantizedValue:
    """The op itself on distances from the zero points."""
    data, weight, axis = _filtered(w)
    value = w.like(w.op.relay_name(), w.distance(data), w.distance(weight))
    return _product_of(w, value, data, weight, axis)


def _filtered(w: IntegerWriter) -> tuple[Quantized, Quantized, int]:
    """Data and filters, which may have a scale each, and the channel axis of the result."""
    data, weight = w.single(0), w.tensor(1)
    if not isinstance(w.op, FilterOp):
        raise NoIntegerFormError("it is not a convolution")
    if not weight.steps.is_single and weight.steps.axis != axis_of_filters(w.op):
        raise NoIntegerFormError("the weight does not have one scale per filter")
    require_headroom(count_of_products(w.op), data, weight)
    return data, weight, w.op.layouts[2].index("C")


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
    return data.steps.zero_point, weight.steps.zero_point, data.steps.scale, weight.steps.scale


def _product_of(w: IntegerWriter, value: SSAValue, left: Quantized, right: Quantized, axis: int) -> Quantized:
    """A 32-bit product, whose scale is the product of both; the scales of `right` are along `axis` of it."""
    scale = w.product("multiply", w.along(left.steps.scale, 0, 0), right.steps.scale)
    return Quantized(value, Steps(scale, w.zero(), i32, axis))


@integer_rule("nn.dense", result=Result.OWN, data=2)
def dense(w: IntegerWriter) -> QuantizedValue:
    """The quantised operator."""
    return _dense(w, w.single(0), w.tensor(1))


def _dense(w: IntegerWriter, data: Quantized, weight: Quantized) -> QuantizedValue:
    """Data times the weight, which has a row for each unit."""
    if not weight.steps.is_single and weight.steps.axis != 0:
        raise NoIntegerFormError("the weight does not have one scale per unit")
    _require_depth(data, weight)
    value = w.call("qnn.dense", data.value, weight.value, *_parameters(data, weight))
    return _product_of(w, value, data, weight, data.rank - 1)


@integer_rule("nn.matmul", "nn.batch_matmul", result=Result.OWN, data=2)
def matmul(w: IntegerWriter) -> QuantizedValue:
    """The quantised operator, with the second operand transposed unless it has a row per column of the result."""
    left, right = w.single(0), w.tensor(1)
    if not isinstance(w.op, MatrixProductOp):
        raise NoIntegerFormError("it is not a matrix product")
    left = _turned(w, left) if w.op.transpose_a.value.data else left
    right = right if w.op.transpose_b.value.data else _turned(w, right)
    if w.op.relay_name() == "nn.matmul" and right.rank == 2:
        return _dense(w, left, right)
    if not right.steps.is_single or right.rank < 3 or left.rank < 3:
        raise NoIntegerFormError("the matrices of a stack have more than one scale")
    _require_depth(left, right)
    value = w.call("qnn.batch_matmul", left.value, right.value, *_parameters(left, right))
    return _product_of(w, value, left, right, 0)


def _turned(w: IntegerWriter, data: Quantized) -> Quantized:
    """Matrices with rows and columns exchanged; scales follow their axis."""
    order = [*range(data.rank - 2), data.rank - 1, data.rank - 2]
    steps = data.steps
    turned = Steps(steps.scale, steps.zero_point, steps.dtype, order.index(steps.axis))
    return Quantized(w.call("transpose", data.value, axes=order), turned)


def _require_depth(left: Quantized, right: Quantized) -> None:
    """Require that the sums fit into 32 bits."""
    depth = shape_of(right.value.type)[-1]
    require_headroom(depth if isinstance(depth, int) else float("inf"), left, right)
