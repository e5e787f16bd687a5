"""Converts the operands that Relay programs pass to those that the operators accept.

Products may have operands of two integer types, such as `nn.conv2d` of u8 and i8 with an `out_dtype`. For an
`nn.conv2d` with as many groups as channels, Relay accepts a weight with several filters per channel: [C, M, KH, KW] as
`OIHW`, or [KH, KW, C, M] as `HWOI`, the layout of TensorFlow Lite. xrelay's weight has C * M filters of one channel, in
the same order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IntegerType, TensorType, i32

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.nn.conv import Conv1DOp, Conv2DOp, Conv3DOp, ConvOp
from xrelay.dialects.relay.ops.nn.dense import DenseOp
from xrelay.dialects.relay.ops.nn.matmul import BatchMatmulOp, MatmulOp
from xrelay.dialects.relay.ops.qnn.conv import QnnConv2DOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.gather import OneHotOp
from xrelay.dialects.relay.ops.tensor.movement import RepeatOp
from xrelay.dialects.relay.ops.tensor.shape import ReshapeOp
from xrelay.dialects.relay.ops.tensor.transform import TransposeOp
from xrelay.dialects.shared.dtypes import may_multiply, numpy_dtype
from xrelay.dialects.shared.types import shape_of
from xrelay.index_algebra.dims import Dim
from xrelay.relay.expr import ExprLike, as_value, call

PRODUCTS: Final[tuple[type[RelayOp], ...]] = (Conv1DOp, Conv2DOp, Conv3DOp, DenseOp, MatmulOp, BatchMatmulOp)
"""The operators whose operands may have two integer types."""

OF_BYTES: Final[tuple[type[RelayOp], ...]] = (Conv1DOp, Conv2DOp, Conv3DOp, DenseOp)
"""The operators that multiply u8 by i8 without casts and accumulate in i32."""


def _of_one_type(
    op: type[RelayOp], operands: Sequence[ExprLike], attributes: Mapping[str, object]
) -> Sequence[ExprLike]:
    """Returns the operands of a product, cast to one element type.

    A float weight is cast to the float type of the data, as Relay computes it. With an `out_dtype`, two integer types
    become the narrowest common type: u8 and i8 become i16, whose products and sums are exact in an `out_dtype` of i32.
    Convolutions and dense layers with an `out_dtype` of i32 multiply u8 by i8 without casts.
    """
    if op not in PRODUCTS or len(operands) != 2:
        return operands
    types = [as_value(operand).type for operand in operands]
    data, weight = (type.element_type if isinstance(type, TensorType) else None for type in types)
    if data == weight:
        return operands
    if isinstance(data, AnyFloat) and isinstance(weight, AnyFloat):
        return operands[0], call(CastOp, operands[1], dtype=str(numpy_dtype(data)))
    out = attributes.get("out_dtype")
    if out in (None, "") or not isinstance(data, IntegerType) or not isinstance(weight, IntegerType):
        return operands
    if op in OF_BYTES and out in ("int32", np.int32) and may_multiply(data, weight, i32):
        return operands
    wide = np.promote_types(numpy_dtype(data), numpy_dtype(weight))
    return [call(CastOp, operand, dtype=str(wide)) for operand in operands] if wide.kind in "iu" else operands


DEPTHWISE: Final[tuple[type[ConvOp], ...]] = (Conv2DOp, Conv3DOp, QnnConv2DOp)
"""The operators whose weight may have several filters per channel."""


_WEIGHT: Final = 1


def _of_one_channel(
    op: type[RelayOp], operands: Sequence[ExprLike], attributes: Mapping[str, object]
) -> tuple[ExprLike, ...]:
    """Returns the operands, with a weight of several filters per channel reshaped to filters of one channel.

    Before:

        relay.nn.conv2d(x : 1x4x8x8, w : 4x2x3x3, groups=4)

    After:

        relay.nn.conv2d(x, relay.reshape(w, (8, 1, 3, 3)), groups=4)

    Zero points and scales per channel are repeated for each filter.
    """
    kind = next((each for each in DEPTHWISE if each is op), None)
    many = None if kind is None else _filters_a_channel(kind, operands, attributes)
    if many is None:
        return tuple(operands)
    channels, multiplier, letters = many
    data, weight, *others = operands
    spread = (_for_each_filter(other, channels, multiplier) for other in others)
    return data, _split(weight, letters, channels * multiplier), *spread


def _filters_a_channel(
    op: type[ConvOp], operands: Sequence[ExprLike], attributes: Mapping[str, object]
) -> tuple[int, int, str] | None:
    """Returns the number of channels, filters per channel and the weight's layout; None for any other convolution."""
    groups = attributes.get("groups", 1)
    layouts = attributes.get("data_layout") or f"NC{op.AXES}", attributes.get("kernel_layout") or f"OI{op.AXES}"
    found = [_extents(operand, layout) for operand, layout in zip(operands[: _WEIGHT + 1], layouts, strict=True)]
    if not isinstance(groups, int) or groups < 2 or None in found:
        return None
    data, weight = (extents or {} for extents in found)
    known = {letter: extent for letter, extent in weight.items() if isinstance(extent, int)}
    multiplier = known.get("I", 1)
    if data.get("C") != groups or known.get("O") != groups or multiplier < 2 or len(known) < len(weight):
        return None
    return groups, multiplier, str(layouts[_WEIGHT])


def _extents(operand: ExprLike, layout: object) -> dict[str, Dim] | None:
    """Returns the extents of `operand` by layout letter; None if the rank is unknown or the layout is blocked."""
    type = as_value(operand).type
    shape = shape_of(type) if isinstance(type, TensorType) else ()
    plain = isinstance(layout, str) and layout.isalpha() and layout.isupper() and len(layout) == len(shape)
    return dict(zip(str(layout), shape, strict=True)) if plain else None


def _split(weight: ExprLike, letters: str, filters: int) -> ExprLike:
    """Returns the weight with all filters along the axis O, grouped by channel, and extent 1 along I."""
    shape = dict(zip(letters, shape_of(as_value(weight).type), strict=True)) | {"O": filters, "I": 1}
    axes = letters.replace("I", "").replace("O", "OI")
    if axes != letters:
        weight = call(TransposeOp, weight, axes=[letters.index(letter) for letter in axes])
    return call(ReshapeOp, weight, newshape=[extent for extent in shape.values() if isinstance(extent, int)])


def _for_each_filter(parameter: ExprLike, channels: int, multiplier: int) -> ExprLike:
    type = as_value(parameter).type
    one_each = isinstance(type, TensorType) and shape_of(type) == (channels,)
    return call(RepeatOp, parameter, repeats=multiplier, axis=0) if one_each else parameter


def convert_operands(
    op: type[RelayOp], operands: Sequence[ExprLike], attributes: Mapping[str, object]
) -> tuple[ExprLike, ...]:
    """Returns the operands converted for the operator.

    Operands of products get one type of integers or floats, filters one channel, and the values of `one_hot` its
    `dtype`.
    """
    operands = _of_one_channel(op, _of_one_type(op, operands, attributes), attributes)
    dtype = attributes.get("dtype")
    if op is OneHotOp and isinstance(dtype, str) and dtype:
        indices, *values = operands
        return indices, *(call(CastOp, value, dtype=dtype) for value in values)
    return tuple(operands)
