"""Morphological dilation: the gradient of a window belongs to the element with the greatest sum with the weight."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients, not_differentiable
from xrelay.dialects.relay.gradients.numbered_elements import collected, numbered
from xrelay.dialects.relay.ops.image_dilation import Dilation2DOp
from xrelay.index_algebra.dims import Shape
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(Dilation2DOp)
def dilation2d(op: Dilation2DOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Adds the gradient to the element and the weight of the first tap whose sum is the result; padding is ignored."""
    plain, back = [0, *op.image_axes], [[0, *op.image_axes].index(axis) for axis in range(4)]
    data, result, given = (_moved(value, plain, emit) for value in (op.data, op.result, gradient))
    data, weight = emit.cast_like(data, given), _moved(emit.cast_like(op.weight, given), op.weight_axes, emit)
    rows, columns = _known(op, emit.shape(weight)[1:])
    counts = _known(op, emit.shape(result)[2:])
    padded, numbers = (_padded(op, value, emit) for value in (data, numbered(data, emit)))
    zeros, open_places = emit.zeros_like(given), emit.op("equal", result, result)
    updates, seen_numbers, of_taps = list[SSAValue](), list[SSAValue](), list[SSAValue]()
    for tap in np.ndindex(rows, columns):
        seen, at = (_seen(op, value, tap, counts, emit) for value in (padded, numbers))
        total = emit.op("add", seen, _tap_of(weight, tap, emit))
        wins = emit.op("logical_and", open_places, emit.op("equal", total, result))
        open_places = emit.op("logical_and", open_places, emit.op("logical_not", wins))
        share = emit.op("where", wins, given, zeros)
        updates.append(share)
        seen_numbers.append(at)
        of_taps.append(emit.op("sum", share, axis=[0, 2, 3]))
    joined = [emit.op("concatenate", emit.tuple(*each), axis=0) for each in (seen_numbers, updates)]
    of_data = _moved(collected(joined[0], joined[1], data, emit), back, emit)
    of_weight = emit.reshape_like(emit.op("stack", emit.tuple(*of_taps), axis=1), weight)
    turned = [op.weight_axes.index(axis) for axis in range(3)]
    return [emit.cast_like(of_data, op.data), emit.cast_like(_moved(of_weight, turned, emit), op.weight)]


def _moved(value: SSAValue, axes: Sequence[int], emit: GradientBuilder) -> SSAValue:
    return value if list(axes) == sorted(axes) else emit.op("transpose", value, axes=list(axes))


def _known(op: Dilation2DOp, extents: Shape) -> list[int]:
    known = [extent for extent in extents if isinstance(extent, int)]
    if len(known) < len(extents):
        raise not_differentiable(op, "the extents of its images are not known")
    return known


def _padded(op: Dilation2DOp, value: SSAValue, emit: GradientBuilder) -> SSAValue:
    top, left, bottom, right = ints(op.padding)
    return emit.op("nn.pad", value, 0, pad_width=(0, 0, 0, 0, top, bottom, left, right))


def _seen(
    op: Dilation2DOp, value: SSAValue, tap: tuple[int, ...], counts: Sequence[int], emit: GradientBuilder
) -> SSAValue:
    """Returns the elements under a tap in all windows."""
    strides = ints(op.strides)
    begin = [step * place for step, place in zip(ints(op.dilations), tap, strict=True)]
    end = [first + (count - 1) * step + 1 for first, count, step in zip(begin, counts, strides, strict=True)]
    return emit.op("strided_slice", value, begin=begin, end=end, strides=list(strides), axes=[2, 3])


def _tap_of(weight: SSAValue, tap: tuple[int, ...], emit: GradientBuilder) -> SSAValue:
    """Returns the weight of a tap in each channel."""
    return emit.op("strided_slice", weight, begin=list(tap), end=[place + 1 for place in tap], axes=[1, 2])
