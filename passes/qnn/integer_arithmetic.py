"""Functions, means, movement and selection of the elements of one tensor, on integers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from xdsl.dialects.builtin import TupleType
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.quantization import Quantization
from xrelay.dialects.relay.core.registry import relay_ops_of
from xrelay.dialects.relay.ops.algorithm.sort import TopKOp
from xrelay.dialects.relay.ops.image.resize import ResizeOp
from xrelay.dialects.relay.ops.nn.adaptive_pool import GlobalPoolOp
from xrelay.dialects.relay.ops.nn.pool import AvgPool2DOp, AvgPoolOp
from xrelay.dialects.relay.ops.nn.upsampling import Upsampling2DOp
from xrelay.dialects.relay.ops.qnn.unary import QnnFunctionOp
from xrelay.dialects.relay.ops.tensor.transform import PadOp, TransposeOp
from xrelay.dialects.relay.ops.tensor.unary import ClipOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import shape_of
from xrelay.passes.qnn.integer_rules import (
    IntegerWriter,
    NoIntegerFormError,
    Quantized,
    QuantizedValue,
    QuantParameters,
    Result,
    float_constant,
    integer_rule,
    known_array,
    require_headroom,
)

REFINEMENT = 256
"""The factor by which the scale is divided to represent a bound or a mean between two steps."""


_OVERSHOOT = 16
"""An upper bound of the sum of absolute cubic weights over three axes."""


# --- functions of one tensor ---------------------------------------------------------------------------------------


@integer_rule("nn.relu", result=Result.UNCHANGED)
def relu(w: IntegerWriter) -> QuantizedValue:
    """The maximum with the zero point."""
    data = w.tensor(0)
    require_order(data)
    return _bounded(w, data, low=0.0, high=np.inf)


@integer_rule("clip", result=Result.SHARED)
def clip(w: IntegerWriter) -> QuantizedValue:
    """Clip to the steps nearest to the bounds; 8-bit data whose steps differ from the result's get finer steps."""
    data = w.tensor(0)
    require_order(data)
    op = w.op_as(ClipOp)
    low, high = op.a_min.value.data, op.a_max.value.data
    rounded_alike = w.params is not None and data.params.is_like(w.params)
    between = any(np.isfinite(bound) and bound != 0 for bound in (low, high))
    if data.dtype != np.int32 and between and not rounded_alike:
        data = _finer(w, data, lambda distances: distances)
    return _bounded(w, data, low=low, high=high)


def _finer(w: IntegerWriter, data: Quantized, change: Callable[[SSAValue], SSAValue]) -> Quantized:
    """Returns `change` applied to the distances of `data`, in steps that are `REFINEMENT` times smaller."""
    finer = w.call("multiply", w.distance(data), w.constant(np.array(REFINEMENT, np.int32)))
    scale = w.product("divide", data.params.scale, w.constant(np.array(REFINEMENT, np.float32)))
    return w.in_32_bits(replace(data, params=replace(data.params, scale=scale)), change(finer))


def _bounded(w: IntegerWriter, data: Quantized, *, low: float, high: float) -> Quantized:
    """Integers clipped to the steps of two bounds."""
    value, limits = data.value, np.iinfo(data.dtype)
    for name, bound in (("maximum", low), ("minimum", high)):
        if np.isnan(bound):
            raise NoIntegerFormError("a bound is not a number")
        step = _steps_of(data.params, np.float64(bound))
        step = step.reshape(-1)[0] if step.size and (step == step.reshape(-1)[0]).all() else step
        if not (step == (limits.min if name == "maximum" else limits.max)).all():
            along = w.along(w.constant(np.asarray(step, data.dtype)), data.rank, data.params.axis)
            value = w.call(name, value, along)
    return replace(data, value=value)


def _steps_of(params: QuantParameters, number: Array | np.float64) -> Array:
    """The integers that represent constant numbers, which broadcast with the scale; saturated."""
    scale, zero_point = known_array(params.scale), known_array(params.zero_point)
    if scale is None or zero_point is None:
        raise NoIntegerFormError("its scale and zero point are not constants")
    limits = np.iinfo(numpy_dtype(params.dtype))
    return np.clip(np.round(number / scale.astype(np.float64)) + zero_point, limits.min, limits.max)


FUNCTIONS = {op.PLAIN: op.relay_name() for op in relay_ops_of(QnnFunctionOp)}
"""The functions that have a quantised operator: Relay's names of both."""


@integer_rule("nn.softmax", result=Result.ROUNDED, optional=True)
@integer_rule(*FUNCTIONS, result=Result.ROUNDED)
def function(w: IntegerWriter) -> QuantizedValue:
    """The quantised operator. A softmax stays in floats unless an option names it, as in Relay."""
    return _call_with_result_params(w, FUNCTIONS[w.op.relay_name()])


