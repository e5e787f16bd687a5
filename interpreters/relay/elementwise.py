"""Elementwise operators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import Operation

from xrelay.dialects.relay.ops.annotation import CheckpointOp, CompilerBeginOp, CompilerEndOp, StopFusionOp
from xrelay.dialects.relay.ops.require import RequireOp
from xrelay.dialects.relay.ops.tensor_compare import EqualOp, GreaterEqualOp, GreaterOp, LessEqualOp, LessOp, NotEqualOp
from xrelay.dialects.relay.ops.tensor_select import WhereOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.registry import Value, evaluates


@evaluates(LetOp, RequireOp, StopFusionOp, CheckpointOp, CompilerBeginOp, CompilerEndOp)
def evaluate_identity(op: Operation, value: Value) -> Value:
    """Returns the operand."""
    return value


_COMPARE: dict[type[Operation], Callable[[Array, Array], Array]] = {
    EqualOp: np.equal,
    GreaterEqualOp: np.greater_equal,
    GreaterOp: np.greater,
    LessEqualOp: np.less_equal,
    LessOp: np.less,
    NotEqualOp: np.not_equal,
}


@evaluates(*_COMPARE)
def evaluate_compare(op: Operation, lhs: Array, rhs: Array) -> Array:
    """Compares with broadcasting."""
    return np.asarray(_COMPARE[type(op)](lhs, rhs), np.bool_)


@evaluates(WhereOp)
def evaluate_where(op: WhereOp, condition: Array, x: Array, y: Array) -> Array:
    """Selects with broadcasting."""
    return np.where(condition, x, y)
