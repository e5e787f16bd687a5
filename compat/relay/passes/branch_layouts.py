"""The two ways to join the values of branches: side by side along an axis, and as a stack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.ops.nn.dense import BiasAddOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp
from xrelay.dialects.relay.ops.tensor.fill import StackOp
from xrelay.dialects.relay.ops.tensor.join import ConcatenateOp, SplitOp
from xrelay.dialects.relay.ops.tensor.movement import RepeatOp, StridedSliceOp
from xrelay.dialects.relay.ops.tensor.shape import ExpandDimsOp, SqueezeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.index_algebra.dims import Shape
from xrelay.passes.graph.rewriting import Emitter, owner_of
from xrelay.relay.passes.branch_levels import BranchLayout, Level

Emit = Callable[[Emitter], SSAValue]


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

    def _joined(self, level: Level, side: Sequence[SSAValue]) -> Emit | None:
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


@dataclass(frozen=True)
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
