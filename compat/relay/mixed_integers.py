"""Products of two integer types, such as `nn.conv2d` of u8 and i8 with an `out_dtype`, as Relay programs have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from xdsl.dialects.builtin import IntegerType, TensorType, i32

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.nn.conv import Conv1DOp, Conv2DOp, Conv3DOp
from xrelay.dialects.relay.ops.nn.dense import DenseOp
from xrelay.dialects.relay.ops.nn.matmul import BatchMatmulOp, MatmulOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.shared.dtypes import may_multiply, numpy_dtype
from xrelay.relay.expr import ExprLike, as_value, call

PRODUCTS: Final[tuple[type[RelayOp], ...]] = (Conv1DOp, Conv2DOp, Conv3DOp, DenseOp, MatmulOp, BatchMatmulOp)
"""The operators whose operands may have two integer types."""

OF_BYTES: Final[tuple[type[RelayOp], ...]] = (Conv1DOp, Conv2DOp, Conv3DOp, DenseOp)
"""The operators that multiply u8 by i8 without casts and accumulate in i32."""


def of_one_type(
    op: type[RelayOp], operands: Sequence[ExprLike], attributes: Mapping[str, object]
) -> tuple[ExprLike, ...]:
    """Returns the operands, cast to the narrowest common type if they have two integer types and an `out_dtype`.

    u8 and i8 become i16, whose products and sums are exact in an `out_dtype` of i32. Convolutions and dense layers
    with an `out_dtype` of i32 multiply u8 by i8 without casts.
    """
    if op not in PRODUCTS or attributes.get("out_dtype") in (None, "") or len(operands) != 2:
        return tuple(operands)
    types = [as_value(operand).type for operand in operands]
    elements = [type.element_type for type in types if isinstance(type, TensorType)]
    if len(elements) != 2 or elements[0] == elements[1] or not all(isinstance(each, IntegerType) for each in elements):
        return tuple(operands)
    if (
        op in OF_BYTES
        and attributes.get("out_dtype") in ("int32", np.int32)
        and may_multiply(elements[0], elements[1], i32)
    ):
        return tuple(operands)
    wide = np.promote_types(*map(numpy_dtype, elements))
    return (
        tuple(call(CastOp, operand, dtype=str(wide)) for operand in operands) if wide.kind in "iu" else tuple(operands)
    )
