"""`relay-combine-parallel-dense`: products of one matrix with several weights become one product.

What: `relay.nn.dense` ops with the same data are one, with the ops on single elements that follow all of them: a stack
of products where the weights have one shape, or, without `to-batch`, one product with all units, of which each takes
its part. Why: one large product keeps vectors and cores busier than several small ones. Re-associating: it may be
summed in another order.

Before:

    %c = relay.nn.dense(%x, %w)
    %a = relay.add(%c, %s)
    %d = relay.nn.dense(%x, %v)
    %b = relay.add(%d, %t)

After, with `to-batch`:

    %y = relay.nn.batch_matmul(%xs, %ws)                     of stacks of both
    %z = relay.add(%y, %st)
    %p = relay.split(%z) {indices_or_sections = 2}
    %a = relay.squeeze(%p0) {axis = [0]}

After, without:

    %y = relay.nn.dense(%x, %ws) {units = 32}
    %z = relay.add(%y, %st)
    %a = relay.strided_slice(%z) {begin = [0, 0], end = [-1, 16], strides = [1, 1], slice_mode = "size"}

What follows the products is joined as far as all of them are alike; operands of one element are repeated as often as
there are units. Left alone: fewer than `min-num-branches`; weights that depend on one of the products; with `to-batch`,
data of another rank than 2.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from xrelay.dialects.relay.core.attribute_values import int_attribute
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.nn_dense import DenseOp
from xrelay.dialects.relay.ops.nn_matmul import BatchMatmulOp
from xrelay.dialects.relay.ops.tensor.fill import StackOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.shared.types import element_type_of, is_static, shape_of
from xrelay.passes.graph.rewriting import Emitter
from xrelay.passes.relay.branch_joints import SideBySide, Stacked
from xrelay.passes.relay.branch_levels import Joint
from xrelay.passes.relay.parallel_branches import (
    Combining,
    Products,
    combine,
    extents_along,
    extents_but,
    join_weights,
    properties_but,
)


@dataclass(frozen=True)
class RelayCombineParallelDensePass(ModulePass):
    """Make one product of several of one matrix; see the module's docstring."""

    name = "relay-combine-parallel-dense"

    min_num_branches: int = field(default=3, metadata={"help": "how many products it takes at least"})
    to_batch: bool = field(default=True, metadata={"help": "stack the products, instead of joining their units"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Combine the module's products in place."""
        by_batch = Combining(self.name, _stack_key, _stack, lambda _: Stacked())
        combine(op, by_batch if self.to_batch else Combining(self.name, _flat_key, _join, _flat), self.min_num_branches)


def _flat_key(op: RelayOp) -> Hashable | None:
    """What products whose units may be joined have in common."""
    weight = extents_but(op.weight, 0) if isinstance(op, DenseOp) else None
    return None if weight is None else (weight, element_type_of(op.operands[1].type), properties_but(op, "units"))


def _stack_key(op: RelayOp) -> Hashable | None:
    """What products that may be stacked have in common."""
    if not isinstance(op, DenseOp) or not is_static(op.weight.type) or len(shape_of(op.data.type)) != 2:
        return None
    return op.weight.type, properties_but(op, "units")


def _join(emit: Emitter, ops: Products, weights: Sequence[SSAValue]) -> SSAValue:
    """One product with all units."""
    first = ops[0]
    properties = {**first.properties, "units": int_attribute(sum(extents_along(weights, 0)))}
    return emit.insert(DenseOp.typed([first.operands[0], join_weights(emit, weights, 0)], properties)).result


def _flat(ops: Products) -> Joint:
    """One behind the other along the last axis."""
    axis = len(shape_of(ops[0].results[0].type)) - 1
    return SideBySide(axis, extents_along([op.operands[1] for op in ops], 0), repeats=True, cuts_all=True)


def _stack(emit: Emitter, ops: Products, weights: Sequence[SSAValue]) -> SSAValue:
    """A stack of products."""
    first = ops[0]
    data = [first.operands[0]] * len(ops)
    stacks = [emit.call(StackOp, emit.call(TupleOp, *each), axis=0) for each in (data, weights)]
    return emit.call(BatchMatmulOp, *stacks, out_dtype=first.properties.get("out_dtype"))
