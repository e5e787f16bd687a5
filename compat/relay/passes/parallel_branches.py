"""Combines products of the same data and different weights, for `relay-combine-parallel-conv2d` and similar passes.

A branch is such a product with the elementwise ops that follow, each the only user of its predecessor. Branches of the
same kind are combined to one: a product with all weights, one op for each level of equal ops, and a slice for each
branch.

Only products in the same block are combined. First, ops are moved to the innermost block that contains all their uses,
so that no op is hoisted out of a branch that contains all its uses.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.tensor.join import ConcatenateOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.errors import PassError
from xrelay.passes.graph.rewriting import Emitter, rewrite
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.relay.to_basic_block_normal_form import place_ops
from xrelay.relay.passes.branch_levels import BranchLayout, next_level
from xrelay.relay.passes.op_hoisting import OpHoister

Products = Sequence[RelayOp]


@dataclass(frozen=True)
class Combining:
    """The way in which a pass combines products."""

    name: str
    """The pass's name."""
    key: Callable[[RelayOp], Hashable | None]
    """A key that is equal for products that may be combined; `None` for ops that the pass does not combine."""
    product: Callable[[Emitter, Products, Sequence[SSAValue]], SSAValue]
    """Emits the product with all weights, which are the second operands."""
    layout: Callable[[Products], BranchLayout]
    """The arrangement of the results of the products in the combined result."""


def combine(module: ModuleOp, combining: Combining, least: int) -> None:
    """Combines each group of at least `least` branches with the same data.

    The combined branch replaces the first product. Operands of the other branches are moved before it, if they do not
    depend on a product. Raises `PassError` if `least` is below 2.
    """
    if least < 2:
        raise PassError(f"{combining.name}: min-num-branches is {least}, it must be at least 2")
    place_ops(module)
    groups: dict[Hashable, list[RelayOp]] = {}
    positions: dict[Operation, tuple[int, int]] = {}
    for position, op in enumerate(walk_ops(module)):
        positions[op] = (position, 0)
        own = combining.key(op) if isinstance(op, RelayOp) and all(map(is_complete, op.operand_types)) else None
        if own is not None and isinstance(op, RelayOp):
            groups.setdefault((op.parent, op.operands[0], own), []).append(op)
    hoister = OpHoister(positions, barred={op for group in groups.values() for op in group})
    for first, *others in groups.values():
        fits = [first, *(op for op in others if hoister.can_hoist(first, [op.operands[1]]))]
        if len(fits) >= least:
            _combine(combining, hoister, fits)
    rewrite(module, {})


def _combine(combining: Combining, hoister: OpHoister, products: Products) -> None:
    """Replaces the branches that begin with `products` by a combined branch before the first product."""
    first = products[0]
    weights = [op.operands[1] for op in products]
    hoister.hoist(first, weights)
    emit = Emitter(PatternRewriter(first), first)
    layout = combining.layout(products)
    value = combining.product(emit, products, weights)
    ends = products
    level = next_level(ends)
    while level is not None and layout.accepts(level) and hoister.can_hoist(first, level.arguments):
        hoister.hoist(first, level.arguments)
        value = layout.apply(emit, value, level)
        layout = layout.after(level)
        ends = level.ops
        level = next_level(ends)
    values = layout.split(emit, value, len(ends))
    hoister.record_new_ops(first)
    for op, result in zip(ends, values, strict=True):
        Emitter(PatternRewriter(op), op).replace(result)


def join_weights(emit: Emitter, weights: Sequence[SSAValue], axis: int) -> SSAValue:
    """The weights, concatenated along `axis`."""
    return emit.call(ConcatenateOp, emit.call(TupleOp, *weights), axis=axis)


def extents_along(values: Sequence[SSAValue], axis: int) -> tuple[int, ...]:
    """The extents of `values` along `axis`, which are numbers."""
    extents = (shape_of(value.type)[axis] for value in values)
    return tuple(extent for extent in extents if isinstance(extent, int))


def extents_without(value: SSAValue, axis: int) -> Hashable | None:
    """The shape without the extent along `axis`; `None` if that extent is dynamic."""
    shape = shape_of(value.type)
    return (*shape[:axis], *shape[axis + 1 :]) if isinstance(shape[axis], int) else None


def properties_without(op: RelayOp, *names: str) -> Hashable:
    """The properties except `names`, in a form that can be compared."""
    return tuple((name, value) for name, value in sorted(op.properties.items()) if name not in names)
