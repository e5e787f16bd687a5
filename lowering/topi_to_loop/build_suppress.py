"""Construction of the nest of a `topi.suppress`: loops over batches and classes around one `loop.block`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.loop import BlockOp
from xrelay.dialects.loop import SuppressOp as LoopSuppressOp
from xrelay.dialects.loop.suppress_op import room_shape
from xrelay.dialects.topi import SuppressOp
from xrelay.dialects.topi.shapes import shape_of
from xrelay.lowering.topi_to_loop.build_nest import NestNames
from xrelay.lowering.topi_to_loop.build_sort import rows_nest
from xrelay.lowering.topi_to_loop.kernel_extents import KernelExtents


def build_suppress(
    op: SuppressOp, reads: Sequence[SSAValue], kept: SSAValue, names: NestNames, sizes: KernelExtents
) -> list[Operation]:
    """Returns the scratch buffer and the nest that selects boxes from the memrefs `reads` into the memref `kept`."""
    shape = shape_of(op.order)
    if 0 in shape:
        return []
    room = sizes.alloc(
        SSAValue.get(reads[0], type=MemRefType).type.element_type, room_shape(shape, shape_of(op.sides)[1])
    )
    room.memref.name_hint, room.location = "selected_sides", op.location

    def fill(block: BlockOp) -> None:
        block.body.block.add_op(LoopSuppressOp(block.variables, reads, kept, room.memref))

    return [
        room,
        rows_nest("suppress", shape[:2], list(dict.fromkeys(reads)), [kept, room.memref], fill, op, names, sizes),
    ]
