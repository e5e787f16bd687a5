"""Functions of the graph and the blocks in them.

A function of the graph holds ops that passes may rewrite and fuse. A kernel, marked `relay.primitive`, is
finished work.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block

from xrelay.dialects.relay.structure.fused import FusedOp


def fusable_blocks(function: FuncOp) -> list[Block]:
    """The blocks of a function whose ops may be fused: its body and regions, not the inside of groups."""
    blocks: list[Block] = []
    pending = list(function.body.blocks)
    while pending:
        block = pending.pop()
        blocks.append(block)
        for op in block.ops:
            if op.regions and not isinstance(op, FusedOp):
                pending.extend(inner for region in op.regions for inner in region.blocks)
    return blocks