@integer_rule("nn.avg_pool2d", result=Result.ROUNDED)
def avg_pool2d(w: IntegerWriter) -> QuantizedValue:
    """The quantised operator, which rounds to steps of the operand; `mean_pool` if the result has smaller steps."""
    data = w.single(0)
    own, wanted = (known_array(params.scale) for params in (data.params, w.result_params()))
    if own is None or wanted is None or not (np.abs(own) <= np.abs(wanted)).all():
        return mean_pool(w)
    return _call_with_result_params(w, "qnn.avg_pool2d", layout=str(w.op_as(AvgPool2DOp).layouts[0]))


@integer_rule("nn.avg_pool1d", "nn.avg_pool3d", result=Result.OWN)
def mean_pool(w: IntegerWriter) -> QuantizedValue:
    """The op itself on the distances, in 32 bits and finer steps."""
    data = w.single(0)
    require_headroom(REFINEMENT * math.prod(w.op_as(AvgPoolOp).sizes), data)
    return _finer(w, data, w.rebuild_op)


@integer_rule("nn.adaptive_avg_pool1d", "nn.adaptive_avg_pool2d", "nn.adaptive_avg_pool3d", result=Result.OWN)
def adaptive_mean_pool(w: IntegerWriter) -> QuantizedValue:
    """`mean_pool`; a window of m in n elements has at most `n / m` elements and one at each side."""
    data = w.single(0)
    before, after = (shape_of(value.type) for value in (data.value, w.op.results[0]))
    counts = [
        n // max(m, 1) + 2 for n, m in zip(before, after, strict=True) if isinstance(n, int) and isinstance(m, int)
    ]
    if len(counts) < len(before):
        raise NoIntegerFormError("the number of summands is unknown")
    require_headroom(
        REFINEMENT * math.prod(count for count, n, m in zip(counts, before, after, strict=True) if n != m), data
    )
    return _finer(w, data, w.rebuild_op)


@integer_rule("image.resize1d", "image.resize2d", "image.resize3d", "nn.upsampling", result=Result.UNCHANGED)
def resize(w: IntegerWriter) -> QuantizedValue:
    """Builds the op itself. Interpolation uses finer steps, so 32-bit data is refused."""
    data = w.single(0)
    if isinstance(w.op, ResizeOp) and w.op.resampling.crops:
        raise NoIntegerFormError("the fill value is not representable in the operand's scale")
    method = w.op.method if isinstance(w.op, ResizeOp) else w.op_as(Upsampling2DOp).method
    if method.data == "nearest_neighbor":
        return replace(data, value=w.rebuild_op(data.value))
    require_headroom(_OVERSHOOT * REFINEMENT, data)
    return _finer(w, data, w.rebuild_op)


def _call_with_result_params(w: IntegerWriter, name: str, **attributes: str) -> Quantized:
    """Builds the operator `name`, whose operands are a tensor, its scale and zero point, and those of the result."""
    data, params = w.single(0), w.result_params()
    if data.params.dtype != params.dtype:
        raise NoIntegerFormError(f"the operand is {data.dtype}, the result is quantised to another type")
    parameters = (data.params.scale, data.params.zero_point, params.scale, params.zero_point)
    return Quantized(w.like(name, data.value, *parameters, **attributes), params)


@integer_rule("negative", result=Result.OWN)
def negative(w: IntegerWriter) -> QuantizedValue:
    """The negated distances from the zero points."""
    data = w.tensor(0)
    if data.dtype == np.int32:
        raise NoIntegerFormError("the negative of an i32 may overflow")
    return w.in_32_bits(data, w.call("negative", w.distance(data)))


# --- sums over axes ------------------------------------------------------------------------------------------------


@integer_rule("sum", "mean", result=Result.OWN)
def reduce(w: IntegerWriter) -> QuantizedValue:
    """The sum of distances, in 32 bits; a mean divides the scale."""
    data = w.single(0)
    count = _count(data.value, w.op.results[0])
    require_headroom(count, data)
    total = w.in_32_bits(data, w.like("sum", w.distance(data)))
    return _shared_out(w, total, count) if w.op.relay_name() == "mean" else total


@integer_rule("nn.global_avg_pool1d", "nn.global_avg_pool2d", "nn.global_avg_pool3d", result=Result.OWN)
def global_avg_pool(w: IntegerWriter) -> QuantizedValue:
    """The sum of distances over the spatial axes, in 32 bits, with the scale divided by their number."""
    data = w.single(0)
    op = w.op_as(GlobalPoolOp)
    if op.out_layout.data not in ("", op.layout.data):
        raise NoIntegerFormError("its result has another layout")
    layout, count = op.layouts[0], _count(data.value, op.results[0])
    require_headroom(count, data)
    axes = [layout.index(axis) for axis in op.AXES]
    total = w.in_32_bits(data, w.call("sum", w.distance(data), axis=axes, keepdims=True))
    return _shared_out(w, total, count)


def _shared_out(w: IntegerWriter, total: Quantized, count: int) -> Quantized:
    """Returns the mean: the sum `total` of `count` numbers with its scale divided by `count`."""
    scale = w.product("divide", total.params.scale, w.constant(np.array(count, np.float32)))
    return replace(total, params=replace(total.params, scale=scale))


