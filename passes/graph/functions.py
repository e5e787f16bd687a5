"""Functions of the graph and their blocks.

A function of the graph contains ops that passes may rewrite and fuse. Kernels, marked `relay.primitive`, and functions
at lower levels, with or without the mark, are finished and stay as they are.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.shared.levels import level_of
from xrelay.passes.graph.effects import is_pure
from xrelay.passes.infra.verify import walk_ops


def is_graph(function: FuncOp) -> bool:
    """Whether the body of a function is an expression: one block of ops that only values put in order.

    At lower levels it is not an expression: ops write to buffers, or have regions of another meaning.
    """
    return len(function.body.blocks) == 1 and all(op is function or _is_expression(op) for op in walk_ops(function))


def _is_expression(op: Operation) -> bool:
    return level_of(op) in ("relay", "func") or (not op.regions and is_pure(op))


def fusable_blocks(function: FuncOp) -> list[Block]:
    """Returns the blocks of a function whose ops may be fused: its body and regions, except regions of groups."""
    blocks: list[Block] = []
    pending = list(function.body.blocks)
    while pending:
        block = pending.pop()
        blocks.append(block)
        for op in block.ops:
            if op.regions and not isinstance(op, FusedOp):
                pending.extend(inner for region in op.regions for inner in region.blocks)
    return blocks
