"""`relay-lazy-gradient-init`: zeros and ones among gradients cost nothing.

What: `zeros_like`, `ones_like` and `full_like` become ops that name their shape, so that they wait for no other value
and none is kept for them; a sum with zeros and a product or quotient with ones becomes the other operand, a product
with zeros becomes zeros; what gives zeros or ones another shape or type becomes such an op itself. Why: the backward
pass starts from ones, and rules choose between gradients and zeros. Relay wraps every tensor in a value that may be
"zero" or "one" when it runs; here the program says so, and what is left fuses into its users. Re-associating: a product
with zeros is zeros, as in Relay, also where the other factor is not finite, and a negative zero to which 0 is added
keeps its sign.

Before:

    %o = relay.ones_like(%y) : (tensor<4xf32>) -> tensor<4xf32>
    %g = relay.multiply(%o, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %z = relay.zeros_like(%y) : (tensor<4xf32>) -> tensor<4xf32>
    %s = relay.add(%g, %z) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

After: `%y` in the place of `%s`.

Left alone: shapes and types that are not known yet; ops that demand something of named dimensions; truth values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i1
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.core.recorded_requirements import requirements_of
from xrelay.dialects.relay.core.types import element_type_of, is_static
from xrelay.dialects.relay.ops.tensor_elementwise import AddOp, CastOp, DivideOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.ops.tensor_fill import FullLikeOp, OnesLikeOp, OnesOp, ZerosLikeOp, ZerosOp
from xrelay.dialects.relay.ops.tensor_like import BroadcastToLikeOp, CollapseSumLikeOp, ReshapeLikeOp
from xrelay.dialects.relay.ops.tensor_movement import BroadcastToOp, StridedSliceOp
from xrelay.dialects.relay.ops.tensor_reduce import SumOp
from xrelay.dialects.relay.ops.tensor_shape import ExpandDimsOp, ReshapeOp, SqueezeOp
from xrelay.dialects.relay.ops.tensor_transform import TransposeOp
from xrelay.dialects.relay.ops.tensor_unary import CopyOp, NegativeOp
from xrelay.passes.graph.rewriting import Emitter
from xrelay.passes.relay.simplify_expr import simplify
from xrelay.passes.relay.simplify_inference import static_shape
from xrelay.passes.relay.simplify_numbers import DropNeutral, uniform_number
from xrelay.passes.relay.simplify_shapes import NameTheType


@dataclass(frozen=True)
class RelayLazyGradientInitPass(ModulePass):
    """Let zeros and ones vanish from sums and products; see the module's docstring."""

    name = "relay-lazy-gradient-init"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        simplify(op, PATTERNS)


class BroadcastOther(RewritePattern):
    """A smaller operand plus 0, less 0, times 1 or over 1 → the operand repeated. Exact, but for the sign of a zero.

    Before:

        %y = relay.add(%z, %x) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>           %z being zeros

    After:

        %y = relay.broadcast_to(%x) {shape = [3, 4]} : (tensor<4xf32>) -> tensor<3x4xf32>
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Where the shape is known."""
        result = op.results[0]
        number = 0.0 if isinstance(op, AddOp | SubtractOp) else 1.0
        for place in (0, 1) if isinstance(op, AddOp | MultiplyOp) else (1,):
            if uniform_number(op.operands[place]) == number and is_static(result.type) and not requirements_of(op):
                emit = Emitter(rewriter, op)
                emit.replace(emit.call(BroadcastToOp, op.operands[1 - place], shape=static_shape(result)))
                return


class MultiplyByZeros(RewritePattern):
    """A product with zeros → zeros, whatever the other factor is.

    Before:

        %y = relay.multiply(%x, %z) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>          %z being zeros

    After:

        %y = relay.zeros() {shape = [4], dtype = f32} : () -> tensor<4xf32>
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Look for zeros on either side."""
        for operand in op.operands:
            if uniform_number(operand) == 0.0 and operand.type == op.results[0].type:
                Emitter(rewriter, op).replace(operand)
                return
        if any(uniform_number(operand) == 0.0 for operand in op.operands):
            _fill(op, ZerosOp, rewriter)


class FillAgain(RewritePattern):
    """Zeros or ones in another shape or type → such a fill itself; so sums and negatives of zeros. Exact.

    Before:

        %z = relay.zeros() {shape = [3, 4], dtype = f32} : () -> tensor<3x4xf32>
        %y = relay.transpose(%z) : (tensor<3x4xf32>) -> tensor<4x3xf32>

    After:

        %y = relay.zeros() {shape = [4, 3], dtype = f32} : () -> tensor<4x3xf32>
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Look at the first operand."""
        made = op.operands[0].owner
        if isinstance(made, ZerosOp):
            _fill(op, ZerosOp, rewriter)
        elif isinstance(made, OnesOp) and not isinstance(op, CollapseSumLikeOp | SumOp | NegativeOp):
            _fill(op, OnesOp, rewriter)


def _fill(op: Operation, kind: type[ZerosOp | OnesOp], rewriter: PatternRewriter) -> None:
    """Put an op of class `kind` in the place of `op`, where the shape is known."""
    result = op.results[0]
    if is_static(result.type) and not requirements_of(op) and element_type_of(result.type) != i1:
        emit = Emitter(rewriter, op)
        emit.replace(emit.call(kind, shape=static_shape(result), dtype=element_type_of(result.type)))


_NEUTRAL = (DropNeutral(), BroadcastOther())
_SHAPING = (ReshapeOp, SqueezeOp, ExpandDimsOp, TransposeOp, BroadcastToOp, StridedSliceOp, CopyOp, CastOp)
_LIKE = (ReshapeLikeOp, BroadcastToLikeOp, CollapseSumLikeOp, SumOp, NegativeOp)
PATTERNS: Mapping[type[Operation], Sequence[RewritePattern]] = {
    **dict.fromkeys((ZerosLikeOp, OnesLikeOp, FullLikeOp), (NameTheType(),)),
    **dict.fromkeys((AddOp, SubtractOp, DivideOp), _NEUTRAL),
    MultiplyOp: (*_NEUTRAL, MultiplyByZeros()),
    **dict.fromkeys((*_SHAPING, *_LIKE), (FillAgain(),)),
}
"""The patterns by the op that they start from."""
