"""`relay-simplify-batch-matmul`: simplifies the second operand of products of stacks, such as the keys of attention.

Models with fewer heads of keys and values than of queries repeat each key head for a group of queries, and scale and
transpose the keys before the product. In a step that decodes one token, these copies take more time than the product.
The pass removes them:

- A transposition of the matrices becomes `transpose_b`.
- A factor of one element multiplies the first operand.
- If each matrix is repeated for a group of neighbouring matrices of the first operand, the rows of a group become rows
  of one matrix. Both reshapes keep the order of the elements in memory.

Before:

    %r = relay.repeat(%k) {repeats = 4, axis = 1}                    %k : tensor<1x4x512x64xf32>
    %t = relay.transpose(%r) {axes = [0, 1, 3, 2]}
    %y = relay.nn.batch_matmul(%q, relay.multiply(%t, %c)) {transpose_b = false}     %q : tensor<1x16x1x64xf32>

After:

    %a = relay.reshape(relay.multiply(%q, %c))                       %a : tensor<1x4x4x64xf32>
    %p = relay.nn.batch_matmul(%a, %k)                               %p : tensor<1x4x4x512xf32>
    %y = relay.reshape(%p)                                           %y : tensor<1x16x1x512xf32>

A repetition is an op `repeat`, or `expand_dims`, `broadcast_to` and `reshape`, whose shapes may be operands. It stays
if a matrix of the first operand has more than 64 rows: a copy then costs little beside the product, and the reshape
would separate the product from its epilogue. A factor without a transposition or a repetition stays, because it may
fuse with the op that computes the operand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.core.attribute_values import bool_attribute
from xrelay.dialects.relay.core.broadcast import has_one_element
from xrelay.dialects.relay.ops.dyn.shapes import DynBroadcastToOp, DynReshapeOp
from xrelay.dialects.relay.ops.nn.matmul import BatchMatmulOp
from xrelay.dialects.relay.ops.tensor.arithmetic import MultiplyOp
from xrelay.dialects.relay.ops.tensor.movement import BroadcastToOp, RepeatOp
from xrelay.dialects.relay.ops.tensor.shape import ReshapeOp, UnaryReshapingOp
from xrelay.dialects.relay.ops.tensor.transform import TransposeOp
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.rewriting import Emitter, owner_of, rewrite, rewrite_once
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates

MAX_ROWS = 64
"""The maximum number of rows of a matrix whose group is merged."""


@dataclass(frozen=True)
class RelaySimplifyBatchMatmulPass(XRelayPass):
    """Removes copies of the second operand of products of stacks; see the module's docstring."""

    name = "relay-simplify-batch-matmul"
    numerics = reassociates("a factor multiplies the other operand of a product")
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        report(simplify_batch_matmul(op))


def simplify_batch_matmul(module: ModuleOp) -> list[Remark]:
    """Rewrites `module` and erases unused ops; returns remarks on rewritten products."""
    remarks = Remarks(RelaySimplifyBatchMatmulPass.name)
    rewrite_once(module, BatchMatmulOp, SimplifySecondOperand(remarks))
    rewrite(module, {})
    return remarks.all


@dataclass(frozen=True)
class _Stack:
    """The second operand of a product as `value`, transposed if `is_flipped`, times `factors`, each matrix repeated."""

    value: SSAValue
    is_flipped: bool = False
    factors: tuple[SSAValue, ...] = ()
    repeats: int = 1


