"""The relay dialect: deep-learning programs on whole tensors, with Relay's operators under Relay's names."""

from __future__ import annotations

from xdsl.ir import Dialect

from xrelay.dialects.relay import tensor_elementwise
from xrelay.dialects.relay.constant import ConstantOp
from xrelay.dialects.relay.dims_attr import DimsAttr
from xrelay.dialects.relay.registry import relay_ops
from xrelay.dialects.relay.types import IncompleteType
from xrelay.dialects.relay.weights import WeightAttr

FAMILIES = (tensor_elementwise,)
"""The modules whose import registers the operators; out-of-tree packages register theirs the same way."""

RELAY = Dialect("relay", [*relay_ops().values(), ConstantOp], [IncompleteType, DimsAttr, WeightAttr])

__all__ = ["FAMILIES", "RELAY"]
