"""Boxes: buffers of a graph function that no arena holds, each freed behind its last use.

A box belongs to the block in which it is allocated. What a block gives away belongs to who gets it: the operands of
`scf.yield`, `scf.condition` and `func.return`, and those with which an `scf.while` begins. So the results of `scf.if`,
`scf.while` and `func.call` that are buffers are boxes of the block in which these stand, and the arguments of regions
are boxes of the region. Who frees a box by an op of its own takes care of it on all ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.loop.lifetimes import GIVERS, roots_of


def free_boxes(function: func.FuncOp, allocs: Iterable[memref.AllocOp]) -> None:
    """Adds a `memref.dealloc` for each of `allocs` and for each box that ops of scf give, which nobody frees yet.

    Before → after:

    ```
    %t = memref.alloc(%k) : memref<?xf32>         %t = memref.alloc(%k) : memref<?xf32>
    func.call @k(%x, %t, %k) : …              →   func.call @k(%x, %t, %k) : …
    func.call @l(%t, %y, %k) : …                  func.call @l(%t, %y, %k) : …
                                                  memref.dealloc %t : memref<?xf32>
    ```

    What is given away is not freed.
    """
    block = function.body.block
    boxes = [*(alloc.memref for alloc in allocs), *_given(block)]
    last = _last_uses(block, boxes)
    for box in boxes:
        if box not in last:
            continue
        user = last[box]
        free = memref.DeallocOp.get(box)
        if user is not None:
            free.location = user.location
        Rewriter.insert_op(free, InsertPoint.at_start(_home(box)) if user is None else InsertPoint.after(user))


def _given(block: Block) -> Iterator[SSAValue]:
    """The results of calls, and the results and arguments of ops of scf, that are boxes."""
    for op in block.ops:
        for inner in walk_ops(op):
            if isinstance(inner, scf.IfOp | scf.WhileOp | func.CallOp):
                arguments = [arg for region in inner.regions for each in region.blocks for arg in each.args]
                yield from (value for value in (*inner.results, *arguments) if isinstance(value.type, MemRefType))


def _last_uses(block: Block, boxes: Iterable[SSAValue]) -> dict[SSAValue, Operation | None]:
    """For each box that nobody frees or gives away: the last op of its block that uses it.

    That is the op that makes it where none uses it, and `None` for an argument without a use.
    """
    last: dict[SSAValue, Operation | None] = {
        box: box.owner if isinstance(box.owner, Operation) else None for box in boxes
    }
    roots = roots_of(block)
    for op in block.ops:
        for inner in walk_ops(op):
            ends = isinstance(inner, (*GIVERS, memref.DeallocOp))
            for root in (root for operand in inner.operands for root in roots.get(operand, ())):
                if not isinstance(root, SSAValue) or root not in last:
                    continue
                if ends:
                    del last[root]
                else:
                    last[root] = _in_block(inner, _home(root))
    return last


def _home(box: SSAValue) -> Block:
    """The block that a box belongs to."""
    home = box.owner if isinstance(box.owner, Block) else box.owner.parent
    assert home is not None, "a box belongs to a block"
    return home


def _in_block(op: Operation, block: Block) -> Operation:
    """The op of `block` that `op` is, or that it is in."""
    while op.parent is not block and (around := op.parent_op()) is not None:
        op = around
    return op