class SimplifySecondOperand(RewritePattern):
    """Replaces the transposed, scaled or repeated second operand of a product; see the module's docstring.

    Before:

        %y = relay.nn.batch_matmul(%a, relay.transpose(%b))

    After:

        %y = relay.nn.batch_matmul(%a, %b) {transpose_b = false}

    """

    def __init__(self, remarks: Remarks):
        self._remarks = remarks

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if a transposition or a repetition can be removed."""
        if not isinstance(op, BatchMatmulOp) or not all(is_complete(each.type) for each in (*op.operands, *op.results)):
            return
        stack = _stripped(op.tensor_b, may_repeat=_may_merge(op))
        if not stack.is_flipped and stack.repeats == 1:
            return
        emit = Emitter(rewriter, op)
        data = op.tensor_a
        for factor in stack.factors:
            data = emit.call(MultiplyOp, data, factor)
        flip = bool_attribute(op.transposed[1] != stack.is_flipped)
        properties = {**op.properties, "transpose_b": flip}
        if stack.repeats > 1:
            data = _merged_groups(emit, data, stack.repeats)
        result = emit.insert(BatchMatmulOp.typed([data, stack.value], properties)).results[0]
        if stack.repeats > 1:
            result = _split_groups(emit, result, stack.repeats)
        self._remarks.applied(op, "reads its second operand without a copy")
        emit.replace(result)


def _may_merge(op: BatchMatmulOp) -> bool:
    """Whether rows of several matrices of the first operand may become rows of one matrix."""
    first, second = (shape_of(operand.type) for operand in op.operands)
    same_stacks = len(first) == len(second) > 2 and first[:-2] == second[:-2]
    return same_stacks and not op.transposed[0] and not (isinstance(first[-2], int) and first[-2] > MAX_ROWS)


def _stripped(value: SSAValue, *, may_repeat: bool) -> _Stack:
    """Returns the operand without transpositions, factors and repetitions."""
    stack, before = _Stack(value), None
    while stack is not before:
        before = stack
        value, rank = stack.value, len(shape_of(stack.value.type))
        if (scaled := owner_of(value, MultiplyOp)) is not None and (parts := _factor(scaled)) is not None:
            stack = replace(stack, value=parts[0], factors=(*stack.factors, parts[1]))
        elif (moved := owner_of(value, TransposeOp)) is not None and _swaps_matrices(moved.permutation(rank)):
            stack = replace(stack, value=moved.data, is_flipped=not stack.is_flipped)
        elif may_repeat and stack.repeats == 1 and (repeated := _repeated(value)) is not None:
            stack = replace(stack, value=repeated[0], repeats=repeated[1])
    return stack


def _factor(op: MultiplyOp) -> tuple[SSAValue, SSAValue] | None:
    """Returns the operand of the result's type and that of one element; None without such operands."""
    for value, factor in (op.operands, reversed(op.operands)):
        shape = shape_of(factor.type)
        if value.type == op.results[0].type and has_one_element(shape) and len(shape) <= 1:
            return value, factor
    return None


def _swaps_matrices(axes: tuple[int, ...]) -> bool:
    rank = len(axes)
    return rank > 1 and axes == (*range(rank - 2), rank - 1, rank - 2)


def _repeated(value: SSAValue) -> tuple[SSAValue, int] | None:
    """Returns the stack each of whose matrices `value` repeats, and how often; None if it does not."""
    rank = len(shape_of(value.type))
    if (op := owner_of(value, RepeatOp)) is not None:
        repeats = op.repeats.value.data
        return (op.data, repeats) if op.axis.value.data % rank == rank - 3 and repeats > 1 else None
    widened = joined.data.owner if isinstance(joined := value.owner, ReshapeOp | DynReshapeOp) else None
    if not isinstance(widened, BroadcastToOp | DynBroadcastToOp):
        return None
    apart = owner_of(widened.data, UnaryReshapingOp)
    if apart is None:
        return None
    shape, source = shape_of(widened.results[0].type), shape_of(apart.data.type)
    if len(shape) != rank + 1 or len(source) != rank or not isinstance(repeats := shape[-3], int) or repeats < 2:
        return None
    outer, matrix = source[:-2], source[-2:]
    is_repeated = (
        shape == (*outer, repeats, *matrix)
        and shape_of(widened.data.type) == (*outer, 1, *matrix)
        and shape_of(value.type) == (*outer[:-1], outer[-1] * repeats, *matrix)
    )
    return (apart.data, repeats) if is_repeated else None


def _merged_groups(emit: Emitter, value: SSAValue, size: int) -> SSAValue:
    """Merges the rows of each group of `size` neighbouring matrices into one matrix."""
    kept = (0,) * (len(shape_of(value.type)) - 3)
    apart = emit.call(ReshapeOp, value, newshape=(*kept, -4, -1, size, 0, 0))
    return emit.call(ReshapeOp, apart, newshape=(*kept, 0, -3, 0))


def _split_groups(emit: Emitter, value: SSAValue, size: int) -> SSAValue:
    """Splits the rows of each matrix into a group of `size` neighbouring matrices."""
    kept = (0,) * (len(shape_of(value.type)) - 3)
    apart = emit.call(ReshapeOp, value, newshape=(*kept, 0, -4, size, -1, 0))
    return emit.call(ReshapeOp, apart, newshape=(*kept, -3, 0, 0))
