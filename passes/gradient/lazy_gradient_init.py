"""`relay-lazy-gradient-init`: removes zeros and ones from gradients.

`zeros_like`, `ones_like` and `full_like` become ops with a static shape, so that they depend on no value and keep none
alive. A sum with zeros, and a product or quotient with ones, is replaced by the other operand; a product with zeros by
zeros; shape and type changes of zeros or ones by zeros or ones. Such ops are frequent because the backward pass starts
from ones, and rules select between gradients and zeros. Relay wraps each tensor in a value that is "zero" or "one" at
run time; here the IR represents this, and the remaining fills fuse into their users. Re-associating: as in Relay, a
product with zeros is zeros even if the other factor is not finite, and a negative zero plus 0 keeps its sign.

Before:

    %o = relay.ones_like(%y) : (tensor<4xf32>) -> tensor<4xf32>
    %g = relay.multiply(%o, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %z = relay.zeros_like(%y) : (tensor<4xf32>) -> tensor<4xf32>
    %s = relay.add(%g, %z) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

After: `%s` is replaced by `%y`.

Not changed: unknown shapes and types; ops with requirements on named dimensions; booleans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i1
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, DivideOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.fill import FullLikeOp, OnesLikeOp, OnesOp, ZerosLikeOp, ZerosOp
from xrelay.dialects.relay.ops.tensor.like import BroadcastToLikeOp, CollapseSumLikeOp, ReshapeLikeOp
from xrelay.dialects.relay.ops.tensor.movement import BroadcastToOp, StridedSliceOp
from xrelay.dialects.relay.ops.tensor.reduce import SumOp
from xrelay.dialects.relay.ops.tensor.shape import ExpandDimsOp, ReshapeOp, SqueezeOp
from xrelay.dialects.relay.ops.tensor.transform import TransposeOp
from xrelay.dialects.relay.ops.tensor.unary import CopyOp, NegativeOp
from xrelay.dialects.shared.requirements import requirements_of
from xrelay.dialects.shared.types import element_type_of, is_static
from xrelay.passes.graph.rewriting import Emitter, static_shape
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.passes.relay.simplify_expr import simplify
from xrelay.passes.relay.simplify_numbers import DropNeutral, uniform_number
from xrelay.passes.relay.simplify_shapes import UseStaticType


@dataclass(frozen=True)
class RelayLazyGradientInitPass(XRelayPass):
    """Removes zeros and ones from sums and products; see the module's docstring."""

    name = "relay-lazy-gradient-init"
    numerics = reassociates("a negative zero plus 0 keeps its sign, and 0 times infinity is 0")
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        simplify(op, PATTERNS)


class BroadcastOther(RewritePattern):
    """Replaces a smaller operand plus 0, minus 0, times 1 or over 1 by its broadcast. Exact, except the sign of zeros.

    Before:

        %y = relay.add(%z, %x) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>           %z being zeros

    After:

        %y = relay.broadcast_to(%x) {shape = [3, 4]} : (tensor<4xf32>) -> tensor<3x4xf32>
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Requires a static shape."""
        result = op.results[0]
        number = 0.0 if isinstance(op, AddOp | SubtractOp) else 1.0
        for place in (0, 1) if isinstance(op, AddOp | MultiplyOp) else (1,):
            if uniform_number(op.operands[place]) == number and is_static(result.type) and not requirements_of(op):
                emit = Emitter(rewriter, op)
                emit.replace(emit.call(BroadcastToOp, op.operands[1 - place], shape=static_shape(result)))
                return


class MultiplyByZeros(RewritePattern):
    """Replaces a product with zeros by zeros, for any other factor.

    Before:

        %y = relay.multiply(%x, %z) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>          %z being zeros

    After:

        %y = relay.zeros() {shape = [4], dtype = f32} : () -> tensor<4xf32>
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Tests both operands for zeros."""
        for operand in op.operands:
            if uniform_number(operand) == 0.0 and operand.type == op.results[0].type:
                Emitter(rewriter, op).replace(operand)
                return
        if any(uniform_number(operand) == 0.0 for operand in op.operands):
            _fill(op, ZerosOp, rewriter)


class FoldIntoFill(RewritePattern):
    """Replaces changes of shape or type of zeros or ones, and sums and negatives of zeros, by zeros or ones. Exact.

    Before:

        %z = relay.zeros() {shape = [3, 4], dtype = f32} : () -> tensor<3x4xf32>
        %y = relay.transpose(%z) : (tensor<3x4xf32>) -> tensor<4x3xf32>

    After:

        %y = relay.zeros() {shape = [4, 3], dtype = f32} : () -> tensor<4x3xf32>
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Tests the first operand."""
        made = op.operands[0].owner
        if isinstance(made, ZerosOp):
            _fill(op, ZerosOp, rewriter)
        elif isinstance(made, OnesOp) and not isinstance(op, CollapseSumLikeOp | SumOp | NegativeOp):
            _fill(op, OnesOp, rewriter)


def _fill(op: Operation, kind: type[ZerosOp | OnesOp], rewriter: PatternRewriter) -> None:
    """Replaces `op` by an op of class `kind` if the shape is static."""
    result = op.results[0]
    if is_static(result.type) and not requirements_of(op) and element_type_of(result.type) != i1:
        emit = Emitter(rewriter, op)
        emit.replace(emit.call(kind, shape=static_shape(result), dtype=element_type_of(result.type)))


_NEUTRAL = (DropNeutral(), BroadcastOther())
_SHAPING = (ReshapeOp, SqueezeOp, ExpandDimsOp, TransposeOp, BroadcastToOp, StridedSliceOp, CopyOp, CastOp)
_LIKE = (ReshapeLikeOp, BroadcastToLikeOp, CollapseSumLikeOp, SumOp, NegativeOp)
PATTERNS: Mapping[type[Operation], Sequence[RewritePattern]] = {
    **dict.fromkeys((ZerosLikeOp, OnesLikeOp, FullLikeOp), (UseStaticType(),)),
    **dict.fromkeys((AddOp, SubtractOp, DivideOp), _NEUTRAL),
    MultiplyOp: (*_NEUTRAL, MultiplyByZeros()),
    **dict.fromkeys((*_SHAPING, *_LIKE), (FoldIntoFill(),)),
}
"""The patterns by the class of their root op."""
