"""Splitting of blocks, in time independent of the number of blocks in the region."""

from __future__ import annotations

from xdsl.ir import Block, Operation


def split_before(op: Operation) -> Block:
    """Moves `op` and the ops after it to a new block after its own, which is left without a terminator.

    xDSL's `Block.split_before` counts the blocks before it, which is quadratic for functions with many blocks.
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
