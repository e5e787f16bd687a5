"""Functions of Relay's Python that are composed of several operators: moments, segment sums, upsampling, and others.

Convolutions in blocked layouts are included, which are `nn.conv2d` here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TypeAlias, cast

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.ops.algorithm.select import ArgwhereOp
from xrelay.dialects.relay.ops.algorithm.sort import ArgsortOp
from xrelay.dialects.relay.ops.image.resize import Resize2DOp, Resize3DOp
from xrelay.dialects.relay.ops.nn.activation import DropoutOp
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.ops.nn.upsampling import (
    Upsampling2DOp,
    Upsampling3DOp,
    UpsamplingOp,
    image_resizing,
    volume_resizing,
)
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, MultiplyOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.fill import OnesOp, ZerosLikeOp, ZerosOp
from xrelay.dialects.relay.ops.tensor.gather import TakeOp
from xrelay.dialects.relay.ops.tensor.join import ConcatenateOp
from xrelay.dialects.relay.ops.tensor.like import BroadcastToLikeOp
from xrelay.dialects.relay.ops.tensor.movement import StridedSliceOp
from xrelay.dialects.relay.ops.tensor.reduce import MaxOp, MeanOp, VarianceOp
from xrelay.dialects.relay.ops.tensor.rounding import FloorOp
from xrelay.dialects.relay.ops.tensor.scatter import ScatterElementsOp, ScatterNDOp
from xrelay.dialects.relay.ops.tensor.shape import ExpandDimsOp, ReshapeOp, ShapeOfOp, SqueezeOp
from xrelay.dialects.relay.ops.tensor.transform import PadOp
from xrelay.dialects.relay.ops.tensor.unary import SqrtOp
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.errors import ConstraintError, InputError
from xrelay.relay.expr import Expr, ExprLike, as_value, call, const, tuple_of, view
from xrelay.relay.operator_functions.dynamic_arguments import apply_operator, int64, known_attribute


def on_device(
    body: ExprLike, virtual_device: object = None, constrain_result: bool = False, constrain_body: bool = True
) -> Expr:
    """Returns the expression itself. The only device is the CPU."""
    del virtual_device, constrain_result, constrain_body
    return view(as_value(body))


def resize(
    data: ExprLike,
    size: Sequence[int],
    layout: str = "NCHW",
    method: str = "bilinear",
    coordinate_transformation_mode: str = "half_pixel",
    out_dtype: str = "",
) -> Expr:
    """`image.resize2d` under its older name, with the older method names `bilinear` and `bicubic`."""
    named: dict[str, AttributeValue] = {
        "size": size,
        "layout": layout,
        "method": {"bilinear": "linear", "bicubic": "cubic"}.get(method, method),
        "coordinate_transformation_mode": coordinate_transformation_mode,
    }
    return call(Resize2DOp, data, **named, **({"out_dtype": out_dtype} if out_dtype else {}))


def dropout_raw(data: ExprLike, rate: float = 0.5) -> Expr:
    """`nn.dropout` with both results: the data and its mask."""
    return call(DropoutOp, data, rate=rate)


def contrib_conv2d_nchwc(
    data: ExprLike,
    kernel: ExprLike,
    strides: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    channels: int | None = None,
    kernel_size: int | Sequence[int] | None = None,
    data_layout: str = "NCHW8c",
    kernel_layout: str = "OIHW",
    out_layout: str = "",
    out_dtype: str = "",
) -> Expr:
    """`nn.conv2d` on data in blocks of channels, under Relay's name.

    For a kernel of six axes with the layout OIHW, the last two extents are the block sizes.
    """
    type = as_value(kernel).type
    blocks = shape_of(type)[4:] if is_complete(type) and kernel_layout == "OIHW" else ()
    if len(blocks) == 2:
        kernel_layout = f"OIHW{blocks[0]}i{blocks[1]}o"
    attributes: dict[str, AttributeValue | Expr] = {
        "strides": strides,
        "padding": padding,
        "dilation": dilation,
        "groups": groups,
        "channels": channels,
        "kernel_size": kernel_size,
        "data_layout": data_layout,
        "kernel_layout": kernel_layout,
        "out_layout": out_layout or None,
        "out_dtype": out_dtype or None,
    }
    return apply_operator(Conv2DOp, (data, kernel), attributes)


def mean_variance(
    data: ExprLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    exclude: bool = False,
    unbiased: bool = False,
) -> Expr:
    """Returns the tuple of the mean and the variance over some axes."""
    return tuple_of(_moments(data, axis, keepdims=keepdims, exclude=exclude, unbiased=unbiased))


def mean_std(
    data: ExprLike, axis: int | Sequence[int] | None = None, keepdims: bool = False, exclude: bool = False
) -> Expr:
    """Returns the tuple of the mean and the standard deviation over some axes."""
    mean, variance = _moments(data, axis, keepdims=keepdims, exclude=exclude, unbiased=False)
    return tuple_of((mean, call(SqrtOp, variance)))


def _moments(
    data: ExprLike, axis: int | Sequence[int] | None, *, keepdims: bool, exclude: bool, unbiased: bool
) -> tuple[Expr, Expr]:
    """Returns mean and variance. The mean is computed once."""
    kept = call(MeanOp, data, axis=axis, keepdims=True, exclude=exclude)
    variance = call(VarianceOp, data, kept, axis=axis, keepdims=keepdims, exclude=exclude, unbiased=unbiased)
    if keepdims:
        return kept, variance
    rank = len(view(as_value(data)).shape)
    given = range(rank) if axis is None else (axis,) if isinstance(axis, int) else axis
    named = [axis_index(each, rank) for each in given]
    axes = [each for each in range(rank) if (each in named) is not exclude]
    return (call(SqueezeOp, kept, axis=axes) if axes else kept), variance


def segment_sum(data: ExprLike, segment_ids: ExprLike, num_segments: int | Expr | None = None) -> Expr:
    """Row s of the result is the sum of the data rows whose segment id is s.

    The result has `num_segments` rows, or one more than the greatest id. An id out of range fails at run time. Raises
    `InputError` if the type of the data or of the ids is not known.
    """
    rows, numbers = view(as_value(data)), view(as_value(segment_ids))
    if not (is_complete(rows.type) and is_complete(numbers.type)):
        raise InputError("segment_sum requires operands of known types", help="specify the types of variables")
    zeros = apply_operator(ZerosOp, (), {"shape": _sum_shape(rows, numbers, num_segments), "dtype": str(rows.dtype)})
    return call(ScatterNDOp, zeros, call(ExpandDimsOp, numbers, axis=0), rows, mode="add")


def _sum_shape(rows: Expr, numbers: Expr, count: int | Expr | None) -> list[int] | Expr:
    """Returns the shape of the sums as numbers, or as an expression."""
    extents = shape_of(rows.type)[1:]
    known = [extent for extent in extents if isinstance(extent, int)]
    if isinstance(count, int) and len(known) == len(extents):
        return [count, *known]
    if count is None:
        most = call(MaxOp, numbers, axis=[0])
        count = call(AddOp, most, const(1, numbers.dtype))
    first = int64([count]) if isinstance(count, int) else int64(call(ReshapeOp, count, newshape=[1]))
    rest = call(StridedSliceOp, call(ShapeOfOp, rows), begin=[1], end=[len(extents) + 1])
    return call(ConcatenateOp, tuple_of((first, rest)), axis=0)


def sparse_fill_empty_rows(
    sparse_indices: ExprLike, sparse_values: ExprLike, dense_shape: ExprLike, default_value: ExprLike
) -> Expr:
    """Fills the empty rows of a sparse tensor, given as indices (N, axes) and values, with a default at column 0.

    The indices have to be sorted by row. Returns the tuple of all indices sorted by row, their values, and a vector of
    booleans that is true for each row that was empty. `default_value` has one element.
    """
    indices, values = view(as_value(sparse_indices)), view(as_value(sparse_values))
    if not (is_complete(indices.type) and len(indices.shape) == 2 and isinstance(indices.shape[1], int)):
        raise InputError(
            "the indices must be a matrix with a known number of columns", help="specify the type of the variable"
        )
    rows = call(StridedSliceOp, dense_shape, begin=[0], end=[1])
    first = call(TakeOp, indices, const(0), axis=1)
    ones = apply_operator(OnesOp, (), {"shape": rows, "dtype": "int64"})
    none = int64(call(ZerosLikeOp, first))
    is_empty = call(ScatterElementsOp, ones, first, none, axis=0)
    empty = call(CastOp, call(ArgwhereOp, is_empty), dtype=str(indices.dtype))
    begins = call(PadOp, empty, const(0, indices.dtype), pad_width=((0, 0), (0, indices.shape[1] - 1)))
    defaults = call(BroadcastToLikeOp, default_value, call(ReshapeOp, empty, newshape=[-1]))
    all_indices = call(ConcatenateOp, tuple_of((indices, begins)), axis=0)
    all_values = call(ConcatenateOp, tuple_of((values, defaults)), axis=0)
    order = call(ArgsortOp, call(TakeOp, all_indices, const(0), axis=1))
    in_order = (call(TakeOp, each, order, axis=0) for each in (all_indices, all_values))
    return tuple_of((*in_order, call(CastOp, is_empty, dtype="bool")))


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
    """`nn.upsampling` of any extents, with factors that may be expressions.

    If factors and extents are static, the op is used. Otherwise the size is computed, and the images are resized to it:

        %y = relay.nn.upsampling(%x) {scale_h = %s, scale_w = 2.0}

            %h = floor(height of %x * %s + 0.5)
            %y = relay.dyn.image.resize(%x, [%h, width of %x * 2], …) {axes = [2, 3], …}
    """
    factors = {"scale_h": _as_number(scale_h), "scale_w": _as_number(scale_w)}
    if _is_static(data, layout, Upsampling2DOp.AXES, factors):
        attributes = {"layout": layout, "method": method, "align_corners": align_corners}
        return call(Upsampling2DOp, data, **cast("Mapping[str, AttributeValue]", factors), **attributes)
    size = _size(Upsampling2DOp, data, layout, factors)
    attributes = image_resizing(layout, method, align_corners=align_corners)
    return apply_operator(Resize2DOp, (data,), {"size": size, **attributes})


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
    factors = {
        "scale_d": _as_number(scale_d),
        "scale_h": _as_number(scale_h),
        "scale_w": _as_number(scale_w),
    }
    mode = coordinate_transformation_mode
    if _is_static(data, layout, Upsampling3DOp.AXES, factors):
        attributes = {"layout": layout, "method": method, "coordinate_transformation_mode": mode}
        return call(Upsampling3DOp, data, **cast("Mapping[str, AttributeValue]", factors), **attributes)
    size = _size(Upsampling3DOp, data, layout, factors)
    return apply_operator(Resize3DOp, (data,), {"size": size, **volume_resizing(layout, method, mode)})


def _as_number(factor: Factor) -> Factor:
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
        extent = call(TakeOp, extents, int64([layout.index(axis)]))
        parts.append(_times(op, extent, factor))
    return call(ConcatenateOp, tuple_of(parts), axis=0)


def _times(op: type[UpsamplingOp], extent: Expr, factor: Factor) -> Expr:
    """Returns a vector of one extent times a factor. With an integer factor, the product is known from types."""
    if not isinstance(factor, Expr) and not (isfinite(factor) and factor > 0):
        raise ConstraintError(op.name, "C4", f"a factor of {factor}")
    if not isinstance(factor, Expr) and factor == int(factor):
        return call(MultiplyOp, extent, int64(int(factor)))
    number = factor if isinstance(factor, Expr) else const(factor, "float64")
    exact = call(ReshapeOp, call(CastOp, number, dtype="float64"), newshape=[1])
    product = call(MultiplyOp, call(CastOp, extent, dtype="float64"), exact)
    return call(CastOp, call(FloorOp, call(AddOp, product, const(0.5, "float64"))), dtype="int64")
