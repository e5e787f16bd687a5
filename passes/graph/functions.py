"""Functions of the graph and the blocks in them.

A function of the graph holds ops that passes may rewrite and fuse. A kernel, marked `relay.primitive`, is
finished work, and so is a function at a lower level, whatever it is marked.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.shared.levels import level_of
from xrelay.passes.graph.effects import is_pure
from xrelay.passes.infra.verify import walk_ops


def is_graph(function: FuncOp) -> bool:
    """Whether the body of a function is an expression: one block of ops whose order nothing but values decides.

    At lower levels it is not: their ops write to buffers, or have regions of another meaning.
    """
    return len(function.body.blocks) == 1 and all(op is function or _is_expression(op) for op in walk_ops(function))


def _is_expression(op: Operation) -> bool:
    return level_of(op) in ("relay", "func") or (not op.regions and is_pure(op))


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
