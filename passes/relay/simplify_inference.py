"""`relay-simplify-inference`: replaces batch norms, dropouts and normalizations by their semantics at inference time.

`nn.batch_norm` becomes a multiplication and an addition per channel, and `nn.dropout` becomes its operand.
`nn.layer_norm` and other composite ops that Relay expands here are expanded, unless the target implements them as a
whole. `relay-fold-constant` then evaluates scale and shift of a batch norm, and `relay-fold-scale-axis` moves them into
the convolution before it; elementwise ops fuse, while a batch norm would be a kernel of its own.

Ops whose types are not inferred yet, and dropouts of dynamic shape whose mask is used, are not changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xrelay.dialects.relay.core.axes import require_axis
from xrelay.dialects.relay.ops.nn.activation import DropoutOp
from xrelay.dialects.relay.ops.nn.norm import BatchNormOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, MultiplyOp
from xrelay.dialects.relay.ops.tensor.shape import ExpandDimsOp
from xrelay.dialects.relay.ops.tensor.unary import NegativeOp, RsqrtOp
from xrelay.dialects.relay.structure.composite import Expansion
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, is_complete, is_static, shape_of
from xrelay.passes.graph.composites import expand_composites
from xrelay.passes.graph.rewriting import Emitter, keep_requirements, owner_of, rewrite, static_shape
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.passes.types.type_upkeep import update_signatures


@dataclass(frozen=True)
class RelaySimplifyInferencePass(XRelayPass):
    """Replaces batch norms and dropouts by their semantics at inference time; see the module's docstring."""

    name = "relay-simplify-inference"
    numerics = reassociates("a batch norm becomes one multiplication and one addition")
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Simplifies the module in place."""
        expand_composites(op, Expansion.INFERENCE)
        rewrite(
            op, {BatchNormOp: SimplifyBatchNorm(), DropoutOp: SimplifyDropout(), TupleGetItemOp: TakeFieldOfTuple()}
        )
        update_signatures(op)


class SimplifyBatchNorm(RewritePattern):
    """Replaces a batch norm by a multiplication and an addition per channel. Not exact: results differ by rounding.

    A `relay.require` after each field of the tuple keeps requirements of the op that the new ops do not have.

    Before:

        %t = relay.nn.batch_norm(%x, %gamma, %beta, %mean, %var) : (tensor<1x8x4x4xf32>, …) -> tuple<…>

    After:

        %e = relay.add(%var, %epsilon)
        %r = relay.rsqrt(%e)
        %s = relay.multiply(%gamma, %r)                              without gamma where scale = false
        %m = relay.negative(%mean)
        %p = relay.multiply(%m, %s)
        %b = relay.add(%p, %beta)                                    without beta where center = false
        %scale = relay.expand_dims(%s) {axis = 1, num_newaxis = 2}   omitted for the last axis
        %shift = relay.expand_dims(%b) {axis = 1, num_newaxis = 2}
        %y = relay.multiply(%x, %scale)
        %z = relay.add(%y, %shift)
        %t = relay.tuple(%z, %mean, %var)
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BatchNormOp, rewriter: PatternRewriter) -> None:
        """Computes scale and shift from the statistics."""
        if not all(is_complete(operand.type) for operand in op.operands):
            return
        emit = Emitter(rewriter, op)
        variance = emit.call(AddOp, op.moving_var, emit.scalar(op.epsilon.value.data, op.moving_var.type))
        scale = emit.call(RsqrtOp, variance)
        if op.scale.value.data:
            scale = emit.call(MultiplyOp, op.gamma, scale)
        shift = emit.call(MultiplyOp, emit.call(NegativeOp, op.moving_mean), scale)
        if op.center.value.data:
            shift = emit.call(AddOp, shift, op.beta)
        rank = len(shape_of(op.data.type))
        axis = require_axis(op, op.axis.value.data, rank, "C1")
        scaled = emit.call(MultiplyOp, op.data, along_axis(emit, scale, axis, rank))
        shifted = emit.call(AddOp, scaled, along_axis(emit, shift, axis, rank))
        defining_ops = [value.owner for value in (shift, scaled, shifted) if isinstance(value.owner, Operation)]
        fields = shifted, op.moving_mean, op.moving_var
        emit.replace(emit.call(TupleOp, *_with_requirements(emit, op, fields, defining_ops)))


def _with_requirements(
    emit: Emitter, op: BatchNormOp, fields: Sequence[SSAValue], defining_ops: Sequence[Operation]
) -> list[SSAValue]:
    """`fields` with the requirements of `op`; `defining_ops` compute the first; the statistics are operands."""
    (tuple_type,) = op.result_types
    types = tuple_type.types if isinstance(tuple_type, TupleType) else [value.type for value in fields]
    makers = defining_ops, (), ()
    found: list[SSAValue] = []
    for value, type, made in zip(fields, types, makers, strict=True):
        require = keep_requirements(op, value, type, made)
        found.append(value if require is None else emit.insert(require).result)
    return found


class SimplifyDropout(RewritePattern):
    """Replaces a dropout by its operand, and its mask, if it is used, by a constant of ones. Exact.

    Before:

        %t = relay.nn.dropout(%x) {rate = 0.5}
        %y = relay.tuple_get_item(%t) {index = 0}

    After: `%x` replaces `%y`.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DropoutOp, rewriter: PatternRewriter) -> None:
        """Replaces the accesses of the first field, then the op."""
        if not is_complete(op.data.type):
            return
        for use in list(op.result.uses):
            item = use.operation
            if isinstance(item, TupleGetItemOp) and item.index.value.data == 0:
                Emitter(rewriter, item).replace(op.data)
        if op.result.first_use is None:
            rewriter.erase(op)
        elif is_static(op.data.type):
            emit = Emitter(rewriter, op)
            one = np.ones((), numpy_dtype(element_type_of(op.data.type)))
            ones = np.broadcast_to(one, static_shape(op.data))  # one element in memory
            mask = emit.constant(ones, "dropout.mask")
            emit.replace(emit.call(TupleOp, op.data, mask))


class TakeFieldOfTuple(RewritePattern):
    """Replaces a field of a `relay.tuple` by its operand. Exact.

    Before:

        %t = relay.tuple(%a, %b)
        %y = relay.tuple_get_item(%t) {index = 1}

    After: `%b` replaces `%y`.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TupleGetItemOp, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if a `relay.tuple` defines its operand."""
        made = owner_of(op.data, TupleOp)
        if made is not None:
            Emitter(rewriter, op).replace(made.operands[op.index.value.data])


def along_axis(emit: Emitter, vector: SSAValue, axis: int, rank: int) -> SSAValue:
    """`vector` with trailing axes, so that it broadcasts along `axis` of a tensor of rank `rank`."""
    trailing = rank - axis - 1
    return emit.call(ExpandDimsOp, vector, axis=1, num_newaxis=trailing) if trailing else vector
