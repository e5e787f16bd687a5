"""`loop-plan-memory` on modules: buffers that are live together never overlap."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.work import growth
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, f32
from xdsl.ir import Block, Region, SSAValue

from xrelay.dialects.shared.op_lists import ops_of
from xrelay.errors import PassError
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.loop.memory.plan_memory import plan_memory


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


def arena_size(module: ModuleOp) -> int:
    (main,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    return SSAValue.get(main.body.block.args[-1], type=MemRefType).type.get_shape()[0]


def places(module: ModuleOp) -> list[tuple[int, int]]:
    """The offset and the size in bytes of each buffer."""
    found: list[tuple[int, int]] = []
    for view in ops_of(module, memref.ViewOp):
        offset = view.byte_shift.owner
        assert isinstance(offset, arith.ConstantOp)
        assert isinstance(offset.value, IntegerAttr)
        found.append((offset.value.value.data, 4 * view.result.type.get_shape()[0]))
    return found


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, int]]]:
    sizes = draw(st.lists(st.integers(1, 300), min_size=1, max_size=20))
    buffer = st.integers(0, len(sizes) - 1)
    return sizes, draw(st.lists(st.tuples(buffer, buffer), max_size=30))


@given(programs())
def test_buffers_alive_together_never_overlap(case: tuple[list[int], list[tuple[int, int]]]):
    sizes, calls = case
    module = program(sizes, calls)
    plan_memory(module)
    found = places(module)
    assert [size for _, size in found] == [4 * size for size in sizes]
    steps = {n: [step for step, call in enumerate(calls) if n in call] for call in calls for n in call}
    for a, b in combinations(steps, 2):
        (begin, size), (other, width) = found[a], found[b]
        alive = steps[a][0] <= steps[b][-1] and steps[b][0] <= steps[a][-1]
        assert not alive or begin + size <= other or other + width <= begin


def test_a_chain_of_calls_needs_two_buffers():
    module = program([100] * 10, [(n, n + 1) for n in range(9)])
    plan_memory(module)
    assert arena_size(module) == 2 * 448


def test_alignment_is_an_option():
    module = program([1, 1], [(0, 1)])
    plan_memory(module, alignment=256)
    assert arena_size(module) == 512
    with pytest.raises(PassError, match="alignment is 48, it must be a power of two"):
        plan_memory(program([1], []), alignment=48)


def test_module_without_main_is_left_alone():
    text = "func.func @f() {\n  %t = memref.alloc() : memref<4xf32>\n  func.return\n}"
    module = parse_module(full_context(), text, "f.mlir")
    before = str(module)
    plan_memory(module)
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

    def plan(count: int) -> Callable[[], None]:
        module = program([16 + n % 50 for n in range(count)], [(n, n + 1) for n in range(count - 1)])
        return lambda: plan_memory(module)

    assert growth(plan, 200, 10) < 15
