"""Samples of images at coordinates of a grid: gradients of the elements and of the coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from xdsl.dialects.builtin import f32, f64, i64
from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients, not_differentiable
from xrelay.dialects.relay.ops.image_grid import PADDINGS, SAMPLINGS, GridSampleOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.types import element_type_of
from xrelay.passes.gradient.rule_table import differentiates

_FAR: Final = float(1 << 30)
"""Coordinates are clamped to this distance."""


@differentiates(GridSampleOp)
def grid_sample(op: GridSampleOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the sum of the gradient over the samples of each element, times its weights, and that of the grid.

    The gradient of a coordinate along an axis is the gradient times the difference of the elements on both sides. With
    method "nearest" the grid has no gradient.
    """
    if op.method.data == SAMPLINGS[2]:
        raise not_differentiable(op, "its method is bicubic; nearest and bilinear have rules")
    wide = f64 if f64 in (element_type_of(op.data.type), element_type_of(op.grid.type)) else f32
    data, grid, gradient = (emit.op("cast", value, dtype=wide) for value in (op.data, op.grid, gradient))
    count = len(emit.shape(data)) - 2
    axes = [_axis(op, grid, axis, emit) for axis in range(count)]
    rows, given = (emit.op("reshape", value, newshape=(0, 0, -1)) for value in (data, gradient))
    of_data, of_places = emit.zeros_like(rows), [emit.zeros_like(axis.slope) for axis in axes]
    steps = (0, 1) if op.method.data == SAMPLINGS[1] else (0,)
    for taps in product(steps, repeat=count):
        sides = [axis.sides[step] for axis, step in zip(axes, taps, strict=True)]
        index = emit.broadcast_like(_in_rows(_number([side.index for side in sides], axes, emit), emit), given)
        seen = _in_rows(_product([side.inside for side in sides], emit), emit)
        weight = _in_rows(_product([side.weight for side in sides], emit), emit)
        inside = emit.op("multiply", given, seen)
        updates = emit.op("multiply", inside, weight)
        of_data = emit.op("scatter_elements", of_data, index, updates, axis=2, reduction="add")
        if len(steps) > 1:
            found = emit.op("multiply", inside, emit.op("gather", rows, index, axis=2))
            total = emit.reshape_like(emit.op("sum", found, axis=[1]), axes[0].slope)
            for number, step in enumerate(taps):
                others = [side.weight for at, side in enumerate(sides) if at != number]
                share = _product([total, *others], emit)
                of_places[number] = emit.op("add" if step else "subtract", of_places[number], share)
    result = emit.cast_like(emit.reshape_like(of_data, data), op.data)
    if len(steps) == 1:
        return [result, None]
    # The grid has the coordinate along the last axis first.
    parts = [emit.op("multiply", place, axis.slope) for place, axis in zip(of_places, axes, strict=True)][::-1]
    return [result, emit.cast_like(emit.op("stack", emit.tuple(*parts), axis=1), op.grid)]


@dataclass(frozen=True)
class _Side:
    """The elements below, or above, the coordinates along an axis: indices, weights, and 0 if they are outside."""

    index: SSAValue
    weight: SSAValue
    inside: SSAValue


@dataclass(frozen=True)
class _Axis:
    """An axis of the data: the derivative of coordinates by the grid, and the elements on both sides."""

    extent: int
    slope: SSAValue
    sides: tuple[_Side, _Side]


def _axis(op: GridSampleOp, grid: SSAValue, axis: int, emit: GradientBuilder) -> _Axis:
    extent, aligned = emit.shape(op.data)[2 + axis], bool(op.align_corners.value.data)
    if not isinstance(extent, int):
        raise not_differentiable(op, f"the extent {extent} of its data is not known")
    number = emit.insert(ConstantOp.of(np.array(len(emit.shape(op.data)) - 3 - axis, np.int64))).result
    moved = emit.op("add", emit.op("take", grid, number, axis=1), 1.0)
    speed = (extent - 1) / 2 if aligned else extent / 2
    place = emit.op("multiply", moved, speed)
    place = place if aligned else emit.op("subtract", place, 0.5)
    if op.method.data == SAMPLINGS[0]:
        place = emit.op("round", place)
    far = emit.op("minimum", place, _FAR)
    place = emit.op("where", emit.op("greater", place, -_FAR), far, emit.op("full_like", far, -_FAR))
    slope = emit.op("full_like", place, speed)
    place, slope = _brought_in(op, place, slope, extent, emit)
    below = emit.op("floor", place)
    ratio = emit.op("subtract", place, below)
    ones = emit.ones_like(ratio)
    weights = (emit.op("subtract", ones, ratio), ratio) if op.method.data == SAMPLINGS[1] else (ones, ones)
    sides = [_side(op, emit.op("add", below, float(step)), weights[step], extent, emit) for step in (0, 1)]
    return _Axis(extent, slope, (sides[0], sides[1]))


