"""Constant, ConstantOfShape, EyeLike and Range."""

from __future__ import annotations

from math import ceil, isfinite, nan

import numpy as np
from onnx import AttributeProto, TensorProto, helper
from xdsl.ir import SSAValue

from xrelay.errors import TypeInferenceError
from xrelay.frontend.onnx.converters.definition import (
    MICROSOFT,
    Array,
    NodeView,
    Numbers,
    converts,
    element_type,
    numpy_dtype,
    scalar_input,
)
from xrelay.frontend.onnx.tensors import MAX_COMPUTED_BYTES, dense_array

_CONSTANT_FORMS = ("sparse_value", "value", "value_float", "value_floats", "value_int", "value_ints")


def _constant_refusal(node: NodeView) -> str | None:
    forms = [name for name in node.attribute_names if name in _CONSTANT_FORMS]
    return None if len(forms) == 1 else f"exactly one of {', '.join(_CONSTANT_FORMS)} is expected, found {forms}"


@converts("Constant", attributes=_CONSTANT_FORMS, supports=_constant_refusal, limits="numbers, no strings")
def convert_constant(node: NodeView) -> SSAValue:
    """A constant in the model."""
    (name,) = node.attribute_names
    if name == "value":
        tensor = node.attribute_tensor(name)
        if tensor is None:
            raise node.error("attribute 'value' is not a tensor")
        return node.emit_constant(tensor, "value")
    attribute: AttributeProto = node.proto.attribute[0]
    if name == "sparse_value":
        return node.emit_constant(dense_array(attribute.sparse_tensor, node.graph.tensors), "value")
    if name.startswith("value_float"):
        return node.emit_constant(np.array(attribute.f if name == "value_float" else attribute.floats, np.float32))
    return node.emit_constant(np.array(attribute.i if name == "value_int" else attribute.ints, np.int64))


@converts("ConstantOfShape", since=9, attributes=("value",), limits="shape of known length")
def convert_constant_of_shape(node: NodeView) -> SSAValue:
    """A constant filled with one value if the shape is known, else `dyn.full`."""
    value = node.attribute_tensor("value")
    filler = np.zeros(1, np.float32) if value is None else value
    if filler.size != 1:
        raise node.illegal("value", filler.tolist(), "a tensor of one element is expected")
    if node.constant(0) is None:
        element = node.emit_constant(filler.reshape(()))
        result = node.emit("dyn.full", element, node.input(0))
        node.graph.carried.note(result, node.graph.carried.of(element))
        return result
    shape = node.required_ints(0, "shape")
    if any(extent < 0 for extent in shape):
        raise node.error(f"the shape {list(shape)} has a negative extent")
    return node.emit_filled(filler, shape, "value")


@converts("EyeLike", since=9, attributes=("dtype", "k"))
def convert_eye_like(node: NodeView) -> SSAValue:
    """Ones on a diagonal."""
    node.require_rank(0, 2)
    dtype, numbers = _eye_dtype(node), Numbers(node)
    rows, columns = (numbers.arange(0, numbers.extent(node.input(0), axis)) for axis in (0, 1))
    first = node.emit("add", rows, numbers.value(node.attribute_int("k", 0)))
    return node.emit("cast", node.emit("equal", node.emit("expand_dims", first, axis=1), columns), dtype=dtype)


def _eye_dtype(node: NodeView) -> np.dtype:
    """The element type in the attribute `dtype`, or that of the input."""
    number = node.attribute_int("dtype", TensorProto.UNDEFINED)
    if number == TensorProto.UNDEFINED:
        return numpy_dtype(node.element_type(0))
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(number))
        element_type(dtype)
    except (KeyError, TypeInferenceError) as error:
        raise node.illegal("dtype", number) from error
    return dtype


@converts("Range", since=11)
def convert_range(node: NodeView) -> SSAValue:
    """`arange`; for constant floats the numbers themselves, whose count no shape rule computes."""
    for index in range(3):
        if node.shape(index) not in ((), (1,)):
            raise node.error(f"a bound of Range must be one number, found {node.input(index).type}")
        if node.element_type(index) != node.element_type(0):
            raise node.error(f"the bounds of Range are {node.input(0).type} and {node.input(index).type}")
    known = [bound for index in range(3) if (bound := node.constant(index)) is not None]
    if len(known) == 3:
        start, limit, delta = (bound.reshape(()) for bound in known)
        if known[0].dtype.kind not in "iu":
            return _range_of_floats(node, start, limit, delta)
        count = max(-((int(start) - int(limit)) // int(delta)), 0) if delta else 0
        node.require_size((count,), start.itemsize)
    return node.emit("arange", *(scalar_input(node, index) for index in range(3)))


@converts("Range", domain=MICROSOFT)
def convert_range_by_default(node: NodeView) -> SSAValue:
    """Range with a default delta of 1."""
    delta = node.optional_input(2)
    given = node.scalar_like(1, 0) if delta is None else delta
    return convert_range(node.with_inputs([node.input(0), node.input(1), given]))


def _range_of_floats(node: NodeView, start: Array, limit: Array, delta: Array) -> SSAValue:
    """The numbers `start + i * delta` for `i` below `max(ceil((limit - start) / delta), 0)`."""
    first, last, by = (float(bound) for bound in (start, limit, delta))
    steps = (last - first) / by if by else nan
    # The difference of two numbers, and its quotient, may overflow.
    if not all(isfinite(number) for number in (first, last, by, steps)):
        raise node.error(f"Range from {first} to {last} by {by} has no defined length")
    count = max(ceil(steps), 0)
    node.require_size((count,), np.dtype(np.int64).itemsize, MAX_COMPUTED_BYTES)
    return node.emit_constant(np.asarray(start + np.arange(count).astype(start.dtype) * delta, start.dtype), "range")