def _count(data: SSAValue, result: SSAValue) -> int:
    """The number of elements that are reduced to one; named extents must be in both shapes."""
    shapes = shape_of(data.type), shape_of(result.type)
    known = [math.prod(dim for dim in shape if isinstance(dim, int)) for shape in shapes]
    names = [Counter(dim for dim in shape if not isinstance(dim, int)) for shape in shapes]
    if names[0] != names[1] or not known[1]:
        raise NoIntegerFormError("the number of summands is unknown")
    return max(known[0] // known[1], 1)


# --- movement and selection: the result has the parameters of the operand -------------------------------------------

_ON_STEP = 1e-3
"""The tolerance within which a number counts as a step, as a fraction of the step."""


@integer_rule(Quantization.MOVEMENT, result=Result.UNCHANGED)
def move(w: IntegerWriter) -> QuantizedValue:
    """The op itself."""
    data = w.single(0)
    return replace(data, value=w.rebuild_op(data.value))


@integer_rule("copy", "annotation.stop_fusion", result=Result.UNCHANGED)
def pass_on(w: IntegerWriter) -> QuantizedValue:
    """The integers unchanged."""
    return w.tensor(0)


@integer_rule(Quantization.CHOICE, result=Result.UNCHANGED)
def choose(w: IntegerWriter) -> QuantizedValue:
    """Builds the op itself, if greater integers represent greater numbers.

    A maximum of no elements is infinite, and so refused.
    """
    data = w.single(0)
    require_order(data)
    if 0 in shape_of(data.value.type):
        raise NoIntegerFormError("it does not select from tensors")
    return replace(data, value=w.rebuild_op(data.value))


@integer_rule("topk", result=Result.UNCHANGED)
def choose_greatest(w: IntegerWriter) -> QuantizedValue:
    """The op itself, if it returns values only."""
    if w.op_as(TopKOp).ret_type.data != "values":
        raise NoIntegerFormError("it also returns indices")
    return choose(w)


@integer_rule("transpose", result=Result.UNCHANGED)
def transpose(w: IntegerWriter) -> QuantizedValue:
    """The op itself; scales along an axis follow the axis."""
    data = w.tensor(0)
    value = w.rebuild_op(data.value)
    if data.params.is_single:
        return replace(data, value=value)
    axis = w.op_as(TransposeOp).permutation(data.rank).index(data.params.axis)
    return Quantized(value, replace(data.params, axis=axis))


@integer_rule("split", result=Result.UNCHANGED)
def split(w: IntegerWriter) -> QuantizedValue:
    """The op itself, and its fields."""
    data = w.single(0)
    parts = w.rebuild_op(data.value)
    fields = parts.type.types if isinstance(parts.type, TupleType) else ()
    items = (w.insert(TupleGetItemOp.call(parts, index=index)).result for index in range(len(fields)))
    return tuple(replace(data, value=item) for item in items)


@integer_rule("tuple", result=Result.UNCHANGED, data=None)
def gather_fields(w: IntegerWriter) -> QuantizedValue:
    """The quantised fields."""
    return tuple(w.tensor(index) for index in range(len(w.operands)))


@integer_rule("tuple_get_item", result=Result.UNCHANGED)
def take_field(w: IntegerWriter) -> QuantizedValue:
    """The quantised field."""
    fields = w.operands[0]
    if not isinstance(fields, tuple):
        raise NoIntegerFormError("operand #0 is not a tuple of quantised numbers")
    return fields[w.op_as(TupleGetItemOp).index.value.data]


@integer_rule("nn.pad", result=Result.UNCHANGED)
def pad(w: IntegerWriter) -> QuantizedValue:
    """The op itself; a constant padding value must be one of the operand's steps."""
    data = w.single(0)
    number = np.zeros(())
    if w.op_as(PadOp).pad_mode.data == "constant":
        number = step_of(w.op.operands[1], data.params)
    return replace(data, value=w.rebuild_op(data.value, w.constant(number.astype(data.dtype))))


def require_order(data: Quantized) -> None:
    """Requires that a greater integer represents a greater number."""
    scale = known_array(data.params.scale)
    if scale is None or not (scale > 0).all():
        raise NoIntegerFormError("its scales may not be positive")


def step_of(value: SSAValue, params: QuantParameters) -> Array:
    """Returns the integer that represents a constant number with `params`, which are one known scale and zero point."""
    number, scale, zero_point = float_constant(value), known_array(params.scale), known_array(params.zero_point)
    if number is None or number.size != 1 or scale is None or zero_point is None:
        raise NoIntegerFormError("a float operand, or a scale or zero point, is not a constant")
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = number.reshape(()).astype(np.float64) / scale.reshape(()).astype(np.float64)
    step, limits = np.round(quotient) + zero_point.reshape(()), np.iinfo(numpy_dtype(params.dtype))
    if not abs(np.round(quotient) - quotient) <= _ON_STEP or not limits.min <= step <= limits.max:
        raise NoIntegerFormError(f"{float(number.reshape(())):g} is not representable in the operand's scale")
    return np.asarray(step)
