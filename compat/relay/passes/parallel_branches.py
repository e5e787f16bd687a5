"""Combines products of the same data and different weights: the base of `relay-combine-parallel-conv2d` and others.

A branch is such a product with the elementwise ops that follow, each the only user of its predecessor. Branches of the
same kind are combined to one: a product with all weights, one op for each level of equal ops, and a slice for each
branch.

A `Level` is one op of each branch, all of the same class and properties. A `BranchLayout` joins the values of the
branches to one value: side by side along an axis (`Concatenated`), or as a stack (`Stacked`). It decides whether one op
can replace a level, and emits that op on the joined operands. The ops of a level compute each element from the elements
at the same position, or are `bias_add` or `expand_dims`.

Only products in the same block are combined. First, ops are moved to the innermost block that contains all their uses,
so that no op is hoisted out of a branch that contains all its uses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.ops.nn.dense import BiasAddOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.compare import WhereOp
from xrelay.dialects.relay.ops.tensor.elementwise import BinaryBroadcastOp, UnaryElementwiseOp
from xrelay.dialects.relay.ops.tensor.fill import StackOp
from xrelay.dialects.relay.ops.tensor.join import ConcatenateOp, SplitOp
from xrelay.dialects.relay.ops.tensor.movement import RepeatOp, StridedSliceOp
from xrelay.dialects.relay.ops.tensor.shape import ExpandDimsOp, SqueezeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.types import element_type_of, is_complete, is_static, shape_of
from xrelay.errors import PassError
from xrelay.index_algebra.dims import Shape
from xrelay.passes.graph.rewriting import Emitter, owner_of, rewrite
from xrelay.passes.infra.digraph import post_order
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.passes.relay.to_basic_block_normal_form import place_ops

Products = Sequence[RelayOp]

_ON_ELEMENTS = (UnaryElementwiseOp, CastOp, BinaryBroadcastOp, WhereOp, BiasAddOp, ExpandDimsOp)
_MAX_MOVED = 64
"""The maximum number of ops to move for one value, so that the pass, which may do so for each op, takes linear time."""


@dataclass(frozen=True)
class CombineParallelPass(XRelayPass):
    """Combines products of the same data, the first operand, and other weights, the second.

    Each group of at least `min_num_branches` branches is combined. The combined branch replaces the first product.
    Operands of the other branches are moved before it, if they do not depend on a product.
    """

    numerics = reassociates("a larger product may be summed in another order")
    per_function = True

    min_num_branches: int = field(default=3, metadata={"help": "the least number of products to combine"})

    @abstractmethod
    def key(self, op: RelayOp) -> Hashable | None:
        """Returns a key that is equal for products that may be combined; `None` for ops that are not combined."""

    @abstractmethod
    def product(self, emit: Emitter, ops: Products, weights: Sequence[SSAValue]) -> SSAValue:
        """Emits the product with all weights."""

    @abstractmethod
    def layout(self, ops: Products) -> BranchLayout:
        """Returns the arrangement of the results of `ops` in the combined result."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place; raises `PassError` if `min_num_branches` is below 2."""
        least = self.min_num_branches
        if least < 2:
            raise PassError(f"{self.name}: min-num-branches is {least}, it must be at least 2")
        place_ops(op)
        groups: dict[Hashable, list[RelayOp]] = {}
        positions: dict[Operation, int] = {}
        for position, one in enumerate(walk_ops(op)):
            positions[one] = position
            if isinstance(one, RelayOp) and all(map(is_complete, one.operand_types)):
                own = self.key(one)
                if own is not None:
                    groups.setdefault((one.parent, one.operands[0], own), []).append(one)
        hoister = _Hoister(positions, barred={one for group in groups.values() for one in group})
        for first, *others in groups.values():
            fits = [first, *(one for one in others if hoister.can_hoist(first, [one.operands[1]]))]
            if len(fits) >= least:
                self._combine(hoister, fits)
        rewrite(op, {})

    def _combine(self, hoister: _Hoister, products: Products) -> None:
        """Replaces the branches that begin with `products` by a combined branch before the first product."""
        first = products[0]
        weights = [op.operands[1] for op in products]
        hoister.hoist(first, weights)
        emit = Emitter(PatternRewriter(first), first)
        layout = self.layout(products)
        value = self.product(emit, products, weights)
        ends = products
        level = _next_level(ends)
        while level is not None and layout.accepts(level) and hoister.can_hoist(first, level.arguments):
            hoister.hoist(first, level.arguments)
            value = layout.apply(emit, value, level)
            layout = layout.after(level)
            ends = level.ops
            level = _next_level(ends)
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


