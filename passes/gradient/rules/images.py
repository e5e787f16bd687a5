"""Resizing of images, and affine grids."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue, floats, ints
from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.gradients.axis_products import matrix_of, multiplied
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients, not_differentiable
from xrelay.dialects.relay.ops.image_crop import AffineGridOp
from xrelay.dialects.relay.ops.image_resize import RESIZES, DynResizeOp, ResizeOp, ResizingOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.index_algebra.dims import Dim
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(*RESIZES)
def resize(op: ResizeOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Multiplies by the weights of the elements along each spatial axis."""
    gradient, layout, count = emit.cast_like(gradient, op.data), op.data_layout, len(op.AXES)
    roi = floats(op.roi)
    for number, (letter, size) in enumerate(zip(op.AXES, ints(op.size), strict=True)):
        axis = layout.index(letter)
        extent = emit.shape(op.data)[axis]
        if isinstance(extent, int) and op.resampling.keeps(extent, size):
            continue
        lines = _lines(op, extent, gradient, emit)
        region = [roi[number], roi[number + count]] if op.resampling.crops else ()
        weights = emit.op("image.resize1d", lines, size=(size,), roi=region, layout="NWC", **_rule(op))
        gradient = multiplied(gradient, axis, emit.op("squeeze", weights, axis=[0]), emit)
    return [gradient]


@differentiates(DynResizeOp)
def dyn_resize(op: DynResizeOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Multiplies by the weights of the elements along each axis; None for sizes, scales and regions."""
    gradient, rank = emit.cast_like(gradient, op.data), len(emit.shape(op.data))
    axes = [axis_index(axis, rank) for axis in ints(op.axes)]
    for number, axis in enumerate(axes):
        lines = _lines(op, emit.shape(op.data)[axis], gradient, emit)
        size, scale = (emit.op("take", each, _places(emit, number), axis=0) for each in (op.size, op.scale))
        region = emit.op("take", op.roi, _places(emit, number, number + len(axes)), axis=0)
        antialias = bool(op.antialias.value.data)
        weights = emit.op("dyn.image.resize", lines, size, scale, region, axes=[1], antialias=antialias, **_rule(op))
        gradient = multiplied(gradient, axis, emit.op("squeeze", weights, axis=[0]), emit)
    return [gradient, None, None, None]


def _places(emit: GradientBuilder, *places: int) -> SSAValue:
    return emit.insert(ConstantOp.of(np.array(places, np.int64))).result


def _lines(op: ResizingOp, extent: Dim, like: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Returns unit vectors of `extent` elements; their resized values are the weights of each element."""
    if not isinstance(extent, int):
        raise not_differentiable(op, f"the extent {extent} of its data is not known")
    return matrix_of(np.eye(extent)[None], like, emit)


def _rule(op: ResizingOp) -> dict[str, AttributeValue]:
    """Returns the attributes of the resizing that affect the weights."""
    names = ("method", "coordinate_transformation_mode", "rounding_method", "cubic_alpha", "cubic_exclude")
    return {name: op.properties[name] for name in names}


@differentiates(AffineGridOp)
def affine_grid(op: AffineGridOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the sums of the gradient times the factor of each element of a matrix: x, y or 1."""
    units = np.zeros((3, 2, 3))
    units[:, 0] = np.eye(3)
    grids = emit.op("image.affine_grid", matrix_of(units, gradient, emit), **op.properties)
    factors = emit.op("take", grids, emit.insert(ConstantOp.of(np.array(0, np.int64))).result, axis=1)
    return [emit.op("einsum", emit.tuple(gradient, factors), equation="nchw,khw->nck")]
