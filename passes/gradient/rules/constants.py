"""Operators whose derivative is 0 almost everywhere."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.algorithm_search import SearchsortedOp
from xrelay.dialects.relay.ops.algorithm_select import ArgwhereOp
from xrelay.dialects.relay.ops.algorithm_slices import RankRowsOp
from xrelay.dialects.relay.ops.shape_values import NdarraySizeOp, ShapeOfOp
from xrelay.dialects.relay.ops.tensor_compare import EqualOp, GreaterEqualOp, GreaterOp, LessEqualOp, LessOp, NotEqualOp
from xrelay.dialects.relay.ops.tensor_logic import (
    AllOp,
    AnyOp,
    FloorDivideOp,
    LogicalAndOp,
    LogicalNotOp,
    LogicalOrOp,
    LogicalXorOp,
)
from xrelay.dialects.relay.ops.tensor_rounding import (
    CeilOp,
    FloorOp,
    IsfiniteOp,
    IsinfOp,
    IsnanOp,
    RoundOp,
    SignOp,
    TruncOp,
)
from xrelay.passes.gradient.rule_table import differentiates

COMPARISONS = (EqualOp, NotEqualOp, LessOp, LessEqualOp, GreaterOp, GreaterEqualOp)
LOGIC = (LogicalAndOp, LogicalOrOp, LogicalXorOp, LogicalNotOp, AllOp, AnyOp)
PLACES = (SearchsortedOp, ArgwhereOp, RankRowsOp)
STEPS = (FloorOp, CeilOp, RoundOp, TruncOp, SignOp, IsnanOp, IsinfOp, IsfiniteOp, FloorDivideOp)
SHAPES = (ShapeOfOp, NdarraySizeOp)


@differentiates(*COMPARISONS, *LOGIC, *STEPS, *PLACES, *SHAPES)
def constant(op: RelayOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns None for all operands."""
    return [None] * len(op.operands)
