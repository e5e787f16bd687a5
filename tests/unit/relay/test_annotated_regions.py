"""`relay.analysis.AnnotatedRegionSet`: the regions between annotations, as expressions."""

from __future__ import annotations

import pytest

from xrelay import relay
from xrelay.errors import InputError
from xrelay.relay.op.annotation import compiler_begin, compiler_end

SHAPE = (2,)


def regions_of(expr: relay.Expr) -> relay.analysis.AnnotatedRegionSet:
    return relay.analysis.AnnotatedRegionSet(expr)


def test_regions_that_an_end_parts() -> None:
    x = relay.var("x", shape=SHAPE)
    begin = compiler_begin(x, "mine")
    exp = relay.exp(begin)
    ends = [compiler_end(exp, "mine"), compiler_end(exp, "mine")]
    others = [compiler_begin(ends[0], "yours"), compiler_begin(ends[1], "yours")]
    total = relay.add(*others)
    last = compiler_end(total, "yours")
    outside = relay.tanh(last)
    regions = regions_of(relay.Function([x], outside))
    assert [(region.id, region.target) for region in regions] == [(0, "mine"), (1, "yours")]
    first, second = regions
    assert (first.args, first.rets, set(first.nodes)) == ([begin], ends, {begin, exp, *ends})
    assert (second.args, second.rets) == (others, [last])
    assert regions.get_region(total) is second
    assert regions.get_region(outside) is None
    assert regions.get_region(x) is None


def test_an_expression_of_two_open_regions_makes_one() -> None:
    x, y = relay.var("x", shape=SHAPE), relay.var("y", shape=SHAPE)
    begins = [compiler_begin(x, "mine"), compiler_begin(y, "mine")]
    parts = [relay.exp(begins[0]), relay.tanh(begins[1])]
    end = compiler_end(relay.Tuple(parts), "mine")
    regions = regions_of(end)
    assert len(regions) == 1
    (region,) = regions
    assert region.args == begins
    assert regions.get_region(parts[0]) is regions.get_region(end) is region


def test_other_operators_may_annotate() -> None:
    x = relay.var("x", shape=SHAPE)
    begin, end = relay.op.get("annotation.stop_fusion"), relay.op.get("exp")
    inside = relay.tanh(relay.annotation.stop_fusion(x))
    regions = relay.analysis.AnnotatedRegionSet(relay.sin(relay.exp(inside)), begin, end)
    assert [(region.target, len(region.nodes)) for region in regions] == [("", 3)]
    assert not len(relay.analysis.AnnotatedRegionSet(relay.tanh(x), begin, end))


def test_what_contradicts_itself() -> None:
    x = relay.var("x", shape=SHAPE)
    with pytest.raises(InputError, match="this annotation ends no open region"):
        regions_of(compiler_end(relay.exp(x), "mine"))
    with pytest.raises(InputError, match="regions for 'mine' and 'yours' meet"):
        regions_of(relay.add(compiler_begin(x, "mine"), compiler_begin(x, "yours")))
    with pytest.raises(InputError, match="regions for 'mine' and 'yours' meet"):
        regions_of(compiler_end(compiler_begin(x, "mine"), "yours"))


def test_a_chain_of_many_operators() -> None:
    x = relay.var("x", shape=SHAPE)
    value = compiler_begin(x, "mine")
    for _ in range(1500):
        value = relay.exp(value)
    (region,) = regions_of(compiler_end(value, "mine"))
    assert len(region.nodes) == 1502
