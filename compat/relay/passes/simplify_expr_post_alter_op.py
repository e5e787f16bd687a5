"""`relay-simplify-expr-post-alter-op`: the patterns of `relay-simplify-expr` that are safe after layout changes.

Chains of reshapes and of lossless casts become one op; clips without effect, additions of 0 and products with 1
disappear. `relay-alter-op-layout` packs constant weights, which later passes match, so this pass neither combines
constants, nor moves factors, nor rewrites layout transforms. Exact, except that a negative zero to which 0 was added
keeps its sign.

Before:

    %a = relay.reshape(%x) {newshape = [16, 4]}
    %b = relay.reshape(%a) {newshape = [8, 8]}
    %y = relay.add(%b, %zero)

After:

    %y = relay.reshape(%x) {newshape = [8, 8]}

Other expressions that `relay-simplify-expr` simplifies, and ops whose types are not inferred yet, are not changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern

from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, DivideOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.shape import BatchFlattenOp, ExpandDimsOp, ReshapeOp, ReverseReshapeOp, SqueezeOp
from xrelay.dialects.relay.ops.tensor.unary import ClipOp
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.passes.relay.simplify_expr import simplify
from xrelay.passes.relay.simplify_numbers import DropBounds, DropNeutral, JoinCasts
from xrelay.passes.relay.simplify_shapes import JoinReshapes

PATTERNS: Mapping[type[Operation], Sequence[RewritePattern]] = {
    **dict.fromkeys((AddOp, SubtractOp, MultiplyOp, DivideOp), (DropNeutral(),)),
    **dict.fromkeys((ReshapeOp, ReverseReshapeOp, ExpandDimsOp, SqueezeOp, BatchFlattenOp), (JoinReshapes(),)),
    CastOp: (JoinCasts(),),
    ClipOp: (DropBounds(),),
}
"""The patterns, by the class of their root op."""


@dataclass(frozen=True)
class RelaySimplifyExprPostAlterOpPass(XRelayPass):
    """Simplifies expressions after layout changes; see the module's docstring."""

    name = "relay-simplify-expr-post-alter-op"
    numerics = reassociates("a negative zero to which 0 was added keeps its sign")
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Simplifies the module in place."""
        simplify(op, PATTERNS)
