"""`relay-fuse-attention`: computes the scores of attention, their softmax and the weighted values in one kernel.

Relay's fusion ends a kernel at each product and at the softmax, so that the scores of all heads are written to memory
and read three times. In one kernel, all stages run on a block of queries while its scores are in a cache.

Before:

    %s = relay.fused @fused_nn_batch_matmul_multiply(%p0 = %q : tensor<12x128x64xf32>, %p1 = %k : …) … {
      … relay.nn.batch_matmul(%p0, %p1) …
    }
    %w = relay.fused @fused_nn_softmax(%p0 = %s : tensor<12x128x128xf32>) … { … relay.nn.softmax(%p0) … }
    %y = relay.fused @fused_nn_batch_matmul(%p0 = %w : tensor<12x128x128xf32>, %p1 = %v : …) … {
      … relay.nn.batch_matmul(%p0, %p1) {transpose_b = false} …
    }

After:

    %y = relay.fused @fused_nn_batch_matmul_multiply_nn_softmax_nn_batch_matmul(%p0 = %v : …, %p1 = %q : …, …)

The groups keep their kernels unless the scores have exactly one reader, the softmax, and this too, the second product,
all in one block. A group that splits the weights into parts may be between them (`relay-split-attention`). The softmax
must be alone in its group and run along the keys. The elements are f32, and the stacks of both products are equal.
There are at least 8 queries, 16 keys and 16 values in a row. A dynamic number of queries must be that of the keys, or
at least 8 by the size hints of `@main`, in a stack of matrices: a decoder often runs one query, for which kernels of
their own are faster. Groups with requirements, or that name extents, are left unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.size_hints import size_hints
from xrelay.dialects.relay.ops.nn.matmul import BatchMatmulOp
from xrelay.dialects.relay.ops.nn.softmax import SoftmaxOp
from xrelay.dialects.relay.ops.nn.split_products import ContribDenseSplitOp, ContribSplitFloatsOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.attribute_names import BINDS, DEMANDS, REQUIRES
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.index_algebra.dims import Dim, certainly_equal, estimate
from xrelay.passes.fusion.fuse_ops import GroupNames
from xrelay.passes.fusion.recompute_groups import compute_in
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.types.type_solver import function_around

MIN_QUERIES: Final = 8
"""The minimum number of queries: a tile of rows. Fewer queries are limited by reading the keys and the values."""

MIN_ROW: Final = 16
"""The minimum number of keys, and of elements of a value: a vector."""

EPILOGUE: Final = (OpPatternKind.ELEM_WISE, OpPatternKind.BROADCAST)
"""The patterns of ops that may follow a product in its group."""


@dataclass(frozen=True)
class RelayFuseAttentionPass(XRelayPass):
    """Moves the scores of attention and their softmax into the group that reads them; see the module's docstring."""

    name = "relay-fuse-attention"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        names = GroupNames(op)
        for weights in [inner for inner in walk_ops(op) if isinstance(inner, FusedOp)]:
            scores, reader = _scores_of(weights), _only_reader(weights)
            parts = reader if reader is not None and _splits(reader) else None
            result = reader if parts is None else _only_reader(parts)
            stages = [weights] if parts is None else [parts, weights]
            if scores is None or result is None or not _is_attention(scores, stages, result):
                continue
            for stage in (*stages, scores):
                compute_in(stage, result, names)
                Rewriter.erase_op(stage)


def _splits(group: FusedOp) -> bool:
    """Whether a group splits the weights into parts, and does nothing else."""
    return [type(op) for op in group.body.block.ops] == [ContribSplitFloatsOp, YieldOp]


def _scores_of(weights: FusedOp) -> FusedOp | None:
    """Returns the group whose result only the softmax `weights` reads; None if it is no softmax along the keys."""
    softmax = next((op for op in weights.body.block.ops if isinstance(op, SoftmaxOp)), None)
    if softmax is None or len(weights.body.block.ops) > 2 or len(weights.arguments) != 1:
        return None
    rank, scores = len(shape_of(softmax.data.type)), weights.arguments[0].owner
    is_row = softmax.axis.value.data % rank == rank - 1
    return scores if is_row and isinstance(scores, FusedOp) and _only_reader(scores) is weights else None


def _only_reader(group: FusedOp) -> FusedOp | None:
    """Returns the only group that reads a result, if it is in the same block."""
    users = {use.operation for use in group.result.uses}
    reader = next(iter(users), None)
    return reader if len(users) == 1 and isinstance(reader, FusedOp) and reader.parent is group.parent else None


def _is_attention(scores: FusedOp, stages: Sequence[FusedOp], result: FusedOp) -> bool:
    """Whether the groups compute products, and the second product reads the weights as rows.

    `stages` are the groups of the weights, the last stage first.
    """
    first, second = _product_of(scores), _product_of(result)
    ops = [op for group in (scores, *stages, result) for op in group.walk()]
    if first is None or second is None or not all(map(_is_plain, ops)):
        return False
    parameter = result.body.block.args[list(result.arguments).index(stages[0].result)]
    if not parameter.has_one_use() or second.operands[0] is not parameter or second.operands[1] is parameter:
        return False
    if isinstance(first, BatchMatmulOp) and isinstance(second, BatchMatmulOp):
        return not second.transposed[0] and not first.transposed[0] and _fits(first, second)
    return isinstance(first, ContribDenseSplitOp) and isinstance(second, ContribDenseSplitOp)


def _product_of(group: FusedOp) -> BatchMatmulOp | ContribDenseSplitOp | None:
    """Returns the only product of a group whose other ops are elementwise, and follow it."""
    ops = [op for op in group.body.block.ops if not isinstance(op, ConstantOp | YieldOp)]
    product, *others = ops or [group]
    is_epilogue = all(isinstance(op, RelayOp) and op.fusion_pattern in EPILOGUE for op in others)
    return product if isinstance(product, BatchMatmulOp | ContribDenseSplitOp) and is_epilogue else None


def _is_plain(op: Operation) -> bool:
    """Whether an op requires and names no extents."""
    return op.attributes.keys().isdisjoint((REQUIRES, DEMANDS, BINDS))


def _fits(first: BatchMatmulOp, second: BatchMatmulOp) -> bool:
    """Whether both products have the same stacks, are long enough, and have f32 elements."""
    shapes = [shape_of(value.type) for op in (first, second) for value in (*op.operands, *op.results)]
    *stack, queries, keys = shape_of(first.results[0].type)
    (*_, depth), (*_, width) = shape_of(first.tensor_a.type), shape_of(second.results[0].type)
    are_rows = isinstance(depth, int) and isinstance(width, int) and width >= MIN_ROW
    are_keys = not isinstance(keys, int) or keys >= MIN_ROW
    are_queries = _least(queries, first) >= MIN_QUERIES or certainly_equal(queries, keys)
    is_stack = isinstance(queries, int) or any(extent != 1 for extent in stack)
    elements = {element_type_of(value.type) for op in (first, second) for value in (*op.operands, *op.results)}
    is_long = are_rows and are_keys and are_queries and is_stack
    return is_long and elements == {f32} and len({shape[:-2] for shape in shapes}) == 1


def _least(extent: Dim, op: Operation) -> int:
    """Returns the minimum of an extent by the size hints of the function."""
    hints = size_hints(function_around(op))
    return estimate(extent, {name: hint.least for name, hint in hints.items()}, 1)
