"""`relay-canonicalize-ops`: replaces `nn.bias_add` by an addition.

The bias gets axes of extent 1 after its own, and is added by broadcasting. Then passes on additions, such as those on
layouts, do not need a case for `nn.bias_add`. No value changes. An addition repeats a bias of one element, which
`nn.bias_add` refuses: if extents have names, a `relay.require` keeps the requirement that both are equal.

Left alone: a bias_add of unknown types.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.core.axes import require_axis
from xrelay.dialects.relay.ops.nn.dense import BiasAddOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.passes.graph.rewriting import Emitter, rewrite
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.simplify_inference import along_axis


@dataclass(frozen=True)
class RelayCanonicalizeOpsPass(XRelayPass):
    """Replaces `nn.bias_add` by `expand_dims` and `add`."""

    name = "relay-canonicalize-ops"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        rewrite(op, {BiasAddOp: AddInsteadOfBiasAdd()})


class AddInsteadOfBiasAdd(RewritePattern):
    """Replaces `nn.bias_add` by an addition. Exact.

    Before:

        %y = relay.nn.bias_add(%x, %b) : (tensor<1x8x4x4xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>

    After:

        %e = relay.expand_dims(%b) {axis = 1, num_newaxis = 2} : (tensor<8xf32>) -> tensor<8x1x1xf32>
        %y = relay.add(%x, %e) : (tensor<1x8x4x4xf32>, tensor<8x1x1xf32>) -> tensor<1x8x4x4xf32>
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BiasAddOp, rewriter: PatternRewriter) -> None:
        """Expands the bias and adds it."""
        if not all(is_complete(operand.type) for operand in op.operands):
            return
        emit = Emitter(rewriter, op)
        rank = len(shape_of(op.data.type))
        axis = require_axis(op, op.axis.value.data, rank, "C1")
        emit.replace(emit.call(AddOp, op.data, along_axis(emit, op.bias, axis, rank)))