def key_without(op: RelayOp, axis: int, *names: str) -> Hashable | None:
    """A key of the weight and the properties of `op`, without the weight's extent along `axis` and without `names`.

    It is `None` if that extent is dynamic.
    """
    type = op.operands[1].type
    shape = shape_of(type)
    if not isinstance(shape[axis], int):
        return None
    return _without_axis(shape, axis), element_type_of(type), properties_without(op, *names)


def properties_without(op: RelayOp, *names: str) -> Hashable:
    """The properties except `names`, in a form that can be compared."""
    return tuple((name, value) for name, value in sorted(op.properties.items()) if name not in names)


# --- levels and layouts ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Level:
    """The ops of a level, one for each branch, of one class and with the same properties."""

    ops: Sequence[RelayOp]
    operand_index: int
    """The index of the operand that comes from the previous level."""

    @property
    def first(self) -> RelayOp:
        """The op of the first branch, which represents all."""
        return self.ops[0]

    @property
    def sides(self) -> list[Sequence[SSAValue]]:
        """The other operands: for each operand index, the operands of all branches."""
        indices = (index for index in range(len(self.first.operands)) if index != self.operand_index)
        return [[op.operands[index] for op in self.ops] for index in indices]

    @property
    def arguments(self) -> list[SSAValue]:
        """All values of `sides`."""
        return [value for side in self.sides for value in side]

    def shapes(self) -> list[tuple[Shape, Shape]]:
        """Returns for each branch the shapes of the operand from the previous level and of the result."""
        return [(shape_of(op.operands[self.operand_index].type), shape_of(op.results[0].type)) for op in self.ops]

    def emit(self, emit: Emitter, value: SSAValue, sides: Sequence[SSAValue]) -> SSAValue:
        """Emits the op of this level on `value` and the joined operands `sides`; returns its result."""
        operands = [*sides[: self.operand_index], value, *sides[self.operand_index :]]
        return emit.insert(type(self.first).typed(operands, self.first.properties)).results[0]


def _next_level(ops: Sequence[RelayOp]) -> Level | None:
    """Returns the level of the only users of `ops`, or None if these differ."""
    uses = [use for op in ops if op.results[0].has_one_use() and (use := op.results[0].first_use) is not None]
    users = [use.operation for use in uses if isinstance(use.operation, RelayOp)]
    if len(users) < len(ops):
        return None
    first, index = users[0], uses[0].index
    alike = all(
        type(user) is type(first) and user.properties == first.properties and user.parent is ops[0].parent
        for user in users
    )
    is_level = alike and all(use.index == index for use in uses) and isinstance(first, _ON_ELEMENTS)
    return Level(users, index) if is_level and first.fusion_pattern <= OpPatternKind.BROADCAST else None


class BranchLayout(ABC):
    """A layout of the values of all branches in one value."""

    @abstractmethod
    def accepts(self, level: Level) -> bool:
        """Whether one op on the joined value can replace `level`."""

    @abstractmethod
    def apply(self, emit: Emitter, value: SSAValue, level: Level) -> SSAValue:
        """Emits that op on `value`, the joined values before `level`; returns its result."""

    @abstractmethod
    def after(self, level: Level) -> BranchLayout:
        """Returns the `BranchLayout` of the values after `level`."""

    @abstractmethod
    def split(self, emit: Emitter, value: SSAValue, count: int) -> list[SSAValue]:
        """Emits the ops that split `value` into the values of the `count` branches."""


