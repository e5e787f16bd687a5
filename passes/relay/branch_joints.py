"""The two ways in which the values of branches lie in one value: one behind the other, and as a stack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.axes import axis_index
from xrelay.dialects.relay.ops.nn_dense import BiasAddOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp
from xrelay.dialects.relay.ops.tensor.fill import StackOp
from xrelay.dialects.relay.ops.tensor_join import ConcatenateOp, SplitOp
from xrelay.dialects.relay.ops.tensor_movement import RepeatOp, StridedSliceOp
from xrelay.dialects.relay.ops.tensor_shape import ExpandDimsOp, SqueezeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.index_algebra.dims import Shape
from xrelay.passes.graph.rewriting import Emitter, owner_of
from xrelay.passes.relay.branch_levels import Joint, Level

Emit = Callable[[Emitter], SSAValue]


@dataclass(frozen=True)
class SideBySide(Joint):
    """One behind the other along `axis`, where that of each branch has its number of `extents`.

    An operand of a level is joined where it is as long as its branch in each of them. One that all branches have in
    common stays as it is; with `repeats`, what has one element along the axis is repeated.

    Before:

        %a = relay.multiply(%x, %s)                  tensor<3x5xf32>, tensor<5xf32>
        %b = relay.multiply(%y, %t)                  tensor<3x6xf32>, tensor<6xf32>

    After, with %x and %y in %xy:

        %st = relay.concatenate(%s_t) {axis = 0}     tensor<11xf32>
        %ab = relay.multiply(%xy, %st)
        %a = relay.strided_slice(%ab) {begin = [0, 0], end = [-1, 5], strides = [1, 1], slice_mode = "size"}
        %b = relay.strided_slice(%ab) {begin = [0, 5], end = [-1, 6], strides = [1, 1], slice_mode = "size"}
    """

    axis: int
    extents: tuple[int, ...]
    repeats: bool = False
    cuts_all: bool = False
    """Whether the parts name all axes, as Relay's do behind a dense layer, and not those up to `axis` alone."""
    counts_back: bool = False
    """Whether joined operands count their axis from the last, as Relay's do behind a batch_matmul."""

    def takes(self, level: Level) -> bool:
        """Whether the level leaves the axis as long as it is, and its operands can be joined."""
        behind = self.behind(level)
        rows = zip(level.shapes(), self.extents, strict=True)
        kept = all(result[behind.axis] == extent for (_, result), extent in rows)
        return kept and all(behind._joined(level, side) is not None for side in level.sides)

    def apply(self, emit: Emitter, value: SSAValue, level: Level) -> SSAValue:
        """The op of the level on what `_joined` emits."""
        joined = [self.behind(level)._joined(level, side) for side in level.sides]
        return level.emit(emit, value, [each(emit) for each in joined if each is not None])

    def behind(self, level: Level) -> SideBySide:
        """New axes in front of the axis move it."""
        before, after = level.shapes()[0]
        op, new = level.first, len(after) - len(before)
        stays = isinstance(op, ExpandDimsOp) and op.position(len(before)) > self.axis
        return self if stays or new == 0 else replace(self, axis=self.axis + new)

    def parts(self, emit: Emitter, value: SSAValue, count: int) -> list[SSAValue]:
        """A slice for each."""
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
        """What emits one operand for those of all branches; `None` where nothing can."""
        axis = self._axis_in(level, side[0])
        shapes = [shape_of(value.type) for value in side]
        kept = [(len(shape), _but(shape, axis)) for shape in shapes]
        if len(set(kept)) > 1 or len({element_type_of(value.type) for value in side}) > 1:
            return None
        own = [shape[axis] if axis >= 0 else 1 for shape in shapes]
        if axis >= 0 and own == list(self.extents):
            named = axis - len(shapes[0]) if self.counts_back else axis
            return lambda emit: emit.call(ConcatenateOp, emit.call(TupleOp, *side), axis=named)
        if all(extent == 1 for extent in own) and _is_one(side):
            return lambda emit: side[0]
        in_reach = axis >= 0 or (not shapes[0] and self.axis == len(level.shapes()[0][1]) - 1)
        fits = all(extent in (1, whole) for extent, whole in zip(own, self.extents, strict=True))
        return (lambda emit: self._repeated(emit, side, max(axis, 0))) if self.repeats and in_reach and fits else None

    def _axis_in(self, level: Level, operand: SSAValue) -> int:
        """Which axis of an operand of the level is the axis; below 0 for one that has none."""
        op, rank = level.first, len(level.shapes()[0][1])
        if isinstance(op, BiasAddOp):
            return 0 if axis_index(op.axis.value.data, rank) == self.axis else -1
        return self.axis - rank + len(shape_of(operand.type))

    def _repeated(self, emit: Emitter, side: Sequence[SSAValue], axis: int) -> SSAValue:
        """The operands, each as long along `axis` as its branch, one behind the other."""
        long: list[SSAValue] = []
        for value, extent in zip(side, self.extents, strict=True):
            each = value if shape_of(value.type) else emit.call(ExpandDimsOp, value, axis=-1)
            is_short = shape_of(each.type)[axis] != extent
            long.append(emit.call(RepeatOp, each, repeats=extent, axis=axis) if is_short else each)
        return emit.call(ConcatenateOp, emit.call(TupleOp, *long), axis=axis)


