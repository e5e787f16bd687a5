"""`GraphBuilder` erases the ops of a node whose conversion fails."""

from __future__ import annotations

import onnx
from xdsl.dialects.test import TestOp
from xdsl.ir import Block, Region

from xrelay.frontend.onnx.graph import GraphBuilder


def test_a_block_that_moved_into_another_is_erased_with_it() -> None:
    builder = GraphBuilder(Block(), onnx.GraphProto(), "model", {"": 20})
    moved, around = Block(), Block()
    builder.inner(moved).insert(TestOp(), "inside")
    builder.inner(around).insert(TestOp(regions=[Region(moved)]), "around")
    kept = builder.insert(TestOp(), "kept")
    builder.insert(TestOp(), "undone")
    builder.undo(kept, 0)
    assert list(builder.block.ops) == [kept]
    assert not list(around.ops)
    assert not builder.blocks
