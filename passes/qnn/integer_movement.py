"""Ops that move and select elements, on integers: the result has the steps of the operand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from xdsl.dialects.builtin import TupleType
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.quantization import Quantization
from xrelay.dialects.relay.ops.algorithm.sort import TopKOp
from xrelay.dialects.relay.ops.tensor.transform import PadOp, TransposeOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import shape_of
from xrelay.passes.qnn.integer_rules import Result, integer_rule
from xrelay.passes.qnn.quantized import (
    IntegerWriter,
    NoIntegerFormError,
    Quantized,
    QuantizedValue,
    Steps,
    float_constant,
    known_array,
)

_ON_STEP = 1e-3
"""The tolerance within which a number counts as a step, as a fraction of the step."""


@integer_rule(Quantization.MOVEMENT, result=Result.KEPT)
def move(w: IntegerWriter) -> QuantizedValue:
    """The op itself."""
    data = w.single(0)
    return replace(data, value=w.again(data.value))


@integer_rule("copy", "annotation.stop_fusion", result=Result.KEPT)
def pass_on(w: IntegerWriter) -> QuantizedValue:
    """The integers unchanged."""
    return w.tensor(0)


@integer_rule(Quantization.CHOICE, result=Result.KEPT)
def choose(w: IntegerWriter) -> QuantizedValue:
    """The op itself, if greater integers represent greater numbers; the maximum of no numbers is infinite."""
    data = w.single(0)
    require_order(data)
    if 0 in shape_of(data.value.type):
        raise NoIntegerFormError("it has no tensors to choose from")
    return replace(data, value=w.again(data.value))


@integer_rule("topk", result=Result.KEPT)
def choose_greatest(w: IntegerWriter) -> QuantizedValue:
    """The op itself, if it returns values only."""
    if isinstance(w.op, TopKOp) and w.op.ret_type.data != "values":
        raise NoIntegerFormError("it also returns indices")
    return choose(w)


@integer_rule("transpose", result=Result.KEPT)
def transpose(w: IntegerWriter) -> QuantizedValue:
    """The op itself; scales along an axis follow the axis."""
    data = w.tensor(0)
    value = w.again(data.value)
    if data.steps.is_single or not isinstance(w.op, TransposeOp):
        return replace(data, value=value)
    return Quantized(value, replace(data.steps, axis=w.op.permutation(data.rank).index(data.steps.axis)))


@integer_rule("split", result=Result.KEPT)
def split(w: IntegerWriter) -> QuantizedValue:
    """The op itself, and its fields."""
    data = w.single(0)
    parts = w.again(data.value)
    fields = parts.type.types if isinstance(parts.type, TupleType) else ()
    items = (w.insert(TupleGetItemOp.call(parts, index=index)).result for index in range(len(fields)))
    return tuple(replace(data, value=item) for item in items)


@integer_rule("tuple", result=Result.KEPT, data=None)
def gather_fields(w: IntegerWriter) -> QuantizedValue:
    """The quantised fields."""
    return tuple(w.tensor(index) for index in range(len(w.operands)))


@integer_rule("tuple_get_item", result=Result.KEPT)
def take_field(w: IntegerWriter) -> QuantizedValue:
    """The quantised field."""
    fields = w.operands[0]
    if not isinstance(fields, tuple) or not isinstance(w.op, TupleGetItemOp):
        raise NoIntegerFormError("operand #0 is not a tuple of quantised numbers")
    return fields[w.op.index.value.data]


@integer_rule("nn.pad", result=Result.KEPT)
def pad(w: IntegerWriter) -> QuantizedValue:
    """The op itself; a constant padding value must be one of the operand's steps."""
    data = w.single(0)
    number = np.zeros(())
    if isinstance(w.op, PadOp) and w.op.pad_mode.data == "constant":
        number = step_of(w.op.operands[1], data.steps)
    return replace(data, value=w.again(data.value, w.constant(number.astype(data.dtype))))


def require_order(data: Quantized) -> None:
    """Require that a greater integer represents a greater number."""
    scale = known_array(data.steps.scale)
    if scale is None or not (scale > 0).all():
        raise NoIntegerFormError("its scales may not be positive")


def step_of(value: SSAValue, steps: Steps) -> Array:
    """Returns the integer that represents a constant number in `steps`, which are one known scale and zero point."""
    number, scale, zero_point = float_constant(value), known_array(steps.scale), known_array(steps.zero_point)
    if number is None or number.size != 1 or scale is None or zero_point is None:
        raise NoIntegerFormError("a float operand, or a scale or zero point, is not a constant")
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = number.reshape(()).astype(np.float64) / scale.reshape(()).astype(np.float64)
    step, limits = np.round(quotient) + zero_point.reshape(()), np.iinfo(numpy_dtype(steps.dtype))
    if not abs(np.round(quotient) - quotient) <= _ON_STEP or not limits.min <= step <= limits.max:
        raise NoIntegerFormError(f"{float(number.reshape(())):g} is not representable in the operand's scale")
    return np.asarray(step)
