"""`memref-hoist-allocations`: buffers that every iteration of a loop allocates anew are allocated once, before it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.shared.attribute_names import LOOP_KERNEL, PART_OF_KERNEL
from xrelay.dialects.shared.op_lists import ops_of


@dataclass(frozen=True)
class MemrefHoistAllocationsPass(ModulePass):
    """Moves `memref.alloc` in front of the loops of a kernel, and its `memref.dealloc` behind them.

    ```
    scf.for %i = %0 to %n step %1 {           →    %b = memref.alloc(%m) : memref<?xf32>
      %b = memref.alloc(%m) : memref<?xf32>        scf.for %i = %0 to %n step %1 {
      …                                              …
      memref.dealloc %b                            }
    }                                              memref.dealloc %b
    ```

    A buffer of a row whose length only a run tells is no array on the stack, and a heap takes longer to give it than a
    short row takes to compute. What an iteration finds in the buffer was undefined, and is now what the one before left
    there. It follows `convert-scf-parallel-to-calls`, so that each piece of a parallel loop has a buffer of its own.
    Left alone are buffers whose sizes the loop computes, those that are not allocated and freed whenever its body
    runs, and all functions that are neither kernels nor parts of one.
    """

    name = "memref-hoist-allocations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Moves the allocations of a module's kernels in place."""
        for function in op.ops:
            if isinstance(function, func.FuncOp) and not {LOOP_KERNEL, PART_OF_KERNEL}.isdisjoint(function.attributes):
                if not ops_of(function, memref.AllocOp):
                    continue
                for loop in reversed(ops_of(function, scf.ForOp)):
                    _hoist(loop)


def _hoist(loop: scf.ForOp) -> None:
    """Moves what can be moved out of one loop."""
    for op in list(loop.body.block.ops):
        if type(op) is not memref.AllocOp or any(_stands_in(size, loop) for size in op.operands):
            continue
        freed = [use.operation for use in op.memref.uses if isinstance(use.operation, memref.DeallocOp)]
        if len(freed) == 1 and freed[0].parent is loop.body.block:
            for moved, place in ((op, InsertPoint.before(loop)), (freed[0], InsertPoint.after(loop))):
                moved.detach()
                Rewriter.insert_op(moved, place)


def _stands_in(value: SSAValue, loop: scf.ForOp) -> bool:
    owner = value.owner
    place = owner if isinstance(owner, Operation) else owner.parent_op()
    return place is not None and loop.is_ancestor(place)
