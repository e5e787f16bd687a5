"""`relay-simplify-expr-post-alter-op`: the part of `relay-simplify-expr` that cleans up behind changes of layouts.

What: reshapes of reshapes, casts that lose nothing or change nothing, bounds that no number exceeds, and additions of 0
and products with 1 become one op or none. Why a pass beside `relay-simplify-expr`: behind `relay-alter-op-layout`
constants of weights are packed, and whoever looks for these should find them, so nothing here joins constants, moves
factors or takes a transform for another op. Exact, but
that a negative zero to which 0 was added keeps its sign.

Before:

    %a = relay.reshape(%x) {newshape = [16, 4]}
    %b = relay.reshape(%a) {newshape = [8, 8]}
    %y = relay.add(%b, %zero)

After:

    %y = relay.reshape(%x) {newshape = [8, 8]}

Left alone: everything else that `relay-simplify-expr` takes, and ops whose types are not known yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import RewritePattern

from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, DivideOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.unary import ClipOp
from xrelay.dialects.relay.ops.tensor_shape import BatchFlattenOp, ExpandDimsOp, ReshapeOp, ReverseReshapeOp, SqueezeOp
from xrelay.passes.relay.simplify_expr import simplify
from xrelay.passes.relay.simplify_numbers import DropBounds, DropNeutral, JoinCasts
from xrelay.passes.relay.simplify_shapes import JoinReshapes

PATTERNS: Mapping[type[Operation], Sequence[RewritePattern]] = {
    **dict.fromkeys((AddOp, SubtractOp, MultiplyOp, DivideOp), (DropNeutral(),)),
    **dict.fromkeys((ReshapeOp, ReverseReshapeOp, ExpandDimsOp, SqueezeOp, BatchFlattenOp), (JoinReshapes(),)),
    CastOp: (JoinCasts(),),
    ClipOp: (DropBounds(),),
}
"""The patterns, by the op that they start from."""


@dataclass(frozen=True)
class RelaySimplifyExprPostAlterOpPass(ModulePass):
    """Clean up behind changes of layouts; see the module's docstring."""

    name = "relay-simplify-expr-post-alter-op"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Simplify the module in place."""
        simplify(op, PATTERNS)
