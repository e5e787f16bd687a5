"""What index values of a kernel can be: intervals of loop indices and block variables, bounds of accesses."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import BlockArgument, OpResult, SSAValue

from xrelay.dialects.loop.affine_bounds import Interval, bounds
from xrelay.dialects.loop.block_op import DYNAMIC, BlockOp
from xrelay.dialects.loop.for_op import ForOp
from xrelay.dialects.loop.value_map import ValueMap


def loop_of_index(value: SSAValue) -> ForOp | None:
    """The loop whose index `value` is; `None` for any other value."""
    if isinstance(value, BlockArgument) and isinstance(owner := value.block.parent_op(), ForOp):
        return owner
    return None


def interval_of(value: SSAValue) -> Interval | None:
    """The values that an index can have: a loop index, a block variable or a constant; `None` if not known."""
    if isinstance(value, OpResult):
        if isinstance(value.op, arith.ConstantOp) and isinstance(value.op.value, IntegerAttr):
            return value.op.value.value.data, value.op.value.value.data
        return None
    if not isinstance(value, BlockArgument):
        return None
    owner = value.block.parent_op()
    if isinstance(owner, ForOp):
        return None if owner.extent is None else (0, owner.extent - 1)
    position = _position(value, owner) if isinstance(owner, BlockOp) else None
    if not isinstance(owner, BlockOp) or position is None:
        return None
    extent = owner.extents[position]
    return None if extent == DYNAMIC else (0, extent - 1)


def _position(value: BlockArgument, block: BlockOp) -> int | None:
    """Which variable of the block its argument is; `None` where the block is malformed, which it reports itself."""
    count, bindings = len(block.kinds), block.bindings_attr.data
    if not count == len(block.extents) == len(bindings.results) or bindings.num_dims != len(block.binding_operands):
        return None
    positions = range(count) if value.block is block.body.first_block else block.spatial
    return positions[value.index] if value.index < len(positions) else None


def binding_of(value: SSAValue) -> ValueMap | None:
    """The binding of a block variable; `None` for any other value."""
    if not isinstance(value, BlockArgument) or not isinstance(owner := value.block.parent_op(), BlockOp):
        return None
    position = _position(value, owner)
    return None if position is None else owner.bindings[position]


def in_loop_indices(index: ValueMap) -> ValueMap:
    """`index` with block variables replaced by their bindings."""
    bindings = {value: binding for value in index.operands if (binding := binding_of(value)) is not None}
    return index.substitute(bindings).simplified()


def index_bounds(index: ValueMap) -> list[Interval | None]:
    """What each expression can be: by the domains of the block's variables, and by their bindings; the tighter."""
    direct, bound = index, in_loop_indices(index)
    result: list[Interval | None] = []
    for k in range(len(index)):
        ends = [
            interval
            for candidate in (direct, bound)
            if (interval := bounds(candidate.exprs[k], [interval_of(v) for v in candidate.operands])) is not None
        ]
        result.append((max(low for low, _ in ends), min(high for _, high in ends)) if ends else None)
    return result
