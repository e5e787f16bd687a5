"""Operands as operators take them, of those that Relay's programs give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.tensor_elementwise import CastOp
from xrelay.dialects.relay.ops.tensor_gather import OneHotOp
from xrelay.relay.depth_multipliers import of_one_channel
from xrelay.relay.expr import ExprLike, call
from xrelay.relay.mixed_integers import of_one_type


def fitted(op: type[RelayOp], operands: Sequence[ExprLike], attributes: Mapping[str, object]) -> tuple[ExprLike, ...]:
    """The operands: products of one type, filters of one channel, and the values of `one_hot` of its `dtype`."""
    operands = of_one_channel(op, of_one_type(op, operands, attributes), attributes)
    dtype = attributes.get("dtype")
    if op is OneHotOp and isinstance(dtype, str) and dtype:
        indices, *values = operands
        return indices, *(call(CastOp, value, dtype=dtype) for value in values)
    return tuple(operands)
