"""Converts the operands that Relay programs pass to those that the operators accept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import AnyFloat, TensorType

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.gather import OneHotOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.relay.depth_multipliers import of_one_channel
from xrelay.relay.expr import ExprLike, as_value, call
from xrelay.relay.mixed_integers import PRODUCTS, of_one_type


def fitted(op: type[RelayOp], operands: Sequence[ExprLike], attributes: Mapping[str, object]) -> tuple[ExprLike, ...]:
    """Returns the operands converted for the operator.

    Operands of products get one type of integers or floats, filters one channel, and the values of `one_hot` its
    `dtype`.
    """
    operands = of_one_channel(op, _of_one_float(op, of_one_type(op, operands, attributes)), attributes)
    dtype = attributes.get("dtype")
    if op is OneHotOp and isinstance(dtype, str) and dtype:
        indices, *values = operands
        return indices, *(call(CastOp, value, dtype=dtype) for value in values)
    return tuple(operands)


def _of_one_float(op: type[RelayOp], operands: Sequence[ExprLike]) -> Sequence[ExprLike]:
    """Returns the operands of a product with the weight cast to the float type of the data, as Relay computes it."""
    if op not in PRODUCTS or len(operands) != 2:
        return operands
    types = [as_value(operand).type for operand in operands]
    data, weight = (type.element_type if isinstance(type, TensorType) else None for type in types)
    if data == weight or not isinstance(data, AnyFloat) or not isinstance(weight, AnyFloat):
        return operands
    return operands[0], call(CastOp, operands[1], dtype=str(numpy_dtype(data)))
