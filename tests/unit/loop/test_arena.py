"""Offsets in the arena: requests that are live at the same step do not overlap, and space is reused."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.work import growth

from xrelay.passes.loop.memory.arena import ArenaPlan, Lifetime, Region, Request, Unit, assign_offsets, plan_regions


@st.composite
def lifetimes(draw: st.DrawFn) -> Lifetime:
    first = draw(st.integers(0, 30))
    return Lifetime(draw(st.integers(0, 500)), first, first + draw(st.integers(0, 12)))


def overlaps(lives: list[Lifetime], plan: ArenaPlan) -> list[tuple[int, int]]:
    """Pairs of requests that are live together and overlap."""
    found: list[tuple[int, int]] = []
    for i, a in enumerate(lives):
        for j, b in enumerate(lives[:i]):
            together = a.first <= b.last and b.first <= a.last
            apart = plan.offsets[i] + a.size <= plan.offsets[j] or plan.offsets[j] + b.size <= plan.offsets[i]
            if together and not apart and a.size and b.size:
                found.append((j, i))
    return found


@given(st.lists(lifetimes(), max_size=40), st.sampled_from([1, 16, 64]))
def test_requests_alive_together_never_overlap(lives: list[Lifetime], alignment: int):
    plan = assign_offsets(lives, alignment)
    assert overlaps(lives, plan) == []
    assert all(offset % alignment == 0 for offset in plan.offsets)
    assert all(offset + life.size <= plan.size for offset, life in zip(plan.offsets, lives, strict=True))
    assert plan.size <= sum(-(-life.size // alignment) * alignment for life in lives)


@given(st.lists(lifetimes(), max_size=40))
def test_arena_is_at_least_what_is_alive_at_once(lives: list[Lifetime]):
    alive = [sum(life.size for life in lives if life.first <= step <= life.last) for step in range(45)]
    assert assign_offsets(lives, 1).size >= max(alive)


def test_chain_needs_two_places():
    lives = [Lifetime(1000, step, step + 1) for step in range(100)]
    assert assign_offsets(lives).size == 2 * 1024


def test_smallest_range_that_holds_it_is_taken():
    lives = [Lifetime(640, 0, 0), Lifetime(256, 0, 2), Lifetime(128, 0, 0), Lifetime(64, 0, 2), Lifetime(128, 1, 2)]
    plan = assign_offsets(lives)
    assert plan.offsets[4] == plan.offsets[2] == 640 + 256


def test_neighbours_are_merged():
    lives = [Lifetime(64, 0, 0), Lifetime(64, 0, 0), Lifetime(64, 0, 0), Lifetime(192, 1, 1)]
    assert assign_offsets(lives).size == 192


def test_last_free_range_grows():
    assert assign_offsets([Lifetime(64, 0, 1), Lifetime(64, 0, 0), Lifetime(128, 1, 1)]).size == 192


def test_nothing_to_place():
    assert assign_offsets([]) == ArenaPlan((), 0)
    assert assign_offsets([Lifetime(0, 0, 5)]) == ArenaPlan((0,), 0)


@pytest.mark.parametrize("reach", [2, 20_000])
def test_work_is_near_linear(reach: int):
    """Ten times the buffers must cost far less than a hundred times the work."""

    def assign(count: int) -> Callable[[], ArenaPlan]:
        lives = [Lifetime(64 + i % 97, i, i + i % reach) for i in range(count)]
        return lambda: assign_offsets(lives)

    assert growth(assign, 1000, 10) < 20
    assert len(assign(20_000)().offsets) == 20_000


# --- sizes that are known only at run time

N, M, ONE = (Unit((), grain) for grain in (1, 2, 3))
"""Three units, which stand for different products of extents."""


@st.composite
def requests(draw: st.DrawFn) -> Request:
    first = draw(st.integers(0, 20))
    size, unit = draw(st.integers(0, 500)), draw(st.sampled_from((N, M, ONE)))
    return Request(size, first, first + draw(st.integers(0, 8)), unit, grain=64)


def ranges(wanted: list[Request], units: dict[Unit, int]) -> tuple[list[int], int]:
    """The offset of each request for these units, and the size of the arena."""
    regions, places = plan_regions(wanted)
    begins: list[int] = []
    end = 0
    for slot in range(len({region.slot for region in regions})):
        begins.append(end)
        end += max(region.size * units[region.unit] for region in regions if region.slot == slot)
    found: list[tuple[Region, int]] = [(regions[number], offset) for number, offset in places]
    return [begins[region.slot] + offset * units[region.unit] for region, offset in found], end


@given(st.lists(requests(), max_size=30), st.integers(0, 9), st.integers(0, 9))
def test_requests_with_units_never_overlap(wanted: list[Request], n: int, m: int) -> None:
    units = {N: n, M: m, ONE: 1}
    begins, end = ranges(wanted, units)
    sizes = [request.size * units[request.unit] for request in wanted]
    assert all(begin + size <= end for begin, size in zip(begins, sizes, strict=True))
    for i, a in enumerate(wanted):
        for j, b in enumerate(wanted[:i]):
            together = a.first <= b.last and b.first <= a.last and sizes[i] and sizes[j]
            assert not together or begins[i] + sizes[i] <= begins[j] or begins[j] + sizes[j] <= begins[i]


def test_one_unit_is_planned_as_known_sizes_are() -> None:
    regions, _ = plan_regions([Request(1024, step, step + 1, N, grain=64) for step in range(100)])
    assert [(region.size, region.slot) for region in regions] == [(2048, 0)]


def test_regions_that_do_not_meet_share_a_slot() -> None:
    regions, _ = plan_regions([Request(64, 0, 2, N), Request(64, 1, 4, M), Request(64, 3, 5, ONE)])
    assert [region.slot for region in regions] == [0, 1, 0]