@dataclass(frozen=True)
class Concatenated(BranchLayout):
    """The values of the branches are concatenated along `axis`, where branch i has extent `extents[i]`.

    An operand of a level is concatenated if its extents along the axis are those of the branches. An operand that all
    branches share is kept. With `repeats`, operands of extent 1 along the axis are repeated.

    Before:

        %a = relay.multiply(%x, %s)                  tensor<3x5xf32>, tensor<5xf32>
        %b = relay.multiply(%y, %t)                  tensor<3x6xf32>, tensor<6xf32>

    After, with %x and %y joined in %xy:

        %st = relay.concatenate(%s_t) {axis = 0}     tensor<11xf32>
        %ab = relay.multiply(%xy, %st)
        %a = relay.strided_slice(%ab) {begin = [0, 0], end = [-1, 5], strides = [1, 1], slice_mode = "size"}
        %b = relay.strided_slice(%ab) {begin = [0, 5], end = [-1, 6], strides = [1, 1], slice_mode = "size"}
    """

    axis: int
    extents: tuple[int, ...]
    repeats: bool = False
    cuts_all: bool = False
    """Whether the slices specify all axes, as Relay's do after a dense layer, and not only those up to `axis`."""
    counts_back: bool = False
    """Whether concatenated operands count their axis from the end, as Relay's do after a batch_matmul."""

    def accepts(self, level: Level) -> bool:
        """Whether the level keeps the extents along the axis, and its operands can be joined."""
        after = self.after(level)
        rows = zip(level.shapes(), self.extents, strict=True)
        kept = all(result[after.axis] == extent for (_, result), extent in rows)
        return kept and all(after._joined(level, side) is not None for side in level.sides)

    def apply(self, emit: Emitter, value: SSAValue, level: Level) -> SSAValue:
        """Emits the op of the level on the joined operands."""
        joined = [self.after(level)._joined(level, side) for side in level.sides]
        return level.emit(emit, value, [each(emit) for each in joined if each is not None])

    def after(self, level: Level) -> Concatenated:
        """Returns the `BranchLayout` with the axis moved by the new axes before it."""
        before, after = level.shapes()[0]
        op, new = level.first, len(after) - len(before)
        is_after = isinstance(op, ExpandDimsOp) and op.position(len(before)) > self.axis
        return self if is_after or new == 0 else replace(self, axis=self.axis + new)

    def split(self, emit: Emitter, value: SSAValue, count: int) -> list[SSAValue]:
        """Emits a slice for each branch."""
        rank = len(shape_of(value.type)) if self.cuts_all else self.axis + 1
        found: list[SSAValue] = []
        begin = 0
        for extent in self.extents:
            begins, sizes = [0] * rank, [-1] * rank
            begins[self.axis], sizes[self.axis] = begin, extent
            cut = {"begin": begins, "end": sizes, "strides": [1] * rank}
            found.append(emit.call(StridedSliceOp, value, **cut, slice_mode="size"))
            begin += extent
        return found

    def _joined(self, level: Level, side: Sequence[SSAValue]) -> Callable[[Emitter], SSAValue] | None:
        """Returns a function that emits the joined operand of all branches, or None if they cannot be joined."""
        axis = self._axis_in(level, side[0])
        shapes = [shape_of(value.type) for value in side]
        kept = [(len(shape), _without_axis(shape, axis)) for shape in shapes]
        if len(set(kept)) > 1 or len({element_type_of(value.type) for value in side}) > 1:
            return None
        own = [shape[axis] if axis >= 0 else 1 for shape in shapes]
        if axis >= 0 and own == list(self.extents):
            named = axis - len(shapes[0]) if self.counts_back else axis
            return lambda emit: emit.call(ConcatenateOp, emit.call(TupleOp, *side), axis=named)
        if all(extent == 1 for extent in own) and _is_shared(side):
            return lambda emit: side[0]
        in_reach = axis >= 0 or (not shapes[0] and self.axis == len(level.shapes()[0][1]) - 1)
        fits = all(extent in (1, whole) for extent, whole in zip(own, self.extents, strict=True))
        return (lambda emit: self._repeated(emit, side, max(axis, 0))) if self.repeats and in_reach and fits else None

    def _axis_in(self, level: Level, operand: SSAValue) -> int:
        """Returns the axis of an operand that corresponds to `axis`; negative if the operand lacks it."""
        op, rank = level.first, len(level.shapes()[0][1])
        if isinstance(op, BiasAddOp):
            return 0 if axis_index(op.axis.value.data, rank) == self.axis else -1
        return self.axis - rank + len(shape_of(operand.type))

    def _repeated(self, emit: Emitter, side: Sequence[SSAValue], axis: int) -> SSAValue:
        """Emits the concatenation of the operands, each repeated to the extent of its branch along `axis`."""
        long: list[SSAValue] = []
        for value, extent in zip(side, self.extents, strict=True):
            each = value if shape_of(value.type) else emit.call(ExpandDimsOp, value, axis=-1)
            is_short = shape_of(each.type)[axis] != extent
            long.append(emit.call(RepeatOp, each, repeats=extent, axis=axis) if is_short else each)
        return emit.call(ConcatenateOp, emit.call(TupleOp, *long), axis=axis)


