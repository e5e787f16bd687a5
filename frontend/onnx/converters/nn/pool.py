"""MaxPool, AveragePool and LpPool.

With `ceil_mode`, the last window may extend past the padded data, but no window starts in the end padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    END_OF_AXIS,
    Array,
    NodeView,
    Number,
    Numbers,
    cut,
    numpy_dtype,
    rounded_once,
    shape_of,
    slice_between,
)
from xrelay.frontend.onnx.converters.nn.same_padding import padded_to_keep, padding_is_computed, without_padding
from xrelay.frontend.onnx.converters.nn.windows import (
    converts_windows,
    read_window,
    required_kernel,
    window_attributes,
)
from xrelay.frontend.onnx.folding import evaluate_formula
from xrelay.frontend.onnx.tensors import MAX_COMPUTED_BYTES
from xrelay.index_algebra.windows import WindowAxis

_FIRST_SPATIAL = 2


def _rounds_up(node: NodeView, window: Sequence[WindowAxis[int]]) -> bool:
    """Returns whether the attribute `ceil_mode` may add a window along some axis of input 0."""
    if not node.attribute_flag("ceil_mode"):
        return False
    extents = node.shape(0)[_FIRST_SPATIAL:]
    return not all(
        isinstance(extent, int) and axis.room(extent) % axis.stride == 0
        for axis, extent in zip(window, extents, strict=True)
    )


def _without_empty_windows(node: NodeView, pooled: SSAValue, window: Sequence[WindowAxis[int]]) -> SSAValue:
    """Returns `pooled` without the windows that start in the end padding, which Relay's `ceil_mode` includes.

    `pooled` is the pool of input 0 with `ceil_mode`. A window starts in the end padding only if the padding and the
    stride together exceed the reach of the window.
    """
    ends: dict[int, Number] = {}
    for number, axis in enumerate(window, start=_FIRST_SPATIAL):
        if axis.after + axis.stride > axis.reach:
            ends[number] = _starts_before_end(Numbers(node), node.input(0), number, axis)
    known = {axis: end for axis, end in ends.items() if isinstance(end, int)}
    for axis in known:
        del ends[axis]
    counts = shape_of(pooled.type)
    fitting = {axis: range(min(end, count)) for axis, end in known.items() if isinstance(count := counts[axis], int)}
    value = cut(node, pooled, fitting)
    if not ends:
        return value
    numbers, axes = Numbers(node), range(max(ends) + 1)
    begin, step = (node.emit_ints([number] * len(axes), "bounds") for number in (0, 1))
    return slice_between(node, value, begin, numbers.stacked([ends.get(axis, END_OF_AXIS) for axis in axes]), step)


def _starts_before_end(numbers: Numbers, data: SSAValue, number: int, axis: WindowAxis[int]) -> Number:
    """The number of window positions, one stride apart, that start before the end of axis `number` of `data`."""
    extent = numbers.of("add", numbers.extent(data, number), axis.before + axis.stride - 1)
    return numbers.of("floor_divide", extent, axis.stride)


@converts_windows(
    "MaxPool",
    attributes=("ceil_mode", "storage_order"),
)
def convert_max_pool(node: NodeView) -> list[SSAValue]:
    """`nn.max_pool1d` to `3d`, and the indices of the maxima if the model reads them."""
    order = node.attribute_flag("storage_order")
    results = [max_pool(node)]
    if any(node.outputs[1:]):
        results.append(_in_whole_data(node, _pool(node, "max_pool{}_indices", column_major=order)))
    return results


def max_pool(node: NodeView) -> SSAValue:
    """Returns the maximum of each window."""
    kernel = required_kernel(node)
    if padding_is_computed(node, kernel):
        least = node.emit_constant(_least(numpy_dtype(node.element_type(0))), "least")
        node = without_padding(node, padded_to_keep(node, kernel, node.input(0), least))
    return _pool(node, "max_pool{}")


def _least(dtype: np.dtype) -> Array:
    """The least value of the type."""
    return np.array(np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf, dtype)


def _in_whole_data(node: NodeView, places: SSAValue) -> SSAValue:
    """Converts indices within an image to indices in the whole data."""
    shape = tuple(extent for extent in node.shape(0) if isinstance(extent, int))
    if len(shape) == len(node.shape(0)):
        node.require_size(shape[:2], np.dtype(np.int64).itemsize, MAX_COMPUTED_BYTES)
        # The index after the last element must be representable, even if there are no images.
        if prod(max(extent, 1) for extent in shape) > np.iinfo(np.int64).max:
            raise node.error(f"Indices cannot number the elements of {list(shape)}")
    return node.emit("add", places, evaluate_formula(node, lambda: _first_of_images(node), "images"))


def _first_of_images(node: NodeView) -> SSAValue:
    """The index of the first element of each image."""
    numbers, spatial = Numbers(node), len(node.shape(0)) - 2
    count, channels, *plane = (numbers.extent(node.input(0), axis) for axis in range(spatial + 2))
    batch = node.emit("expand_dims", numbers.arange(0, count), axis=1)
    image = node.emit("multiply", batch, numbers.value(channels))
    image = node.emit("add", image, numbers.arange(0, channels))
    first = node.emit("multiply", image, numbers.value(numbers.of("multiply", *plane)))
    return node.emit("expand_dims", first, axis=2, num_newaxis=spatial)


@converts_windows(
    "AveragePool",
    attributes=("ceil_mode", "count_include_pad"),
)
def convert_average_pool(node: NodeView) -> SSAValue:
    """`nn.avg_pool1d` to `3d`: the means of windows; padding counts only with `count_include_pad`."""
    include = node.attribute_flag("count_include_pad")
    kernel = required_kernel(node)
    if not padding_is_computed(node, kernel):
        return _pool(node, "avg_pool{}", count_include_pad=include)
    return _means_of_padded(node, kernel, include=include)


def _means_of_padded(node: NodeView, kernel: Sequence[int], *, include: bool) -> SSAValue:
    """The means of windows with computed padding; unless `include`, over the data elements of the window."""
    data, zero = node.input(0), node.scalar(0, node.input(0))
    means = _pool(without_padding(node, padded_to_keep(node, kernel, data, zero)), "avg_pool{}")
    if include:
        return means
    inside = padded_to_keep(node, kernel, node.emit("ones_like", data), zero)
    return node.emit("divide", means, _pool(without_padding(node, inside), "avg_pool{}"))


def _pool(node: NodeView, op: str, **attributes: bool) -> SSAValue:
    kernel = required_kernel(node)
    window = read_window(node, kernel)
    ceil_mode = _rounds_up(node, window)
    name = f"nn.{op.format(f'{len(window)}d')}"
    sizes = window_attributes(window)
    pooled = node.emit(name, node.input(0), pool_size=kernel, ceil_mode=ceil_mode, **sizes, **attributes)
    return _without_empty_windows(node, pooled, window) if ceil_mode else pooled


@converts_windows(
    "LpPool",
    attributes=("ceil_mode", "p"),
)
@rounded_once
def convert_lp_pool(node: NodeView, data: SSAValue) -> SSAValue:
    """The p-th root of the sum of p-th powers, computed as their mean over the window times the window's size."""
    kernel, order = required_kernel(node), lp_order(node)
    if padding_is_computed(node, kernel):
        data = padded_to_keep(node, kernel, data, node.scalar(0, data))
        node = without_padding(node, data)
    window = read_window(node, kernel)
    ceil_mode = _rounds_up(node, window)
    # Trailing zeros complete the windows that extend past the end.
    full = [replace(axis, after=axis.after + axis.stride - 1) for axis in window] if ceil_mode else window
    op, sizes = f"nn.avg_pool{len(window)}d", window_attributes(full)
    means = node.emit(op, lp_power(node, data, order), pool_size=kernel, count_include_pad=True, **sizes)
    total = node.emit("multiply", means, node.scalar(prod(kernel), means))
    return lp_root(node, _without_empty_windows(node, total, window) if ceil_mode else total, order)


def lp_order(node: NodeView) -> float:
    """Returns the attribute `p`, a float in the first opset."""
    order = node.attribute_float("p", 2) if node.opset < 2 else node.attribute_int("p", 2)
    if not order >= 1:
        raise node.illegal("p", order, "a number of at least 1 is expected")
    return order


def lp_power(node: NodeView, value: SSAValue, order: float) -> SSAValue:
    """Returns `|value|` to the power of `order`."""
    if order == 2:
        return node.emit("multiply", value, value)
    size = node.emit("abs", value)
    return size if order == 1 else node.emit("power", size, node.scalar(order, value))


def lp_root(node: NodeView, value: SSAValue, order: float) -> SSAValue:
    """Returns `value`, which is not negative, to the power of `1 / order`."""
    if order == 2:
        return node.emit("sqrt", value)
    return value if order == 1 else node.emit("power", value, node.scalar(1 / order, value))
