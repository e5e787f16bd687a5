"""The tree agrees with the definition: without a node, nothing external is reached from the nodes it post-dominates."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples

from xrelay.passes.patterns.graph import PostDominators


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    """Users of each node except the last, with greater numbers, and the external nodes."""
    size = draw(st.integers(1, 12))
    users = [sorted(draw(st.sets(st.integers(node + 1, size - 1), min_size=1, max_size=3))) for node in range(size - 1)]
    users.append([])
    return users, [size - 1, *draw(st.lists(st.integers(0, size - 1), max_size=2))]


def reaches_outside(users: list[list[int]], outside: list[int], start: int, without: int) -> bool:
    pending, seen = [start], {without}
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in outside:
            return True
        pending += users[node]
    return False


@given(graphs())
@settings(max_examples=examples(200), deadline=None)
def test_as_without_the_node(graph: tuple[list[list[int]], list[int]]) -> None:
    users, outside = graph
    tree = PostDominators(users, outside)
    for other in range(len(users)):
        for node in range(len(users)):
            expected = node != other and not reaches_outside(users, outside, other, node)
            assert tree.dominates(node, other) == expected


def test_long_branches_that_share_a_node_take_no_time_each() -> None:
    """Each of 10,000 users of node 0 is deep in one of two chains; a walk up from each would take minutes."""
    length = 5_000
    users: list[list[int]] = [list(range(1, 2 * length + 1))]
    users += [[number + 1] for number in range(1, length)] + [[2 * length + 1]]
    users += [[number + 1] for number in range(length + 1, 2 * length)] + [[2 * length + 1], []]
    tree = PostDominators(users, [2 * length + 1])
    assert tree.dominates(2 * length + 1, 0)
    assert not tree.dominates(length, 0)
    assert tree.dominates(length, 1)