class Stacked(BranchLayout):
    """The values of the branches have one shape, and are stacked along a new first axis.

    Operands of a level are stacked, except an operand that all branches share. A bias along an axis becomes an
    addition, because its axis is another one in the stack.

    Before:

        %a = relay.add(%x, %s)                       tensor<3x5xf32>, tensor<5xf32>
        %b = relay.add(%y, %t)                       tensor<3x5xf32>, tensor<5xf32>

    After, with %x and %y joined in %xy:

        %st = relay.stack(%s_t) {axis = 0}           of both as tensor<1x5xf32>
        %ab = relay.add(%xy, %st)                    tensor<2x3x5xf32>, tensor<2x1x5xf32>
        %parts = relay.split(%ab) {indices_or_sections = 2}
        %a = relay.squeeze(%part0) {axis = [0]}
    """

    def accepts(self, level: Level) -> bool:
        """Whether the level keeps the shape, and each of its operands has one type in all branches."""
        kept = all(before == after for before, after in level.shapes()) and not isinstance(level.first, ExpandDimsOp)
        return kept and all(len({value.type for value in side}) == 1 for side in level.sides)

    def apply(self, emit: Emitter, value: SSAValue, level: Level) -> SSAValue:
        """Emits the op of the level on stacks."""
        sides = [self._joined(emit, level, side) for side in level.sides]
        if isinstance(level.first, BiasAddOp):
            return emit.call(AddOp, value, *sides)
        return level.emit(emit, value, sides)

    def after(self, level: Level) -> Stacked:
        """Returns this `BranchLayout`."""
        return self

    def split(self, emit: Emitter, value: SSAValue, count: int) -> list[SSAValue]:
        """Emits a split of the stack, without the first axis in the parts."""
        pieces = emit.call(SplitOp, value, indices_or_sections=count, axis=0)
        items = (emit.call(TupleGetItemOp, pieces, index=index) for index in range(count))
        return [emit.call(SqueezeOp, item, axis=[0]) for item in items]

    def _joined(self, emit: Emitter, level: Level, side: Sequence[SSAValue]) -> SSAValue:
        """Emits the stack of an operand, or returns the operand that all branches share."""
        rank = len(level.shapes()[0][1])
        if _is_shared(side):
            return self._aligned(emit, level, side[0])
        aligned = [self._aligned(emit, level, value) for value in side]
        missing = rank - len(shape_of(aligned[0].type))
        if missing:
            aligned = [emit.call(ExpandDimsOp, value, axis=0, num_newaxis=missing) for value in aligned]
        return emit.call(StackOp, emit.call(TupleOp, *aligned), axis=0)

    def _aligned(self, emit: Emitter, level: Level, value: SSAValue) -> SSAValue:
        """Emits the operand with its last axis at the last axis of the result: a bias gets the axes after its own."""
        op, rank = level.first, len(level.shapes()[0][1])
        trailing = rank - 1 - axis_index(op.axis.value.data, rank) if isinstance(op, BiasAddOp) else 0
        return emit.call(ExpandDimsOp, value, axis=1, num_newaxis=trailing) if trailing else value


