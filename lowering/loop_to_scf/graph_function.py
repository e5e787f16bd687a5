"""Graph functions with branches and loops: between their calls stand ops of the scf level already."""

from __future__ import annotations

from xdsl.dialects import func, memref
from xdsl.ir import Block, Operation
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.attribute_names import LOOP_KERNEL
from xrelay.dialects.levels import level_of
from xrelay.dialects.upstream.signless import make_scalars_signless


def has_control_flow(function: func.FuncOp) -> bool:
    """Whether `function` calls kernels under conditions, and holds nothing of the loop level."""
    if LOOP_KERNEL in function.attributes or not any(op.regions for op in function.body.block.ops):
        return False
    return not any(level_of(op) == "loop" for op in function.walk())


def finish_graph_function(function: func.FuncOp) -> None:
    """Frees, at the end of its block, each buffer that nobody frees and that no plan has placed."""
    make_scalars_signless(function)
    for op in list(function.walk()):
        if isinstance(op, memref.AllocOp) and not _is_freed(op) and op.parent is not None:
            Rewriter.insert_op(memref.DeallocOp.get(op.memref), InsertPoint.before(_end(op.parent)))


def _is_freed(op: memref.AllocOp) -> bool:
    return any(isinstance(use.operation, memref.DeallocOp) for use in op.memref.uses)


def _end(block: Block) -> Operation:
    """The first op at the end of a block that frees a buffer, or its last: the newest buffers are freed first."""
    assert block.last_op is not None, "a block has a terminator"
    end = block.last_op
    while isinstance(end.prev_op, memref.DeallocOp):
        end = end.prev_op
    return end
