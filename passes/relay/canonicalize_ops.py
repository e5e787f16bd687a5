"""`relay-canonicalize-ops`: replaces `nn.bias_add` by an addition, the formula of `nn.mish` by this op, and a `tile`.

The bias gets axes of extent 1 after its own, and is added by broadcasting. Then passes on additions, such as those on
layouts, do not need a case for `nn.bias_add`. No value changes. An addition repeats a bias of one element, which
`nn.bias_add` refuses: if extents have names, a `relay.require` keeps the requirement that both are equal.

Exporters write `nn.mish` as `x tanh(softplus(x))`. The op has one exponential and no logarithm.

A `tile` along an axis with a named extent divides each index by the extent, so that its kernel runs on scalars. A tile
along a new axis of extent 1 does not, and joining both axes is a view.

Left alone: a bias_add of unknown types, a formula whose tanh has another use, and a tile that adds axes.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.axes import require_axis
from xrelay.dialects.relay.core.op_base import known_shape
from xrelay.dialects.relay.ops.nn.activation import MishOp, SoftplusOp
from xrelay.dialects.relay.ops.nn.dense import BiasAddOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, MultiplyOp
from xrelay.dialects.relay.ops.tensor.movement import TileOp
from xrelay.dialects.relay.ops.tensor.shape import ReshapeOp
from xrelay.dialects.relay.ops.tensor.unary import TanhOp
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.index_algebra.dims import DimExpr
from xrelay.passes.graph.rewriting import Emitter, plain_owner_of, rewrite
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.passes.relay.simplify_inference import along_axis


@dataclass(frozen=True)
class RelayCanonicalizeOpsPass(XRelayPass):
    """Replaces `nn.bias_add` by `add`, the formula of `nn.mish` by this op, and tiles of named axes; see the module."""

    name = "relay-canonicalize-ops"
    numerics = reassociates("nn.mish is computed without the logarithm of softplus")
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        rewrite(op, {BiasAddOp: AddInsteadOfBiasAdd(), MultiplyOp: MishInsteadOfTanh(), TileOp: TileAlongNewAxes()})


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


class MishInsteadOfTanh(RewritePattern):
    """Replaces a product of `x` and `tanh(softplus(x))` by `nn.mish`. Not exact.

    Before:

        %s = relay.nn.softplus(%x)
        %t = relay.tanh(%s)
        %y = relay.multiply(%x, %t)

    After:

        %y = relay.nn.mish(%x)
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MultiplyOp, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if its factors are the formula, and the tanh has no other use."""
        for x, factor in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            tanh = plain_owner_of(factor, TanhOp)
            softplus = None if tanh is None else plain_owner_of(tanh.operands[0], SoftplusOp)
            if softplus is not None and softplus.operands[0] is x and factor.has_one_use():
                emit = Emitter(rewriter, op)
                emit.replace(emit.call(MishOp, x))
                return


SPLIT_OFF_ONE = (-4, 1, -1)
JOIN_TWO = (-3,)
KEEP = (0,)
"""Codes of `relay.reshape`."""


class TileAlongNewAxes(RewritePattern):
    """Replaces a `tile` along named axes by one along new axes before them. Exact.

    Before:

        %y = relay.tile(%x) {reps = [1, 3]} : … -> tensor<?x?xf32, #relay.dims<n, 3 * m>>

    After:

        %e = relay.reshape(%x) {newshape = [0, -4, 1, -1]} : … -> tensor<?x1x?xf32, #relay.dims<n, m>>
        %t = relay.tile(%e) {reps = [1, 3, 1]} : … -> tensor<?x3x?xf32, #relay.dims<n, m>>
        %y = relay.reshape(%t) {newshape = [0, -3]} : … -> tensor<?x?xf32, #relay.dims<n, 3 * m>>
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TileOp, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if it repeats elements along a named axis, and adds no axes."""
        shape, reps = known_shape(op.data.type), ints(op.reps)
        if shape is None or len(reps) > len(shape):
            return
        reps = (1,) * (len(shape) - len(reps)) + reps
        axes = [isinstance(extent, DimExpr) and rep > 1 for extent, rep in zip(shape, reps, strict=True)]
        if not any(axes):
            return
        emit = Emitter(rewriter, op)
        split = [code for is_new in axes for code in (SPLIT_OFF_ONE if is_new else KEEP)]
        joined = [code for is_new in axes for code in (JOIN_TWO if is_new else KEEP)]
        times = [number for is_new, rep in zip(axes, reps, strict=True) for number in ((rep, 1) if is_new else (rep,))]
        rows = emit.call(ReshapeOp, op.data, newshape=tuple(split))
        copies = emit.call(TileOp, rows, reps=tuple(times))
        emit.replace(emit.call(ReshapeOp, copies, newshape=tuple(joined)))
