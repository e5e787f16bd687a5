"""`relay-combine-parallel-dense`: products of one matrix with several weights become one product.

What: `relay.nn.dense` ops with the same data are one: a stack of products where the weights have one shape, or, without
`to-batch`, one product with all units, of which each takes its part. Why: one large product keeps vectors and cores
busier than several small ones. Re-associating: it may be summed in another order.

Before:

    %a = relay.nn.dense(%x, %w)
    %b = relay.nn.dense(%x, %v)

After, with `to-batch`:

    %y = relay.nn.batch_matmul(%xs, %ws)                     of stacks of both
    %s = relay.split(%y) {indices_or_sections = 2}
    %a = relay.squeeze(%s0) {axis = [0]}

After, without:

    %y = relay.nn.dense(%x, %ws)
    %a = relay.strided_slice(%y) {begin = [0], end = [16], axes = [1]}

Ops behind the products stay as they are. Left alone: fewer than `min-num-branches`; weights that are computed behind
the first product; with `to-batch`, data of another rank than 2.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.types import is_static, shape_of
from xrelay.dialects.relay.ops.nn_dense import DenseOp
from xrelay.dialects.relay.ops.nn_matmul import BatchMatmulOp
from xrelay.dialects.relay.ops.tensor_fill import StackOp
from xrelay.dialects.relay.ops.tensor_join import SplitOp
from xrelay.dialects.relay.ops.tensor_shape import SqueezeOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.passes.graph.rewriting import Emitter
from xrelay.passes.relay.parallel_branches import combine, cut_results, extents_but, join_weights, properties_but


@dataclass(frozen=True)
class RelayCombineParallelDensePass(ModulePass):
    """Make one product of several of one matrix; see the module's docstring."""

    name = "relay-combine-parallel-dense"

    min_num_branches: int = field(default=3, metadata={"help": "how many products it takes at least"})
    to_batch: bool = field(default=True, metadata={"help": "stack the products, instead of joining their units"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Combine the module's products in place."""
        if self.to_batch:
            combine(op, self.name, _stack_key, _stack, self.min_num_branches)
        else:
            combine(op, self.name, _flat_key, _join, self.min_num_branches)


def _flat_key(op: RelayOp) -> Hashable | None:
    """What products whose units may be joined have in common."""
    weight = extents_but(op.weight, 0) if isinstance(op, DenseOp) else None
    return None if weight is None else (weight, properties_but(op, "units"))


def _stack_key(op: RelayOp) -> Hashable | None:
    """What products that may be stacked have in common."""
    if not isinstance(op, DenseOp) or not is_static(op.weight.type) or len(shape_of(op.data.type)) != 2:
        return None
    return (op.weight.type, properties_but(op, "units")) if op.out_dtype is None else None


def _join(emit: Emitter, ops: Sequence[RelayOp], weights: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """One product, and the part of each."""
    first = ops[0]
    properties = {name: value for name, value in first.properties.items() if name != "units"}
    value = emit.insert(DenseOp.typed([first.operands[0], join_weights(emit, weights, 0)], properties)).result
    return cut_results(emit, value, ops, len(shape_of(value.type)) - 1)


def _stack(emit: Emitter, ops: Sequence[RelayOp], weights: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """A stack of products, taken apart."""
    data = [ops[0].operands[0]] * len(ops)
    stacks = (emit.call(StackOp, emit.call(TupleOp, *each), axis=0) for each in (data, weights))
    parts = emit.call(SplitOp, emit.call(BatchMatmulOp, *stacks), indices_or_sections=len(ops), axis=0)
    items = (emit.call(TupleGetItemOp, parts, index=index) for index in range(len(ops)))
    return [emit.call(SqueezeOp, item, axis=[0]) for item in items]
