"""Regions of an arena with dynamic sizes: requests that are live together never overlap, for any sizes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from xrelay.passes.loop.memory.arena import RegionPlan, Request, plan_regions

UNITS = ("n", "m", "")


@st.composite
def requests(draw: st.DrawFn) -> Request[str]:
    first = draw(st.integers(0, 20))
    size, unit = draw(st.integers(0, 500)), draw(st.sampled_from(UNITS))
    return Request(unit, size, first, first + draw(st.integers(0, 8)), grain=64)


def places(plan: RegionPlan[str], units: dict[str, int]) -> tuple[list[int], int]:
    """The offset of each request for these units, and the size of the arena."""
    begins: list[int] = []
    end = 0
    for regions in plan.slots:
        begins.append(end)
        end += max(region.size * units[region.unit] for region in regions)
    regions = [plan.regions[number] for number, _ in plan.places]
    offsets = [offset for _, offset in plan.places]
    return [begins[r.slot] + offset * units[r.unit] for r, offset in zip(regions, offsets, strict=True)], end


@given(st.lists(requests(), max_size=30), st.fixed_dictionaries({"n": st.integers(0, 9), "m": st.integers(0, 9)}))
def test_requests_alive_together_never_overlap(wanted: list[Request[str]], named: dict[str, int]) -> None:
    units = {**named, "": 1}
    begins, end = places(plan_regions(wanted), units)
    sizes = [request.size * units[request.unit] for request in wanted]
    assert all(begin + size <= end for begin, size in zip(begins, sizes, strict=True))
    for i, a in enumerate(wanted):
        for j, b in enumerate(wanted[:i]):
            together = a.first <= b.last and b.first <= a.last and sizes[i] and sizes[j]
            assert not together or begins[i] + sizes[i] <= begins[j] or begins[j] + sizes[j] <= begins[i]


def test_one_unit_is_planned_as_known_sizes_are() -> None:
    chain = [Request("n", 1024, step, step + 1, grain=64) for step in range(100)]
    plan = plan_regions(chain)
    assert [(region.size, region.slot) for region in plan.regions] == [(2048, 0)]


def test_regions_that_do_not_meet_share_a_slot() -> None:
    plan = plan_regions([Request("n", 64, 0, 2), Request("m", 64, 1, 4), Request("", 64, 3, 5)])
    assert [region.slot for region in plan.regions] == [0, 1, 0]
