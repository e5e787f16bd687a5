"""Ops that multiply the same data by weights of their own, for `relay-combine-parallel-conv2d` and its kin.

Such a product and the ops on single elements behind it, each the only user of the one before, are a branch. Branches of
one kind become one: a product of all weights, then one op for each level at which the branches do the same, then the
part of each branch.

Each part needs what all branches take: a weight, or another operand of a level, that may fail or not end is joined with
others where its product, or level, is needed anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.tensor_join import ConcatenateOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.errors import PassError
from xrelay.passes.graph.rewriting import Emitter, rewrite
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.relay.argument_needs import MayFail, needed_by_the_end
from xrelay.passes.relay.branch_levels import Joint, Level, next_level
from xrelay.passes.relay.ops_in_front import OpsInFront

Products = Sequence[RelayOp]


@dataclass(frozen=True)
class Combining:
    """How a pass makes one product of several."""

    name: str
    """The pass's name."""
    key: Callable[[RelayOp], Hashable | None]
    """What products that may be one have in common; `None` for no product of the pass."""
    product: Callable[[Emitter, Products, Sequence[SSAValue]], SSAValue]
    """Emits the product of all weights, the second operands."""
    joint: Callable[[Products], Joint]
    """How the results of the products lie in that of the one."""


def combine(module: ModuleOp, combining: Combining, least: int) -> None:
    """Make one branch of each group of at least `least` branches with the same data.

    The one stands in front of the first product: what the others take is moved there, where it depends on no product.
    `PassError` where `least` is below 2.
    """
    if least < 2:
        raise PassError(f"{combining.name}: min-num-branches is {least}, it must be at least 2")
    groups: dict[Hashable, list[RelayOp]] = {}
    places: dict[Operation, tuple[int, int]] = {}
    for place, op in enumerate(walk_ops(module)):
        places[op] = (place, 0)
        own = combining.key(op) if isinstance(op, RelayOp) and all(map(is_complete, op.operand_types)) else None
        if own is not None and isinstance(op, RelayOp):
            groups.setdefault((op.parent, op.operands[0], own), []).append(op)
    front = OpsInFront(places, barred={op for group in groups.values() for op in group})
    safe = _JoinedOperands()
    for group in groups.values():
        first, *others = [op for op in group if safe.may_join(op, [op.operands[1]])] or group[:1]
        fits = [first, *(op for op in others if front.can_have(first, [op.operands[1]]))]
        if len(fits) >= least:
            _combine(combining, front, safe, fits)
    rewrite(module, {})


class _JoinedOperands:
    """Decides whether operands may be needed wherever a part of what they are joined to is."""

    def __init__(self):
        self._fails = MayFail()
        self._needed: dict[Block, set[SSAValue]] = {}
        """The values that are computed whenever what a block gives is."""

    def may_join(self, op: Operation, operands: Sequence[SSAValue]) -> bool:
        """Whether `operands` of `op` do not fail, and end, or are needed anyway."""
        return not any(map(self._fails.of, operands)) or self._is_needed(op)

    def _is_needed(self, op: Operation) -> bool:
        block = op.parent
        if block is None:
            return False
        if block not in self._needed:
            self._needed[block] = needed_by_the_end(block)
        return op.results[0] in self._needed[block]


def _takes(joint: Joint, level: Level, front: OpsInFront, safe: _JoinedOperands, first: RelayOp) -> bool:
    """Whether one op in front of `first` may do what `level` does."""
    pairs = zip(level.ops, zip(*level.sides, strict=True) if level.sides else (), strict=False)
    joins = all(safe.may_join(op, own) for op, own in pairs)
    return joins and joint.takes(level) and front.can_have(first, level.arguments)


def _combine(combining: Combining, front: OpsInFront, safe: _JoinedOperands, products: Products) -> None:
    """Replace the branches that begin with `products` by one in front of the first."""
    first = products[0]
    weights = [op.operands[1] for op in products]
    front.bring(first, weights)
    emit = Emitter(PatternRewriter(first), first)
    joint = combining.joint(products)
    value = combining.product(emit, products, weights)
    ends = products
    level = next_level(ends)
    while level is not None and _takes(joint, level, front, safe, first):
        front.bring(first, level.arguments)
        value = joint.apply(emit, value, level)
        joint = joint.behind(level)
        ends = level.ops
        level = next_level(ends)
    parts = joint.parts(emit, value, len(ends))
    front.note_new(first)
    for op, part in zip(ends, parts, strict=True):
        Emitter(PatternRewriter(op), op).replace(part)


def join_weights(emit: Emitter, weights: Sequence[SSAValue], axis: int) -> SSAValue:
    """The weights one behind the other."""
    return emit.call(ConcatenateOp, emit.call(TupleOp, *weights), axis=axis)


def extents_along(values: Sequence[SSAValue], axis: int) -> tuple[int, ...]:
    """How long each of `values` is along `axis`, which `extents_but` says is known."""
    extents = (shape_of(value.type)[axis] for value in values)
    return tuple(extent for extent in extents if isinstance(extent, int))


def extents_but(value: SSAValue, axis: int) -> Hashable | None:
    """The shape without the extent along `axis`; `None` where that is not known."""
    shape = shape_of(value.type)
    return (*shape[:axis], *shape[axis + 1 :]) if isinstance(shape[axis], int) else None


def properties_but(op: RelayOp, *names: str) -> Hashable:
    """The properties, without some of them, so that they can be compared."""
    return tuple((name, value) for name, value in sorted(op.properties.items()) if name not in names)