def _without_axis(shape: Shape, axis: int) -> Shape:
    """Returns the shape without the extent along `axis`, or the whole shape if `axis` is negative."""
    return (*shape[:axis], *shape[axis + 1 :]) if axis >= 0 else shape


def _is_shared(side: Sequence[SSAValue]) -> bool:
    """Whether all branches use the same value, or equal constants."""
    constants = [owner_of(value, ConstantOp) for value in side]
    first = constants[0]
    equal = first is not None and all(each is not None and each.value == first.value for each in constants)
    return equal or all(value is side[0] for value in side)


# --- moving ops ----------------------------------------------------------------------------------------------------


class _Hoister:
    """Moves ops before other ops, the first products of groups.

    `positions` contains the position of each op of the module; a moved or new op gets that of the product after it.
    `barred` ops, the products, are never moved.
    """

    def __init__(self, positions: dict[Operation, int], barred: AbstractSet[Operation]):
        self._positions, self._barred = positions, barred

    def can_hoist(self, op: Operation, values: Sequence[SSAValue]) -> bool:
        """Whether `values` are defined before `op`, or by a few ops of static types that may move before it."""
        return all(self._ops_to_hoist(op, value) is not None for value in values)

    def hoist(self, op: Operation, values: Sequence[SSAValue]) -> None:
        """Moves the ops that define `values` before `op`; requires `can_hoist`."""
        block = op.parent
        for value in values:
            for one in self._ops_to_hoist(op, value) or ():
                if block is not None:
                    one.detach()
                    block.insert_op_before(one, op)
                    self._positions[one] = self._positions[op]

    def record_new_ops(self, op: Operation) -> None:
        """Records the positions of new ops before `op`."""
        number, new = self._positions[op], op.prev_op
        while new is not None and self._positions.setdefault(new, number) == number:
            new = new.prev_op

    def _ops_to_hoist(self, op: Operation, value: SSAValue) -> list[Operation] | None:
        """The ops after `op` that define `value`, in order; `None` if they are too many or one of them cannot move."""
        pending = self._later_owners([value], op)
        seen = set(pending)
        for current in pending:
            if current in self._barred or not _is_movable(current) or len(seen) > _MAX_MOVED:
                return None
            found = [one for one in self._later_owners(current.operands, op) if one not in seen]
            seen.update(found)
            pending += found
        return post_order(pending[:1], lambda one: [each for each in _owners(one.operands) if each in seen])

    def _later_owners(self, values: Sequence[SSAValue], op: Operation) -> list[Operation]:
        """The ops that define `values` in the block of `op`, and not before it."""
        return [one for one in _owners(values) if one.parent is op.parent and not self._precedes(one, op)]

    def _precedes(self, one: Operation, op: Operation) -> bool:
        at = self._positions[op]
        return one is not op and one in self._positions and self._positions[one] <= at


def _owners(values: Sequence[SSAValue]) -> list[Operation]:
    """The ops that define `values`, without duplicates."""
    return list(dict.fromkeys(value.op for value in values if isinstance(value, OpResult)))


def _is_movable(op: Operation) -> bool:
    """Whether `op` has the same result wherever its operands are defined."""
    static = all(is_static(result.type) for result in op.results)
    return static and isinstance(op, RelayOp | ConstantOp) and not op.regions
