"""Layouts of broadcasting ops rely only on proven facts about named extents."""

from __future__ import annotations

from xrelay.dialects.relay.core.broadcast import broadcast_layouts
from xrelay.dialects.relay.layout.behaviour import LayoutDecision, LayoutRefusal
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.index_algebra.dims import symbol

NCHW8C = Layout.parse("NCHW8c")


def test_extents_of_a_split_axis_that_may_differ_are_refused() -> None:
    c, d = symbol("c"), symbol("d")
    # If c is 1 and d is not, the operands cannot both be split into blocks of eight channels.
    answer = broadcast_layouts([NCHW8C, NCHW8C], [(1, 8 * c, 6, 6), (1, 8 * d, 6, 6)])
    assert answer == LayoutRefusal("extents of the split axis C may differ")
    same = [(1, 8 * c, 6, 6), (1, 8 * c, 1, 1)]
    assert broadcast_layouts([NCHW8C, NCHW8C], same) == LayoutDecision((NCHW8C, NCHW8C), NCHW8C)
    # An axis that is not split is broadcast in any layout.
    rows = [(1, 16, c, 6), (1, 16, d, 6)]
    assert broadcast_layouts([NCHW8C, NCHW8C], rows) == LayoutDecision((NCHW8C, NCHW8C), NCHW8C)
