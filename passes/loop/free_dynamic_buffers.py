"""Frees dynamic buffers: buffers of a graph function outside of its arena, each after its last use.

A dynamic buffer is owned by the block that allocates it. The operands of `scf.yield`, `scf.condition` and
`func.return`, and the initial operands of an `scf.while`, transfer ownership. Buffers that are results of `scf.if`,
`scf.while` or `func.call` are therefore owned by the block of the op, and those that are region arguments by the
region. A buffer that an op deallocates explicitly must be deallocated on all paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.loop.lifetimes import GIVERS, roots_of


def free_dynamic_buffers(function: func.FuncOp, allocs: Iterable[memref.AllocOp]) -> None:
    """Adds a `memref.dealloc` for each of `allocs` and each buffer from a call or an op of scf, unless it is freed.

    Before → after:

    ```
    %t = memref.alloc(%k) : memref<?xf32>         %t = memref.alloc(%k) : memref<?xf32>
    func.call @k(%x, %t, %k) : …              →   func.call @k(%x, %t, %k) : …
    func.call @l(%t, %y, %k) : …                  func.call @l(%t, %y, %k) : …
                                                  memref.dealloc %t : memref<?xf32>
    ```

    Buffers whose ownership is transferred are not freed.
    """
    block = function.body.block
    buffers = [*(alloc.memref for alloc in allocs), *_given(block)]
    last = _last_uses(block, buffers)
    for buffer in buffers:
        if buffer not in last:
            continue
        user = last[buffer]
        free = memref.DeallocOp.get(buffer)
        if user is not None:
            free.location = user.location
        Rewriter.insert_op(free, InsertPoint.at_start(_block_of(buffer)) if user is None else InsertPoint.after(user))


def _given(block: Block) -> Iterator[SSAValue]:
    """Yields the buffers among the results of calls, and among the results and arguments of ops of scf."""
    for op in block.ops:
        for inner in walk_ops(op):
            if isinstance(inner, scf.IfOp | scf.WhileOp | func.CallOp):
                arguments = [arg for region in inner.regions for each in region.blocks for arg in each.args]
                yield from (value for value in (*inner.results, *arguments) if isinstance(value.type, MemRefType))


def _last_uses(block: Block, buffers: Iterable[SSAValue]) -> dict[SSAValue, Operation | None]:
    """Maps each buffer that is not freed or transferred to the last op of its block that uses it.

    For an unused buffer this is its defining op, or `None` for an argument.
    """
    last: dict[SSAValue, Operation | None] = {
        buffer: buffer.owner if isinstance(buffer.owner, Operation) else None for buffer in buffers
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
                    last[root] = _in_block(inner, _block_of(root))
    return last


def _block_of(buffer: SSAValue) -> Block:
    """The block that owns a buffer."""
    home = buffer.owner if isinstance(buffer.owner, Block) else buffer.owner.parent
    assert home is not None, "a buffer belongs to a block"
    return home


def _in_block(op: Operation, block: Block) -> Operation:
    """The ancestor of `op` in `block`, or `op` itself."""
    while op.parent is not block and (around := op.parent_op()) is not None:
        op = around
    return op
