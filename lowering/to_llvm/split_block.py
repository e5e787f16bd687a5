"""Splitting of blocks, in time that does not grow with the number of blocks in the region."""

from __future__ import annotations

from xdsl.ir import Block, Operation


def split_before(op: Operation) -> Block:
    """Moves `op` and what follows it to a new block right behind its own, which is left without a terminator.

    `Block.split_before` of xDSL counts the blocks before it, so a function of many blocks costs their square.
    """
    block = op.parent_block()
    region = None if block is None else block.parent_region()
    assert block is not None, "the op stands in a block"
    assert region is not None, "its block stands in a region"
    rest = Block()
    region.insert_block_after(rest, block)
    following: Operation | None = op
    while following is not None:
        moved, following = following, following.next_op
        moved.detach()
        rest.add_op(moved)
    return rest