@dataclass(frozen=True)
class Stacked(Joint):
    """Each of one shape, the first axis numbers the branches.

    Operands of a level are stacked; one that all have in common stays as it is. A bias along an axis becomes an
    addition, for another axis of the stack is meant.

    Before:

        %a = relay.add(%x, %s)                       tensor<3x5xf32>, tensor<5xf32>
        %b = relay.add(%y, %t)                       tensor<3x5xf32>, tensor<5xf32>

    After, with %x and %y in %xy:

        %st = relay.stack(%s_t) {axis = 0}           of both as tensor<1x5xf32>
        %ab = relay.add(%xy, %st)                    tensor<2x3x5xf32>, tensor<2x1x5xf32>
        %parts = relay.split(%ab) {indices_or_sections = 2}
        %a = relay.squeeze(%part0) {axis = [0]}
    """

    def takes(self, level: Level) -> bool:
        """Whether the level keeps the shape, and its operands have one type each."""
        kept = all(before == after for before, after in level.shapes()) and not isinstance(level.first, ExpandDimsOp)
        return kept and all(len({value.type for value in side}) == 1 for side in level.sides)

    def apply(self, emit: Emitter, value: SSAValue, level: Level) -> SSAValue:
        """The op of the level on stacks."""
        sides = [self._joined(emit, level, side) for side in level.sides]
        if isinstance(level.first, BiasAddOp):
            return emit.call(AddOp, value, *sides)
        return level.emit(emit, value, sides)

    def behind(self, level: Level) -> Stacked:
        """A stack."""
        return self

    def parts(self, emit: Emitter, value: SSAValue, count: int) -> list[SSAValue]:
        """The stack in pieces of one each, without the first axis."""
        pieces = emit.call(SplitOp, value, indices_or_sections=count, axis=0)
        items = (emit.call(TupleGetItemOp, pieces, index=index) for index in range(count))
        return [emit.call(SqueezeOp, item, axis=[0]) for item in items]

    def _joined(self, emit: Emitter, level: Level, side: Sequence[SSAValue]) -> SSAValue:
        """The stack of an operand, or what all have."""
        rank = len(level.shapes()[0][1])
        if _is_one(side):
            return self._aligned(emit, level, side[0])
        aligned = [self._aligned(emit, level, value) for value in side]
        missing = rank - len(shape_of(aligned[0].type))
        if missing:
            aligned = [emit.call(ExpandDimsOp, value, axis=0, num_newaxis=missing) for value in aligned]
        return emit.call(StackOp, emit.call(TupleOp, *aligned), axis=0)

    def _aligned(self, emit: Emitter, level: Level, value: SSAValue) -> SSAValue:
        """The operand with its last axis at the last of the result: a bias gets the axes behind its own."""
        op, rank = level.first, len(level.shapes()[0][1])
        behind = rank - 1 - axis_index(op.axis.value.data, rank) if isinstance(op, BiasAddOp) else 0
        return emit.call(ExpandDimsOp, value, axis=1, num_newaxis=behind) if behind else value


def _but(shape: Shape, axis: int) -> Shape:
    """The shape without the extent along `axis`, which is below 0 where there is none."""
    return (*shape[:axis], *shape[axis + 1 :]) if axis >= 0 else shape


def _is_one(side: Sequence[SSAValue]) -> bool:
    """Whether all branches have the same value, or equal constants."""
    constants = [owner_of(value, ConstantOp) for value in side]
    first = constants[0]
    equal = first is not None and all(each is not None and each.value == first.value for each in constants)
    return equal or all(value is side[0] for value in side)
