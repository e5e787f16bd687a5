"""Questions about the loops of a function that is written at the scf level: which are parallel, which unrolled."""

from __future__ import annotations

from xdsl.dialects import memref

from xrelay.dialects.loop import ForOp, LoopKind


def holds_unrolled(loop: ForOp) -> bool:
    """Whether a loop inside of `loop` is to be unrolled."""
    return any(isinstance(op, ForOp) and op.kind is LoopKind.UNROLLED for op in loop.body.walk())


def parallel_nest(loop: ForOp) -> list[ForOp]:
    """`loop` and the parallel loops that, one directly inside the other, it holds alone; extents known."""
    nest = [loop]
    while loop.extent is not None:
        inner = loop.body.block.first_op
        if not isinstance(inner, ForOp) or inner is not loop.body.block.last_op or inner.extent is None:
            break
        if inner.kind is not LoopKind.PARALLEL or inner.extent == 0:
            break
        nest.append(inner)
        loop = inner
    return nest


def only_parallel_loop(op: memref.AllocOp) -> ForOp | None:
    """The outermost parallel loop that holds every use of a buffer; None if there is none."""
    found: ForOp | None = None
    for use in op.memref.uses:
        outermost: ForOp | None = None
        parent = use.operation.parent_op()
        while parent is not None and not parent.is_ancestor(op):
            if isinstance(parent, ForOp) and parent.kind is LoopKind.PARALLEL:
                outermost = parent
            parent = parent.parent_op()
        if outermost is None or (found is not None and outermost is not found):
            return None
        found = outermost
    return found
