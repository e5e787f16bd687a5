"""Lowering of a compute's scalar body to the body of a `loop.block`: loads for reads, stores for yields."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Block, Operation, Region, SSAValue

from xrelay.dialects.loop import CheckedIndexOp, LoadOp, ValueMap
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.op_making import copy
from xrelay.dialects.topi import CheckedIndexOp as TopiCheckedIndexOp
from xrelay.dialects.topi import GuardOp, InBoundsOp, IndexOp, ReadOp, YieldOp
from xrelay.dialects.topi.index_map import IndexMap, is_inside
from xrelay.dialects.upstream.arith_extras import CmpiOp
from xrelay.errors import LoweringError
from xrelay.lowering.topi_to_loop.kernel_extents import KernelExtents
from xrelay.passes.loop.nest_edits import compute


class BodyLowering:
    """Copies scalar ops into blocks of the loop level.

    `values` maps values of the body to values of the block, initially its variables and accumulators; `buffers` maps
    tensors to the memrefs that hold them.
    """

    def __init__(
        self,
        values: dict[SSAValue, SSAValue],
        buffers: Mapping[SSAValue, SSAValue],
        sizes: KernelExtents,
        moved: Mapping[SSAValue, ValueMap] | None = None,
    ):
        """`sizes` holds the kernel's arguments for named dimensions.

        `moved` maps variables of the body to expressions over the block's variables.
        """
        self._values = values
        self._buffers = buffers
        self._sizes = sizes
        self._moved: Mapping[SSAValue, ValueMap] = {} if moved is None else moved

    def value(self, old: SSAValue) -> SSAValue:
        """Returns the block's value for a scalar of the body."""
        return self._values.get(old, old)

    def copy(self, source: Block, target: Block) -> list[SSAValue]:
        """Appends the ops of `source` to `target`; returns the values that the source yields."""
        for op in source.ops:
            if isinstance(op, YieldOp):
                return [self.value(value) for value in op.values]
            result = self._lower(op, target)
            result.name_hint = op.results[0].name_hint
            self._values[op.results[0]] = result
        parent = source.parent_op()
        raise LoweringError("a body does not end in topi.yield", location=describe_location(parent) if parent else None)

    def _lower(self, op: Operation, target: Block) -> SSAValue:
        match op:
            case ReadOp():
                buffer = self._buffers.get(op.tensor)
                if buffer is None:
                    raise LoweringError("topi.read of a tensor without a buffer", location=describe_location(op))
                return _add(target, LoadOp(buffer, self._index(op.index)))
            case IndexOp():
                return self._computed(self._index(op.index), target)
            case InBoundsOp():
                return self._in_bounds(op, target)
            case GuardOp():
                return self._guard(op, target)
            case TopiCheckedIndexOp():
                return _add(
                    target, CheckedIndexOp(self.value(op.index), self._sizes.value(op.extent), from_end=op.from_end)
                )
            case _ if op.regions or len(op.results) != 1:
                raise LoweringError(f"'{op.name}' has no meaning in a body", location=describe_location(op))
            case _:
                moved = {o: self._computed(self._moved[o], target) for o in op.operands if o in self._moved}
                return _add(target, copy(op, {**self._values, **moved} if moved else self._values))

    def _index(self, place: IndexMap) -> ValueMap:
        index = self._sizes.lowered(place)
        index = index.substitute(self._moved) if self._moved else index
        return ValueMap.make(index.exprs, [self.value(operand) for operand in index.operands])

    def _computed(self, index: ValueMap, target: Block) -> SSAValue:
        ops: list[Operation] = []
        value = compute(index, ops)
        target.add_ops(ops)
        return value

    def _in_bounds(self, op: InBoundsOp, target: Block) -> SSAValue:
        """Emits an unsigned comparison for each index that may be out of range: negative numbers compare as large."""
        inside: SSAValue | None = None
        place = op.index
        for number, size in enumerate(op.limits):
            if is_inside(place[number], size):
                continue
            index = self._computed(self._index(place[number]), target)
            limit = self._sizes.value(size)
            if isinstance(limit, int):
                limit = _add(target, arith.ConstantOp(IntegerAttr.from_index_int_value(limit)))
            holds = _add(target, CmpiOp(index, limit, "ult"))
            inside = holds if inside is None else _add(target, arith.AndIOp(inside, holds))
        return inside if inside is not None else _add(target, arith.ConstantOp(IntegerAttr(1, i1)))

    def _guard(self, op: GuardOp, target: Block) -> SSAValue:
        then_region, else_region = self._region(op.then_region), self._region(op.else_region)
        return _add(target, scf.IfOp(self.value(op.condition), [op.value.type], then_region, else_region))

    def _region(self, source: Region) -> Region:
        block = Block()
        yielded = self.copy(source.block, block)
        block.add_op(scf.YieldOp(*yielded))
        return Region(block)


def _add(block: Block, op: Operation) -> SSAValue:
    block.add_op(op)
    return op.results[0]
