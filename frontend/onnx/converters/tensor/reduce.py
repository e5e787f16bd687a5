"""The Reduce ops; those that relay lacks are a reduction with elementwise ops before and after."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    ConvertFunction,
    NodeView,
    axes_are_computed,
    axis_count,
    converts,
    element_type_of,
    extents_left,
    extents_of,
    is_half,
    named_axes,
    numpy_dtype,
    reshaped,
)

Reduction: TypeAlias = Callable[[NodeView, SSAValue, tuple[int, ...], bool], SSAValue]
"""Reduces a value over sorted, nonnegative axes; the flag keeps them with extent 1."""


def _plain(relay_name: str) -> Reduction:
    def reduce(node: NodeView, value: SSAValue, axis: tuple[int, ...], keepdims: bool) -> SSAValue:
        return node.emit(relay_name, value, axis=axis, keepdims=keepdims)

    return reduce


_sum = _plain("sum")


def _sum_of_squares(node: NodeView, value: SSAValue, axis: tuple[int, ...], keepdims: bool) -> SSAValue:
    return _sum(node, node.emit("multiply", value, value), axis, keepdims)


def _l1(node: NodeView, value: SSAValue, axis: tuple[int, ...], keepdims: bool) -> SSAValue:
    return _sum(node, node.emit("abs", value), axis, keepdims)


def _l2(node: NodeView, value: SSAValue, axis: tuple[int, ...], keepdims: bool) -> SSAValue:
    return node.emit("sqrt", _sum_of_squares(node, value, axis, keepdims))


def _log_sum(node: NodeView, value: SSAValue, axis: tuple[int, ...], keepdims: bool) -> SSAValue:
    return node.emit("log", _sum(node, value, axis, keepdims))


def _log_sum_exp(node: NodeView, value: SSAValue, axis: tuple[int, ...], keepdims: bool) -> SSAValue:
    """log(sum(exp(x))), with the maximum subtracted so that no exponential overflows.

    The shift is clipped to finite numbers, as the difference of two infinities is NaN.
    """
    element = element_type_of(value.type)
    if isinstance(element, IntegerType):
        raise node.error(f"exponentials of {element} are not supported", help="cast to a float first")
    greatest = float(np.finfo(numpy_dtype(element)).max)
    largest = node.emit("max", value, axis=axis, keepdims=True)
    shift = node.emit("clip", largest, a_min=-greatest, a_max=greatest)
    total = _log_sum(node, node.emit("exp", node.emit("subtract", value, shift)), axis, True)
    result = node.emit("add", total, shift)
    return result if keepdims else node.emit("squeeze", result, axis=axis)


def _wide(reduction: Reduction, integers: str | None = None) -> Reduction:
    """`reduction` computed in f32 for 16-bit floats, and in the dtype `integers`, if given, for integers."""

    def reduce(node: NodeView, value: SSAValue, axis: tuple[int, ...], keepdims: bool) -> SSAValue:
        element = element_type_of(value.type)
        wide = "float32" if is_half(element) else None
        if isinstance(element, IntegerType):
            wide = integers
        if wide is None:
            return reduction(node, value, axis, keepdims)
        result = reduction(node, node.emit("cast", value, dtype=wide), axis, keepdims)
        return node.emit("cast", result, dtype=numpy_dtype(element))

    return reduce


def _converter(reduction: Reduction) -> ConvertFunction:
    """Returns the converter of `reduction`, whose axes are an attribute in old opsets, then an input."""

    def convert(node: NodeView) -> SSAValue:
        if axes_are_computed(node) and axis_count(node):
            return _reduced_at_run_time(node, reduction)
        axes = None
        if "axes" in node.attribute_names or (node.optional_input(1) is not None and node.shape(1) != (0,)):
            axes = node.setting_ints(1, "axes")
        if not axes and node.attribute_int("noop_with_empty_axes", 0):
            return _over_nothing(node, reduction)
        return _reduce(node, reduction, axes)

    return convert


def _over_nothing(node: NodeView, reduction: Reduction) -> SSAValue:
    """The reduction of every element on its own, over an added trailing axis of extent 1."""
    rank = len(node.shape(0))
    return reduction(node, node.emit("expand_dims", node.input(0), axis=rank), (rank,), False)


def _reduce(node: NodeView, reduction: Reduction, axes: tuple[int, ...] | None) -> SSAValue:
    """The reduction over `axes`, or over all axes if it is empty."""
    rank = len(node.shape(0))
    over = tuple(axes) if axes else tuple(range(rank))
    if any(not -rank <= axis < rank for axis in over):
        raise node.illegal("axes", list(over), f"axes of a tensor of rank {rank} lie in [-{rank}, {rank - 1}]")
    normalized = tuple(sorted(axis % rank for axis in over))
    return reduction(node, node.input(0), normalized, node.attribute_flag("keepdims", True))


def _reduced_at_run_time(node: NodeView, reduction: Reduction) -> SSAValue:
    """The reduction over the axes in input 1, a non-empty list of known length.

    Each axis is split in two, a kept and a reduced one; the elements are along one of them, and the other has extent 1.
    The reduction is then over all axes of the second kind, without a transpose.

    An invalid axis is an index out of range at run time, and so is a duplicate axis unless the axes are kept: the rank
    of the result is the data's minus the number of axes.
    """
    rank, extents = len(node.shape(0)), extents_of(node)
    named, one = named_axes(node, rank), node.emit_ints(1)
    pairs = [node.emit("where", named, one, extents), node.emit("where", named, extents, one)]
    split = node.reshape(node.emit("stack", node.make_tuple(pairs), axis=1), (2 * rank,))
    result = reduction(node, reshaped(node, node.input(0), split), tuple(range(1, 2 * rank, 2)), False)
    if node.attribute_flag("keepdims", True):
        return result
    return reshaped(node, result, extents_left(node, named, rank - axis_count(node)))


_REDUCTIONS: dict[str, tuple[Reduction, int]] = {
    "ReduceMean": (_plain("mean"), 18),
    "ReduceSum": (_sum, 13),
    "ReduceMax": (_plain("max"), 18),
    "ReduceMin": (_plain("min"), 18),
    "ReduceProd": (_plain("prod"), 18),
    "ReduceL1": (_wide(_l1), 18),
    "ReduceL2": (_wide(_l2, integers="float64"), 18),
    "ReduceSumSquare": (_wide(_sum_of_squares), 18),
    "ReduceLogSum": (_wide(_log_sum), 18),
    "ReduceLogSumExp": (_wide(_log_sum_exp), 18),
}
"""Op → its reduction, and the opset in which `axes` moved from an attribute to an input."""

for _op_type, (_reduction, _moved) in _REDUCTIONS.items():
    _limits, _convert = ["floats"] if "Log" in _op_type else [], _converter(_reduction)
    converts(_op_type, until=_moved - 1, attributes=("axes", "keepdims"), limits=", ".join(_limits))(_convert)
    converts(
        _op_type,
        since=_moved,
        attributes=("keepdims", "noop_with_empty_axes"),
        limits=", ".join([*_limits, "axes of known number"]),
    )(_convert)
