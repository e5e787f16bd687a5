"""`loop-plan-memory` on modules: buffers that are live together never overlap, and its statistics."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.work import growth
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import MemRefType, ModuleOp, f32
from xdsl.ir import Block, Region

from xrelay.errors import PassError
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.loop.memory.plan_memory import MemoryStatistics, plan_memory


def program(sizes: list[int], calls: list[tuple[int, int]]) -> ModuleOp:
    """`@main` with one buffer of each size, and a call of one kernel for each pair of buffers."""
    block = Block()
    buffers = [memref.AllocOp([], [], MemRefType(f32, [size])) for size in sizes]
    for number, op in enumerate(buffers):
        op.memref.name_hint = f"b{number}"
    block.add_ops(buffers)
    for source, target in calls:
        block.add_op(func.CallOp("k", [buffers[source].memref, buffers[target].memref], []))
    block.add_op(func.ReturnOp())
    return ModuleOp([func.FuncOp("main", ((), ()), Region(block))])


def conflicts(statistics: MemoryStatistics) -> list[tuple[str, str]]:
    """Pairs of buffers that are live at one step and overlap."""
    found: list[tuple[str, str]] = []
    for number, a in enumerate(statistics.buffers):
        for b in statistics.buffers[:number]:
            alive = a.first <= b.last and b.first <= a.last
            if alive and a.offset < b.offset + b.size and b.offset < a.offset + a.size:
                found.append((b.name, a.name))
    return found


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, int]]]:
    sizes = draw(st.lists(st.integers(1, 300), min_size=1, max_size=20))
    buffer = st.integers(0, len(sizes) - 1)
    return sizes, draw(st.lists(st.tuples(buffer, buffer), max_size=30))


@given(programs())
def test_buffers_alive_together_never_overlap(case: tuple[list[int], list[tuple[int, int]]]):
    sizes, calls = case
    statistics = plan_memory(program(sizes, calls))
    assert conflicts(statistics) == []
    assert statistics.total_size == 4 * sum(sizes)
    used = {n for call in calls for n in call}
    for step_source, step_target in calls:
        named = {b.name: b for b in statistics.buffers}
        assert named[f"b{step_source}"].first <= named[f"b{step_target}"].last
    assert all(b.last >= b.first for b in statistics.buffers)
    assert len(statistics.buffers) == len(sizes) >= len(used)


def test_statistics_say_what_was_saved():
    statistics = plan_memory(program([100] * 10, [(n, n + 1) for n in range(9)]))
    assert (statistics.total_size, statistics.arena_size, statistics.unplanned) == (4000, 2 * 448, 0)
    lines = statistics.table().splitlines()
    assert len(lines) == 11
    assert "b0 : memref<100xf32>" in lines[0]
    assert lines[-1] == "10 buffers, 4000 bytes in an arena of 896 bytes (22%); 0 not planned"


def test_alignment_is_an_option():
    assert plan_memory(program([1, 1], [(0, 1)]), alignment=256).arena_size == 512
    with pytest.raises(PassError, match="alignment is 48, it must be a power of two"):
        plan_memory(program([1], []), alignment=48)


def test_module_without_main_is_left_alone():
    text = "func.func @f() {\n  %t = memref.alloc() : memref<4xf32>\n  func.return\n}"
    module = parse_module(full_context(), text, "f.mlir")
    before = str(module)
    assert plan_memory(module) == MemoryStatistics((), 0, 0)
    assert str(module) == before


def test_main_must_be_straight_line_code():
    text = "func.func @main() {\n  cf.br ^next\n^next:\n  func.return\n}"
    with pytest.raises(PassError, match="@main has 2 blocks"):
        plan_memory(parse_module(full_context(), text, "f.mlir"))


def test_the_arena_has_at_most_as_many_bytes_as_can_be_addressed():
    with pytest.raises(PassError, match="need 9223372036854775808 bytes, an arena can have 9223372036854775807"):
        plan_memory(program([2**60, 2**60], [(0, 1)]))


def test_work_grows_with_the_program():
    """Ten times the calls must cost far less than a hundred times the work."""

    def plan(count: int) -> Callable[[], MemoryStatistics]:
        module = program([16 + n % 50 for n in range(count)], [(n, n + 1) for n in range(count - 1)])
        return lambda: plan_memory(module)

    assert growth(plan, 200, 10) < 15