def _brought_in(
    op: GridSampleOp, place: SSAValue, slope: SSAValue, extent: int, emit: GradientBuilder
) -> tuple[SSAValue, SSAValue]:
    """Returns coordinates clamped or reflected according to the padding mode, and their derivatives."""
    aligned = bool(op.align_corners.value.data)
    if op.padding_mode.data == PADDINGS[2]:
        return _mirrored(place, slope, extent, aligned=aligned, emit=emit)
    if op.padding_mode.data == PADDINGS[0]:
        return place, slope
    edge = 0.0 if aligned else 0.5
    low = emit.op("greater_equal", place, -edge)
    stays = emit.op("logical_and", low, emit.op("less_equal", place, extent - 1 + edge))
    nearest = emit.op("clip", place, a_min=0.0, a_max=float(extent - 1))
    return emit.op("where", stays, place, nearest), emit.op("where", stays, slope, emit.zeros_like(slope))


def _mirrored(
    place: SSAValue, slope: SSAValue, extent: int, *, aligned: bool, emit: GradientBuilder
) -> tuple[SSAValue, SSAValue]:
    """Returns coordinates reflected at both ends, and their derivatives, which change sign."""
    low, width = (0.0, extent - 1.0) if aligned else (-0.5, float(extent))
    if not width:
        return emit.zeros_like(place), emit.zeros_like(slope)
    past = emit.op("subtract", place, low)
    way = emit.op("abs", past)
    times = emit.op("floor", emit.op("divide", way, width))
    rest = emit.op("subtract", way, emit.op("multiply", times, width))
    back = emit.op("not_equal", emit.op("floor_mod", times, 2.0), 0.0)
    seen = emit.op("where", back, emit.op("subtract", low + width, rest), emit.op("add", rest, low))
    turned = emit.op("multiply", slope, emit.op("sign", past))
    turned = emit.op("where", back, emit.op("negative", turned), turned)
    stays = emit.op("logical_and", emit.op("greater_equal", past, 0.0), emit.op("less_equal", past, width))
    return emit.op("where", stays, place, seen), emit.op("where", stays, slope, turned)


def _side(op: GridSampleOp, index: SSAValue, weight: SSAValue, extent: int, emit: GradientBuilder) -> _Side:
    """Returns the elements at whole coordinates."""
    inside = emit.ones_like(weight)
    if op.padding_mode.data == PADDINGS[0]:
        least = emit.op("greater_equal", index, 0.0)
        within = emit.op("logical_and", least, emit.op("less", index, float(extent)))
        inside = emit.cast_like(within, weight)
    elif op.padding_mode.data == PADDINGS[2]:
        index, _ = _mirrored(index, index, extent, aligned=bool(op.align_corners.value.data), emit=emit)
    near = emit.op("clip", index, a_min=0.0, a_max=float(extent - 1))
    return _Side(emit.op("cast", near, dtype=i64), weight, inside)


def _number(indices: list[SSAValue], axes: list[_Axis], emit: GradientBuilder) -> SSAValue:
    """Returns the row-major indices of elements."""
    number, *others = indices
    for index, axis in zip(others, axes[1:], strict=True):
        number = emit.op("add", emit.op("multiply", number, axis.extent), index)
    return number


def _product(factors: list[SSAValue], emit: GradientBuilder) -> SSAValue:
    first, *others = factors
    for factor in others:
        first = emit.op("multiply", first, factor)
    return first


def _in_rows(value: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Flattens the pixels of each image, with an axis for channels."""
    return emit.op("reshape", emit.op("expand_dims", value, axis=1), newshape=(0, 0, -1))
