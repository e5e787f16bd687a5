"""The blocks of a function as a tree: which block lies in which, and where several meet."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from xrelay.passes.relay.fuse_ops import fusable_blocks


class Scopes:
    """The blocks of `function` in which ops are placed: its body, branches and closures, not the inside of groups."""

    def __init__(self, function: FuncOp):
        self.depths: dict[Block, int] = {}
        """How many blocks of the function each of its blocks lies in, outer blocks first."""
        for block in fusable_blocks(function):
            around = enclosing(block)
            self.depths[block] = 0 if around is None else self.depths.get(around, -1) + 1

    def block_of(self, op: Operation) -> Block:
        """The block in which `op`, or the fused group around it, stands; `ValueError` outside of the function."""
        block = op.parent
        while block is not None and block not in self.depths:
            block = enclosing(block)
        if block is None:
            raise ValueError(f"{op.name} stands outside of the function")
        return block

    def where_uses_meet(self, op: Operation) -> Block | None:
        """The innermost block that holds all uses of the results of `op`; `None` without a use."""
        target: Block | None = None
        for result in op.results:
            for use in result.uses:
                block = self.block_of(use.operation)
                target = block if target is None else self.common(target, block)
                if target is op.parent:
                    return target
        return target

    def common(self, left: Block, right: Block) -> Block:
        """The innermost block that both blocks are or lie in; `ValueError` for blocks of different functions."""
        while left is not right:
            if self.depths[left] < self.depths[right]:
                left, right = right, left
            around = enclosing(left)
            if around is None:
                raise ValueError("blocks of different functions")
            left = around
        return left


def enclosing(block: Block) -> Block | None:
    """The block that holds the op around `block`."""
    op = block.parent_op()
    return op.parent if op is not None else None
