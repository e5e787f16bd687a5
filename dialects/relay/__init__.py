"""The relay dialect: deep-learning programs on whole tensors, with Relay's operators under Relay's names."""

from __future__ import annotations

from xdsl.ir import Dialect

from xrelay.dialects.relay.core.dims_attr import DimsAttr
from xrelay.dialects.relay.core.registry import DIALECT_OPS
from xrelay.dialects.relay.core.types import IncompleteType
from xrelay.dialects.relay.ops import (
    annotation,
    nn_activation,
    nn_conv,
    nn_dense,
    nn_dense_pack,
    nn_lrn,
    nn_norm,
    nn_pool,
    tensor_compare,
    tensor_elementwise,
    tensor_join,
    tensor_reduce,
    tensor_select,
    tensor_shape,
    tensor_transform,
    tensor_unary,
)
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.weights import WeightAttr
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.plugins import load_plugins

FAMILIES = (
    annotation,
    nn_activation,
    nn_conv,
    nn_dense,
    nn_dense_pack,
    nn_lrn,
    nn_norm,
    nn_pool,
    tensor_compare,
    tensor_elementwise,
    tensor_join,
    tensor_reduce,
    tensor_select,
    tensor_shape,
    tensor_transform,
    tensor_unary,
)
"""The modules whose import registers the operators; out-of-tree packages register theirs the same way."""

LANGUAGE = (ConstantOp, TupleOp, TupleGetItemOp, LetOp, IfOp, FnOp, InvokeOp, FusedOp, YieldOp)
"""What belongs to the language and is no operator."""

load_plugins("relay-ops")
DIALECT_OPS.extend(LANGUAGE)
RELAY = Dialect("relay", DIALECT_OPS, [IncompleteType, DimsAttr, WeightAttr])

__all__ = ["FAMILIES", "LANGUAGE", "RELAY"]
