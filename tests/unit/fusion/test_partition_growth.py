"""The partition's work grows about linearly with the graph, with and without a limit on arguments."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from support.work import growth

from xrelay.passes.fusion.forward_graph import ForwardGraph
from xrelay.passes.fusion.partition import FusionOptions, partition

if TYPE_CHECKING:
    from conftest import GraphBuilder

LIMIT = 12.0
"""The project's limit of work for ten times the graph."""


def chain(g: GraphBuilder, size: int) -> ForwardGraph:
    """Alternating heavy and elementwise ops without arguments of their own."""
    node = g.elemwise(g.var())
    for _ in range(size // 2):
        node = g.elemwise(g.heavy(node, "softmax"))
    return g.returns(node)


def wide(g: GraphBuilder, size: int) -> ForwardGraph:
    """Branches of one value joined by one op."""
    node = g.elemwise(g.var())
    return g.returns(g.concat(*(g.elemwise(g.heavy(node, "softmax")) for _ in range(size // 2))))


def users(g: GraphBuilder, size: int) -> ForwardGraph:
    """One value with many users, summed up one after the other."""
    node = g.elemwise(g.var())
    total = node
    for _ in range(size // 2):
        total = g.sum_of(g.elemwise(node), total)
    return g.returns(total)


def skips(g: GraphBuilder, size: int) -> ForwardGraph:
    """A chain in which every op also reads some earlier value."""
    rng = random.Random(0)
    values = [g.elemwise(g.var())]
    for _ in range(size):
        values.append(g.sum_of(values[-1], rng.choice(values)))
    return g.returns(values[-1])


def nested(g: GraphBuilder, size: int) -> ForwardGraph:
    """Each op branches off to the end of the graph: all post-dominators are far away."""
    opened = [g.elemwise(g.var())]
    for number in range(size // 2):
        opened.append(g.heavy(opened[-1], "softmax") if number % 3 == 0 else g.elemwise(opened[-1]))
    total = opened.pop()
    while opened:
        total = g.sum_of(total, opened.pop())
    return g.returns(total)


def sums(g: GraphBuilder, size: int) -> ForwardGraph:
    """Repeated sums of two heavy ops on one value: fusions are postponed for their arguments and dropped."""
    node = g.elemwise(g.var())
    for _ in range(size // 3):
        node = g.sum_of(g.conv(node), g.conv(node))
    return g.returns(node)


@pytest.mark.parametrize("arguments", [0, 6])
@pytest.mark.parametrize("make", [chain, wide, users, skips, nested, sums], ids=lambda make: make.__name__)
def test_work_grows_with_the_graph(
    g: GraphBuilder, make: Callable[[GraphBuilder, int], ForwardGraph], arguments: int
) -> None:
    # Groups are small compared to the smaller graph, so that both graphs have groups of the maximum size.
    options = FusionOptions(max_depth=16, max_function_args=arguments)

    def prepare(size: int) -> Callable[[], object]:
        graph = make(type(g)(), size)
        return lambda: partition(graph, options)

    assert growth(prepare, 150, 10) < LIMIT
