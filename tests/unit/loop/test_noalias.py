"""`mark_noalias`: overlapping parts of one buffer are not marked, and the work is linear in the number of parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.work import growth
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, MemRefType, ModuleOp, f32
from xdsl.ir import Block, Region, SSAValue

from xrelay.dialects.loop import SubviewOp
from xrelay.dialects.shared.attribute_names import NOALIAS
from xrelay.passes.loop.memory.noalias import mark_noalias
from xrelay.passes.loop.signature import argument_attrs

Range = tuple[int, int]
"""The first element of a part and the one after its last; multiples of `%n` if the source is dynamic."""


def marked(ranges: Sequence[Range], is_dynamic: bool = False) -> Callable[[], list[bool]]:
    """Marks a kernel whose call passes these parts of one buffer; returns which arguments are marked."""
    whole = MemRefType(f32, [DYNAMIC_INDEX, DYNAMIC_INDEX] if is_dynamic else [100_000])
    block = Block(arg_types=[whole, IndexType()])
    parts: list[SSAValue] = []
    for first, end in ranges:
        number = arith.ConstantOp(IntegerAttr(first, IndexType()))
        offset = arith.MuliOp(number.result, block.args[1])
        shape = [end - first, DYNAMIC_INDEX] if is_dynamic else [end - first]
        sizes, begin = ([block.args[1]], offset.result) if is_dynamic else ([], number.result)
        part = SubviewOp(block.args[0], begin, sizes, MemRefType(f32, shape))
        block.add_ops([number, *([offset] if is_dynamic else []), part])
        parts.append(part.result)
    call = func.CallOp("k", parts, [])
    block.add_ops([call, func.ReturnOp()])
    main = func.FuncOp("main", (block.arg_types, ()), Region(block))
    kernel = func.FuncOp("k", ([part.type for part in parts], ()), Region(), "private")
    module = ModuleOp([main, kernel])

    def mark() -> list[bool]:
        assert module.body.block.first_op is main
        mark_noalias({"k": kernel}, {"k": [call]}, main)
        return [NOALIAS in attrs for attrs in argument_attrs(kernel)]

    return mark


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 6)), min_size=1, max_size=6))
def test_parts_are_marked_that_overlap_no_other(spans: list[tuple[int, int]]) -> None:
    ranges = [(first, first + size) for first, size in spans]
    expected = [
        all(number == other or first >= stop or start >= end for other, (start, stop) in enumerate(ranges))
        for number, (first, end) in enumerate(ranges)
    ]
    assert marked(ranges)() == expected


@pytest.mark.parametrize("is_dynamic", [False, True])
@pytest.mark.parametrize(("ranges", "expected"), [([(0, 2), (2, 5), (5, 6)], True), ([(0, 3), (0, 3)], False)])
def test_ranges_may_be_multiples_of_an_extent(ranges: list[Range], expected: bool, is_dynamic: bool) -> None:
    assert marked(ranges, is_dynamic)() == [expected] * len(ranges)


@pytest.mark.parametrize("is_dynamic", [False, True])
def test_work_grows_with_the_parts(is_dynamic: bool) -> None:
    def mark(size: int) -> Callable[[], object]:
        first = size * 100  # other numbers for each size, since the forms of equal offsets are computed once
        return marked([(at, at + 1) for at in range(first, first + size)], is_dynamic)

    assert growth(mark, 20, 10) < 12.0
