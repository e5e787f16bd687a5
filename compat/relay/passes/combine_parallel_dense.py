"""`relay-combine-parallel-dense`: combines products of one matrix with several weights.

Replaces `relay.nn.dense` ops with the same data by one product, with the elementwise ops that follow all of them. With
`to-batch` it is a stack of products with weights of one shape; without, a product with the units of all, and a slice
for each. One large product uses vectors and cores better than several small ones. Re-associating: the order of
summation may change.

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

The ops after the products are combined as long as they are alike; operands of extent 1 are repeated to the number of
units. Left alone: fewer than `min-num-branches` products; weights that depend on one of the products; with `to-batch`,
data of another rank than 2.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import int_attribute
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.nn.dense import DenseOp
from xrelay.dialects.relay.ops.nn.matmul import BatchMatmulOp
from xrelay.dialects.relay.ops.tensor.fill import StackOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.shared.types import element_type_of, is_static, shape_of
from xrelay.passes.graph.rewriting import Emitter
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.relay.passes.branch_layouts import Concatenated, Stacked
from xrelay.relay.passes.branch_levels import BranchLayout
from xrelay.relay.passes.parallel_branches import (
    Combining,
    Products,
    combine,
    extents_along,
    extents_without,
    join_weights,
    properties_without,
)


@dataclass(frozen=True)
class RelayCombineParallelDensePass(XRelayPass):
    """Combines products of one matrix with several weights; see the module's docstring."""

    name = "relay-combine-parallel-dense"
    numerics = reassociates("a larger product may be summed in another order")
    per_function = True

    min_num_branches: int = field(default=3, metadata={"help": "the least number of products to combine"})
    to_batch: bool = field(default=True, metadata={"help": "stack the products instead of joining their units"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        by_batch = Combining(self.name, _stack_key, _stack, lambda _: Stacked())
        combine(op, by_batch if self.to_batch else Combining(self.name, _flat_key, _join, _flat), self.min_num_branches)


def _flat_key(op: RelayOp) -> Hashable | None:
    """Returns a key that is equal for products whose units can be combined, or None for other ops."""
    weight = extents_without(op.weight, 0) if isinstance(op, DenseOp) else None
    return None if weight is None else (weight, element_type_of(op.operands[1].type), properties_without(op, "units"))


def _stack_key(op: RelayOp) -> Hashable | None:
    """Returns a key that is equal for products that can be stacked, or None for other ops."""
    if not isinstance(op, DenseOp) or not is_static(op.weight.type) or len(shape_of(op.data.type)) != 2:
        return None
    return op.weight.type, properties_without(op, "units")


def _join(emit: Emitter, ops: Products, weights: Sequence[SSAValue]) -> SSAValue:
    """Emits the product with all units."""
    first = ops[0]
    properties = {**first.properties, "units": int_attribute(sum(extents_along(weights, 0)))}
    return emit.insert(DenseOp.typed([first.operands[0], join_weights(emit, weights, 0)], properties)).result


def _flat(ops: Products) -> BranchLayout:
    """Returns the concatenation along the last axis."""
    axis = len(shape_of(ops[0].results[0].type)) - 1
    return Concatenated(axis, extents_along([op.operands[1] for op in ops], 0), repeats=True, cuts_all=True)


def _stack(emit: Emitter, ops: Products, weights: Sequence[SSAValue]) -> SSAValue:
    """Emits the stack of products."""
    first = ops[0]
    data = [first.operands[0]] * len(ops)
    stacks = [emit.call(StackOp, emit.call(TupleOp, *each), axis=0) for each in (data, weights)]
    return emit.call(BatchMatmulOp, *stacks, out_dtype=first.properties.get("out_dtype"))
