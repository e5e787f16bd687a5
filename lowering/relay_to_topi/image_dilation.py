"""Greyscale dilation: a maximum over the taps of a window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.ops.image_dilation import Dilation2DOp
from xrelay.dialects.topi.build import Body, IndexLike, variables
from xrelay.dialects.topi.named.pool import lowest
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.lowering.relay_to_topi.registry import implements


@implements(Dilation2DOp, "image.dilation2d.generic")
def build_dilation2d(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Folds the maximum of sums of data and window elements; the data is padded with zeros."""
    op, (data, weight) = cast(Dilation2DOp, emitter.op), (emitter.operand(0), emitter.operand(1))
    element, shape, window = emitter.result_type.element_type, shape_of(data), shape_of(weight)
    strides, dilations, padding = (emitter.ints(name) for name in ("strides", "dilations", "padding"))
    axes, own = op.image_axes, op.weight_axes

    def fold(b: Body) -> SSAValue:
        at: list[IndexLike] = [*b.spatial]
        for k in (0, 1):
            at[axes[k + 1]] = b.spatial[axes[k + 1]] * strides[k] + b.reduction[k] * dilations[k] - padding[k]
        inside = b.in_bounds([at[axis] for axis in axes[1:]], [shape[axis] for axis in axes[1:]])
        value = b.guard(
            inside,
            element,
            lambda: convert_scalar(b, b.read(data, *at), element),
            lambda: b.constant(0, element),
        )
        places: list[IndexLike] = [0, 0, 0]
        for axis, index in zip(own, (b.spatial[axes[0]], *b.reduction), strict=True):
            places[axis] = index
        return b.largest(b.accumulators[0], b.plus(value, convert_scalar(b, b.read(weight, *places), element)))

    reduce = {"k": window[own[1]], "l": window[own[2]]}
    names = variables("i", emitter.result_shape)
    return [emitter.compute("dilation2d", names, element, fold, reduce=reduce, init=[lowest(element)])]
