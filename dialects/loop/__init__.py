"""loop: explicit loop nests on buffers, and schedules as data.

A kernel is a `func.func private @k(inputs…, outputs…) attributes {loop.kernel, loop.num_outputs = n}` on memrefs.
Intermediate buffers are `memref.alloc`s; private ones have the memory space `"local"`. Bodies of blocks compute with
`arith` and `math`; a read that may be out of bounds is inside a `scf.if`.
"""

from xdsl.ir import Dialect

from xrelay.dialects.loop.access_ops import CheckedIndexOp, LoadOp, StoreOp, WeightOp
from xrelay.dialects.loop.base import IterKind, IterKindAttr, LoopKind, LoopKindAttr, Tail, TailAttr
from xrelay.dialects.loop.block_op import DYNAMIC, BlockOp, IterVar
from xrelay.dialects.loop.for_op import ForOp
from xrelay.dialects.loop.list_ops import LIST_OPS, LIST_PART_OPS, ListType
from xrelay.dialects.loop.row_ops import RowOp, SortOp, SuppressOp
from xrelay.dialects.loop.schedule import ScheduleAttr, SchedulePrimitive
from xrelay.dialects.loop.subview_op import SubviewOp
from xrelay.dialects.loop.verify import verify_access, verify_block, verify_for, verify_sort, verify_suppress
from xrelay.index_algebra.value_map import ValueMap

LOOP = Dialect(
    "loop",
    [
        ForOp,
        BlockOp,
        CheckedIndexOp,
        LoadOp,
        SortOp,
        StoreOp,
        SubviewOp,
        SuppressOp,
        WeightOp,
        *LIST_OPS,
        *LIST_PART_OPS,
    ],
    [LoopKindAttr, TailAttr, IterKindAttr, ScheduleAttr, ListType],
)  # fmt: skip
"""The dialect, registered in `xrelay.dialects.ALL_DIALECTS`."""

LOCAL = "local"
"""The memory space of a buffer that is private to one iteration of an enclosing loop; it becomes registers."""

__all__ = [
    "DYNAMIC", "LOCAL", "LOOP", "BlockOp", "CheckedIndexOp", "ForOp", "IterKind", "IterKindAttr", "IterVar",
    "ListType", "LoadOp", "LoopKind", "LoopKindAttr", "RowOp", "ScheduleAttr", "SchedulePrimitive", "SortOp", "StoreOp",
    "SubviewOp", "SuppressOp", "Tail", "TailAttr", "ValueMap", "WeightOp", "verify_access", "verify_block",
    "verify_for", "verify_sort", "verify_suppress",
]  # fmt: skip
