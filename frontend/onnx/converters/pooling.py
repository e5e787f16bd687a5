"""MaxPool, AveragePool, LpPool, and the pools of whole images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.types import element_type_of
from xrelay.dialects.relay.structure.weights import Array
from xrelay.frontend.onnx.converters.numbers import Numbers
from xrelay.frontend.onnx.converters.open_padding import padded_to_keep, padding_is_computed, without_padding
from xrelay.frontend.onnx.converters.single_precision import rounded_once
from xrelay.frontend.onnx.converters.windows import (
    MOST_AXES,
    WINDOW_ATTRIBUTES,
    read_window,
    required_kernel,
    unsupported_rank,
    window_attributes,
)
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts
from xrelay.frontend.onnx.tensors import MAX_COMPUTED_BYTES, check_size
from xrelay.index_algebra.windows import WindowAxis


@converts(
    "MaxPool",
    attributes=(*WINDOW_ATTRIBUTES, "ceil_mode", "storage_order"),
    supports=unsupported_rank,
    limits="1 to 3 spatial axes",
)
def convert_max_pool(node: NodeView) -> list[SSAValue]:
    """`nn.max_pool1d` to `3d`, and the places of the maxima where the model reads them."""
    order = node.attribute_int("storage_order", 0, check=lambda value: value in (0, 1))
    results = [max_pool(node)]
    if any(node.outputs[1:]):
        results.append(_in_whole_data(node, _pool(node, "max_pool{}_indices", column_major=bool(order))))
    return results


def max_pool(node: NodeView) -> SSAValue:
    """The greatest element of each window."""
    kernel = required_kernel(node)
    if padding_is_computed(node, kernel):
        least = node.emit_constant(_least(numpy_dtype(node.element_type(0))), "least")
        node = without_padding(node, padded_to_keep(node, kernel, node.input(0), least))
    return _pool(node, "max_pool{}")


def _least(dtype: np.dtype) -> Array:
    """What no element is less than."""
    return np.array(np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf, dtype)


def _in_whole_data(node: NodeView, places: SSAValue) -> SSAValue:
    """Places within images as places in all of the data: behind those of the images before."""
    shape = tuple(extent for extent in node.shape(0) if isinstance(extent, int))
    if len(shape) != len(node.shape(0)):
        return node.emit("add", places, _first_of_images(node))
    problem = check_size(shape[:2], np.dtype(np.int64).itemsize, MAX_COMPUTED_BYTES)
    if problem is not None:
        raise node.error(problem)
    # Of no images, too, the place behind one is computed.
    if prod(max(extent, 1) for extent in shape) > np.iinfo(np.int64).max:
        raise node.error(f"Indices cannot number the elements of {list(shape)}")
    first = np.arange(prod(shape[:2]), dtype=np.int64) * prod(shape[2:])
    return node.emit("add", places, node.emit_constant(first.reshape(*shape[:2], *[1] * (len(shape) - 2)), "images"))


def _first_of_images(node: NodeView) -> SSAValue:
    """The place of the first element of each image, where not all extents are known."""
    numbers, behind = Numbers(node), len(node.shape(0)) - 2
    count, channels, *plane = (numbers.extent(node.input(0), axis) for axis in range(behind + 2))
    batch = node.emit("expand_dims", numbers.arange(0, count), axis=1)
    image = node.emit("multiply", batch, numbers.value(channels))
    image = node.emit("add", image, numbers.arange(0, channels))
    first = node.emit("multiply", image, numbers.value(numbers.of("multiply", *plane)))
    return node.emit("expand_dims", first, axis=2, num_newaxis=behind)


@converts(
    "AveragePool",
    attributes=(*WINDOW_ATTRIBUTES, "ceil_mode", "count_include_pad"),
    supports=unsupported_rank,
    limits="1 to 3 spatial axes",
)
def convert_average_pool(node: NodeView) -> SSAValue:
    """`nn.avg_pool1d` to `3d`."""
    return average_pool(node)


def average_pool(node: NodeView) -> SSAValue:
    """The means of windows; ONNX leaves padding out of the count unless `count_include_pad` asks for it."""
    include = bool(node.attribute_int("count_include_pad", 0, check=lambda value: value in (0, 1)))
    kernel = required_kernel(node)
    if not padding_is_computed(node, kernel):
        return _pool(node, "avg_pool{}", count_include_pad=include)
    return _means_of_padded(node, kernel, include=include)


def _means_of_padded(node: NodeView, kernel: Sequence[int], *, include: bool) -> SSAValue:
    """The means of windows over padding that the run tells; without it they are over the part that is data."""
    data, zero = node.input(0), node.scalar(0, node.input(0))
    means = _pool(without_padding(node, padded_to_keep(node, kernel, data, zero)), "avg_pool{}")
    if include:
        return means
    inside = padded_to_keep(node, kernel, node.emit("ones_like", data), zero)
    return node.emit("divide", means, _pool(without_padding(node, inside), "avg_pool{}"))


def _pool(node: NodeView, op: str, **attributes: bool) -> SSAValue:
    kernel = required_kernel(node)
    ceil_mode, window = _window(node, kernel)
    shown = window_attributes(window)
    name = f"nn.{op.format(f'{len(window)}d')}"
    return node.emit(name, node.input(0), pool_size=kernel, ceil_mode=ceil_mode, **shown, **attributes)


@converts(
    "LpPool",
    attributes=(*WINDOW_ATTRIBUTES, "ceil_mode", "p"),
    supports=unsupported_rank,
    limits="1 to 3 spatial axes, known channels",
)
@rounded_once
def convert_lp_pool(node: NodeView, data: SSAValue) -> SSAValue:
    """The p-th root of the sum of p-th powers, which a convolution of each channel with ones adds up."""
    kernel, order = required_kernel(node), _order(node)
    _, window = _window(node, kernel, explicit=True)
    channels = node.shape(0)[1]
    if not isinstance(channels, int) or channels == 0:
        raise node.error(f"LpPool needs a known number of channels, found {channels}")
    ones = node.emit_filled(np.ones((), numpy_dtype(element_type_of(data.type))), (channels, 1, *kernel), "ones")
    powers = _power(node, data, order)
    op = f"nn.conv{len(window)}d"
    total = node.emit(op, powers, ones, groups=channels, kernel_size=kernel, **window_attributes(window))
    return _root(node, total, order)


@converts("GlobalLpPool", attributes=("p",))
@rounded_once
def convert_global_lp_pool(node: NodeView, data: SSAValue) -> SSAValue:
    """The p-th root of the sum of p-th powers over the spatial axes."""
    order = _order(node)
    axes = tuple(range(2, len(node.shape(0))))
    return _root(node, node.emit("sum", _power(node, data, order), axis=axes, keepdims=True), order)


def _order(node: NodeView) -> float:
    """The attribute `p`, a float in the first opset."""
    order = node.attribute_float("p", 2) if node.opset < 2 else node.attribute_int("p", 2)
    if not order >= 1:
        raise node.illegal("p", order, "a number of at least 1 is expected")
    return order


def _power(node: NodeView, value: SSAValue, order: float) -> SSAValue:
    """`|value|` to the power of `order`."""
    if order == 2:
        return node.emit("multiply", value, value)
    size = node.emit("abs", value)
    return size if order == 1 else node.emit("power", size, node.scalar(order, value))


def _root(node: NodeView, value: SSAValue, order: float) -> SSAValue:
    if order == 2:
        return node.emit("sqrt", value)
    return value if order == 1 else node.emit("power", value, node.scalar(1 / order, value))


@converts("GlobalAveragePool")
def convert_global_average_pool(node: NodeView) -> SSAValue:
    """`nn.global_avg_pool1d` to `3d`, a mean over the spatial axes for any other number."""
    return _global_pool(node, "nn.global_avg_pool", "mean")


@converts("GlobalMaxPool")
def convert_global_max_pool(node: NodeView) -> SSAValue:
    """`nn.global_max_pool1d` to `3d`, a maximum over the spatial axes for any other number."""
    return _global_pool(node, "nn.global_max_pool", "max")


def _global_pool(node: NodeView, pool: str, reduction: str) -> SSAValue:
    rank = len(node.shape(0)) - 2
    if 1 <= rank <= MOST_AXES:
        return node.emit(f"{pool}{rank}d", node.input(0))
    return node.emit(reduction, node.input(0), axis=tuple(range(2, rank + 2)), keepdims=True)


def _window(
    node: NodeView, kernel: Sequence[int], *, explicit: bool = False
) -> tuple[bool, tuple[WindowAxis[int], ...]]:
    """Returns Relay's ceil_mode, and the window for it; with `explicit` partial windows are padded until they fit."""
    window = read_window(node, kernel)
    if not node.attribute_int("ceil_mode", 0, check=lambda value: value in (0, 1)):
        return False, window
    ceil_mode, window = _without_empty_windows(node, window)
    if not (ceil_mode and explicit):
        return ceil_mode, window
    padded: list[WindowAxis[int]] = []
    for axis, extent in zip(window, node.shape(0)[2:], strict=True):
        if not isinstance(extent, int):
            raise node.error("ceil_mode needs a known extent here", help="fix the input shape with shapes={…}")
        padded.append(replace(axis, after=axis.covered(axis.count(extent, partial=True)) - extent - axis.before))
    return False, tuple(padded)


def _without_empty_windows(
    node: NodeView, window: tuple[WindowAxis[int], ...]
) -> tuple[bool, tuple[WindowAxis[int], ...]]:
    """Returns ceil_mode and window: unlike Relay, ONNX drops a last window that starts in the end padding.

    Where only some axes have such a window, their end padding shrinks until the windows fit exactly.
    """
    found, rounds_up, drops = list(window), False, False
    for number, (axis, extent) in enumerate(zip(window, node.shape(0)[2:], strict=True)):
        if not isinstance(extent, int):
            if axis.after + axis.stride > axis.reach:
                raise node.error("ceil_mode needs a known extent here", help="fix the input shape with shapes={…}")
            rounds_up = True
            continue
        count = axis.count(extent, partial=True)
        if axis.place(count - 1, 0) < extent:
            rounds_up |= axis.room(extent) % axis.stride != 0
        else:
            drops = True
            found[number] = replace(axis, after=axis.covered(count - 1) - extent - axis.before)
    if not rounds_up:
        return False, window
    if drops and min(axis.after for axis in found) < 0:
        raise node.error("ceil_mode with strides larger than the window drops a row; this is not supported")
    return True, tuple(found)
