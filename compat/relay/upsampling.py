"""`relay.nn.upsampling` and `upsampling3d`, with factors that may be expressions, and dynamic extents.

If all are static, the op is used. Otherwise the size is computed, and the images are resized to it:

%y = relay.nn.upsampling(%x) {scale_h = %s, scale_w = 2.0}

    %h = floor(height of %x * %s + 0.5)
    %y = relay.dyn.image.resize(%x, [%h, width of %x * 2], …) {axes = [2, 3], …}
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TypeAlias, cast

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.ops.image.resize import Resize2DOp, Resize3DOp
from xrelay.dialects.relay.ops.nn.upsampling import (
    Upsampling2DOp,
    Upsampling3DOp,
    UpsamplingOp,
    image_resizing,
    volume_resizing,
)
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, MultiplyOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.gather import TakeOp
from xrelay.dialects.relay.ops.tensor.join import ConcatenateOp
from xrelay.dialects.relay.ops.tensor.rounding import FloorOp
from xrelay.dialects.relay.ops.tensor.shape import ReshapeOp, ShapeOfOp
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.errors import ConstraintError
from xrelay.relay.dynamic_arguments import apply_operator, known_attribute
from xrelay.relay.expr import Expr, ExprLike, as_value, call, const, tuple_of

Factor: TypeAlias = "float | Expr"
"""A factor of an extent: a number, or an expression of rank 0 or with one element."""


def upsampling(
    data: ExprLike,
    scale_h: float | Expr = 1,
    scale_w: float | Expr = 1,
    layout: str = "NCHW",
    method: str = "nearest_neighbor",
    align_corners: bool = False,
) -> Expr:
    """`nn.upsampling` of any extents, with factors that may be expressions."""
    factors = {name: _known(factor) for name, factor in (("scale_h", scale_h), ("scale_w", scale_w))}
    if _is_static(data, layout, Upsampling2DOp.AXES, factors):
        attributes = {"layout": layout, "method": method, "align_corners": align_corners}
        return call(Upsampling2DOp, data, **cast("Mapping[str, AttributeValue]", factors), **attributes)
    size = _size(Upsampling2DOp, data, layout, factors)
    return apply_operator(
        Resize2DOp, (data,), {"size": size, **image_resizing(layout, method, align_corners=align_corners)}
    )


def upsampling3d(
    data: ExprLike,
    scale_d: float | Expr = 1,
    scale_h: float | Expr = 1,
    scale_w: float | Expr = 1,
    layout: str = "NCDHW",
    method: str = "nearest_neighbor",
    coordinate_transformation_mode: str = "half_pixel",
) -> Expr:
    """`nn.upsampling3d` of any extents, with factors that may be expressions."""
    given = ("scale_d", scale_d), ("scale_h", scale_h), ("scale_w", scale_w)
    factors = {name: _known(factor) for name, factor in given}
    if _is_static(data, layout, Upsampling3DOp.AXES, factors):
        attributes = {
            "layout": layout,
            "method": method,
            "coordinate_transformation_mode": coordinate_transformation_mode,
        }
        return call(Upsampling3DOp, data, **cast("Mapping[str, AttributeValue]", factors), **attributes)
    size = _size(Upsampling3DOp, data, layout, factors)
    attributes = volume_resizing(layout, method, coordinate_transformation_mode)
    return apply_operator(Resize3DOp, (data,), {"size": size, **attributes})


def _known(factor: Factor) -> Factor:
    """Returns the number that a constant holds; other values unchanged."""
    value = known_attribute(factor)
    while isinstance(value, list) and len(value) == 1:
        (value,) = value
    return value if isinstance(value, int | float) else factor


def _is_static(data: ExprLike, layout: str, axes: str, factors: Mapping[str, Factor]) -> bool:
    """Returns whether the op accepts the factors and extents, or reports an error for them."""
    type = as_value(data).type
    if any(isinstance(factor, Expr) for factor in factors.values()):
        return False
    shape = shape_of(type) if is_complete(type) else ()
    fits = len(shape) == len(layout) and set(axes) <= set(layout)
    return not fits or all(isinstance(shape[layout.index(axis)], int) for axis in axes)


def _size(op: type[UpsamplingOp], data: ExprLike, layout: str, factors: Mapping[str, Factor]) -> Expr:
    """Returns the extents of the spatial axes times their factors, rounded half up; C1, C3 and C4."""
    rank = len(shape_of(as_value(data).type))
    if len(layout) != rank or not set(op.AXES) <= set(layout):
        raise ConstraintError(op.name, "C3", f"data of rank {rank} for layout {layout}")
    extents = call(ShapeOfOp, data, dtype="int64")
    parts: list[ExprLike] = []
    for axis, factor in zip(op.AXES, factors.values(), strict=True):
        extent = call(TakeOp, extents, const([layout.index(axis)], "int64"))
        parts.append(_times(op, extent, factor))
    return call(ConcatenateOp, tuple_of(parts), axis=0)


def _times(op: type[UpsamplingOp], extent: Expr, factor: Factor) -> Expr:
    """Returns a vector of one extent times a factor. With an integer factor, the product is known from types."""
    if not isinstance(factor, Expr) and not (isfinite(factor) and factor > 0):
        raise ConstraintError(op.name, "C4", f"a factor of {factor}")
    if not isinstance(factor, Expr) and factor == int(factor):
        return call(MultiplyOp, extent, const(int(factor), "int64"))
    number = factor if isinstance(factor, Expr) else const(factor, "float64")
    exact = call(ReshapeOp, call(CastOp, number, dtype="float64"), newshape=[1])
    product = call(MultiplyOp, call(CastOp, extent, dtype="float64"), exact)
    return call(CastOp, call(FloorOp, call(AddOp, product, const(0.5, "float64"))), dtype="int64")
