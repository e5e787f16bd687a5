"""`memref-hoist-allocations`: hoists buffers that every iteration of a loop allocates out of the loop."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.shared.attribute_names import LOOP_KERNEL, PART_OF_KERNEL
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass


@dataclass(frozen=True)
class MemrefHoistAllocationsPass(XRelayPass):
    """Moves `memref.alloc` before the loops of a kernel, and its `memref.dealloc` after them.

    ```
    scf.for %i = %0 to %n step %1 {           →    %b = memref.alloc(%m) : memref<?xf32>
      %b = memref.alloc(%m) : memref<?xf32>        scf.for %i = %0 to %n step %1 {
      …                                              …
      memref.dealloc %b                            }
    }                                              memref.dealloc %b
    ```

    A buffer for a row of dynamic length cannot be on the stack, and a heap allocation takes longer than the computation
    of a short row. The initial contents of the buffer in an iteration change from undefined to those of the previous
    iteration. The pass runs after `convert-scf-parallel-to-calls`, so that each piece of a parallel loop has its own
    buffer. Buffers with sizes computed in the loop, buffers that are not allocated and freed in every iteration, and
    functions that are neither kernels nor parts of one stay unchanged.
    """

    name = "memref-hoist-allocations"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Moves the allocations of a module's kernels in place."""
        for function in op.ops:
            if isinstance(function, func.FuncOp) and not {LOOP_KERNEL, PART_OF_KERNEL}.isdisjoint(function.attributes):
                if not ops_of(function, memref.AllocOp):
                    continue
                for loop in reversed(ops_of(function, scf.ForOp)):
                    _hoist(loop)


def _hoist(loop: scf.ForOp) -> None:
    """Moves the allocations of one loop that can be moved."""
    for op in list(loop.body.block.ops):
        if type(op) is not memref.AllocOp or any(_is_defined_in(size, loop) for size in op.operands):
            continue
        freed = [use.operation for use in op.memref.uses if isinstance(use.operation, memref.DeallocOp)]
        if len(freed) == 1 and freed[0].parent is loop.body.block:
            for moved, point in ((op, InsertPoint.before(loop)), (freed[0], InsertPoint.after(loop))):
                moved.detach()
                Rewriter.insert_op(moved, point)


def _is_defined_in(value: SSAValue, loop: scf.ForOp) -> bool:
    owner = value.owner
    point = owner if isinstance(owner, Operation) else owner.parent_op()
    return point is not None and loop.is_ancestor(point)
