"""Splitting a block does not count the others, so the cost of functions with many branches is linear in their ops."""

from __future__ import annotations

from itertools import pairwise

import pytest
from support.work import executed_lines
from xdsl.dialects import cf, func, test
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Block, Operation, Region

from xrelay.lowering.to_llvm.convert_func_to_llvm import convert_functions
from xrelay.lowering.to_llvm.ops import split_before


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_rest_stands_right_behind(place: int) -> None:
    ops = [test.TestOp() for _ in range(3)]
    first, last = Block(ops), Block([test.TestOp()])
    region = Region([first, last])
    rest = split_before(ops[place])
    assert list(region.blocks) == [first, rest, last]
    assert (list(first.ops), list(rest.ops)) == (ops[:place], ops[place:])


def test_a_last_block_is_split() -> None:
    op, block = test.TestOp(), Block()
    block.add_op(op)
    region = Region(block)
    rest = split_before(op)
    assert list(region.blocks) == [block, rest]


def calling(count: int) -> ModuleOp:
    """A function with consecutive blocks that each call a kernel."""
    kernel = func.FuncOp("k", FunctionType.from_lists([], []), Region(), "private")
    blocks = [Block([func.CallOp("k", [], [])]) for _ in range(count)]
    for block, following in pairwise(blocks):
        block.add_op(cf.BranchOp(following))
    blocks[-1].add_op(func.ReturnOp())
    main = func.FuncOp("f", FunctionType.from_lists([], []), Region(blocks))
    return ModuleOp(list[Operation]([kernel, main]))


def test_ten_times_the_branches_cost_about_ten_times_the_work() -> None:
    small, large = calling(30), calling(300)
    fewer, more = (executed_lines(lambda each=each: convert_functions(each), "xdsl") for each in (small, large))
    assert more / fewer < 12
