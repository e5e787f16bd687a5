"""Slice and Gather at indices that are known: a part of a tensor is a field of `relay.split`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.extents import known_axis, static_shape
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts

MAX_PIECES = 64
"""The number of parts that are cut out one by one at most."""


def cut(node: NodeView, value: SSAValue, axis: int, start: int, stop: int) -> SSAValue:
    """The elements `start` to `stop` (exclusive) along `axis`; none where `stop` is not beyond `start`."""
    extent = static_shape(node, value)[axis]
    if stop <= start:
        return node.tuple_field(node.emit("split", value, indices_or_sections=(0,), axis=axis), 0)
    bounds = tuple(bound for bound in (start, stop) if 0 < bound < extent)
    if not bounds:
        return value
    parts = node.emit("split", value, indices_or_sections=bounds, axis=axis)
    return node.tuple_field(parts, 1 if start > 0 else 0)


def pick(node: NodeView, value: SSAValue, axis: int, indices: Sequence[int]) -> SSAValue:
    """The elements at `indices` along `axis`, in that order; `MAX_PIECES` at most where they do not ascend evenly."""
    even = _as_range(indices)
    if even is not None:
        return _take_range(node, value, axis, even)
    return _join(node, value, axis, indices)


def _as_range(indices: Sequence[int]) -> range | None:
    """The indices as a range where they ascend or descend evenly; ranges may be of any length."""
    if isinstance(indices, range):
        return indices
    if len(indices) < 2:
        return range(indices[0], indices[0] + 1) if indices else range(0)
    step = indices[1] - indices[0]
    even = range(indices[0], indices[0] + step * len(indices), step) if step else None
    return even if even is not None and list(even) == list(indices) else None


def _take_range(node: NodeView, value: SSAValue, axis: int, indices: range) -> SSAValue:
    if not indices:
        return cut(node, value, axis, 0, 0)
    if indices.step == 1 or len(indices) == 1:
        return cut(node, value, axis, indices[0], indices[0] + len(indices))
    return _stride(node, value, axis, indices) if indices.step > 0 else _join(node, value, axis, indices)


def _join(node: NodeView, value: SSAValue, axis: int, indices: Sequence[int]) -> SSAValue:
    if len(indices) > MAX_PIECES:
        raise node.error(f"{len(indices)} elements out of order along axis {axis} are not supported, only {MAX_PIECES}")
    pieces = {index: cut(node, value, axis, index, index + 1) for index in sorted(set(indices))}
    return node.emit("concatenate", node.make_tuple([pieces[index] for index in indices]), axis=axis)


def _stride(node: NodeView, value: SSAValue, axis: int, indices: range) -> SSAValue:
    """Evenly spaced elements: one column of the axis written as rows of as many elements as the step."""
    first, last, step = indices[0], indices[-1], indices.step
    whole = cut(node, value, axis, first, last + 1)
    lacking = len(indices) * step - (last + 1 - first)
    shape = list(static_shape(node, whole))
    if lacking:
        pads = [0] * (2 * len(shape))
        pads[2 * axis + 1] = lacking
        whole = node.emit("nn.pad", whole, node.scalar(0.0, value), pad_width=tuple(pads))
    rows = (*shape[:axis], len(indices), step, *shape[axis + 1 :])
    column = cut(node, node.reshape(whole, rows), axis + 1, 0, 1)
    return node.emit("squeeze", column, axis=(axis + 1,))


@converts("Gather", attributes=("axis",), limits="constant indices, out of order up to 64")
def convert_gather(node: NodeView) -> SSAValue:
    """The elements at constant indices."""
    shape = static_shape(node, node.input(0))
    axis = known_axis(node, node.attribute_int("axis", 0), len(shape))
    array = node.required_constant(1, "indices")
    if array.dtype.kind not in "iu":
        raise node.error(f"input #1 (indices) must be integers, found {array.dtype}{list(array.shape)}")
    extent = shape[axis]
    indices = [int(index) for index in array.reshape(-1)]
    wrong = next((index for index in indices if not -extent <= index < extent), None)
    if wrong is not None:
        raise node.error(f"index {wrong} of axis {axis}, of extent {extent}, is out of range")
    picked = pick(node, node.input(0), axis, [index % extent for index in indices])
    if array.ndim == 1:
        return picked
    return node.reshape(picked, (*shape[:axis], *array.shape, *shape[axis + 1 :]))
