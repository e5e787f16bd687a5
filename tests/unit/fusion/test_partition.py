"""Expected groups, derived by hand from the rules before they were computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.errors import PassError
from xrelay.passes.fusion.forward_graph import Edge, ForwardGraph
from xrelay.passes.fusion.partition import FusionOptions, FusionRule, partition

if TYPE_CHECKING:
    from conftest import GraphBuilder


def fused_groups(graph: ForwardGraph, **options: int) -> set[frozenset[int]]:
    """The groups of more than one node."""
    members = partition(graph, FusionOptions(**options)).members().values()
    return {frozenset(nodes) for nodes in members if len(nodes) > 1}


def groups(*members: set[int]) -> set[frozenset[int]]:
    return {frozenset(group) for group in members}


# --- heavy ops


def test_conv_batch_norm_relu(g: GraphBuilder):
    conv = g.conv(g.var())
    scaled = g.add(conv, g.weight(), name="multiply")
    shifted = g.add(scaled, g.weight())
    relu = g.elemwise(shifted)
    assert fused_groups(g.returns(relu)) == groups({conv, scaled, shifted, relu})


def test_residual_add_goes_to_the_branch_visited_first(g: GraphBuilder):
    x = g.var()
    conv2, conv3 = g.conv(x), g.conv(x)
    total = g.sum_of(conv2, conv3)
    relu = g.elemwise(total)
    assert fused_groups(g.returns(relu)) == groups({conv2, total, relu})


def test_conv_with_a_shortcut_around_elementwise_ops(g: GraphBuilder):
    offset = g.add(g.var(), g.scalar())
    conv1 = g.conv(offset)
    y1 = g.add(conv1, g.scalar())
    y = g.sum_of(conv1, y1)
    conv2, conv3 = g.conv(y), g.conv(y)
    z = g.sum_of(conv2, conv3)
    # node numbers: var 0, scalar 1, add 2, weight 3, conv 4, scalar 5, add 6, sum 7, …
    assert fused_groups(g.returns(z)) == groups({1, offset}, {conv1, 5, y1, y}, {conv2, z})


def test_three_elementwise_branches_of_a_conv(g: GraphBuilder):
    conv = g.conv(g.var())
    a, b, c = (g.elemwise(conv) for _ in range(3))
    first = g.sum_of(a, b)
    total = g.sum_of(first, c)
    assert fused_groups(g.returns(total)) == groups({conv, a, b, c, first, total})


def test_a_branch_through_a_reduction_keeps_the_conv_alone(g: GraphBuilder):
    conv = g.conv(g.var())
    relu = g.elemwise(conv)
    total = g.add(relu, g.reduce(conv))
    assert fused_groups(g.returns(total)) == groups({relu, total})


def test_nothing_fuses_into_the_input_of_a_heavy_op(g: GraphBuilder):
    x, one = g.var(), g.scalar()
    plus = g.add(x, one)
    conv = g.conv(plus)
    graph = g.returns(conv)
    assert fused_groups(graph) == groups({one, plus})
    decision = partition(graph).decisions[plus]
    assert not decision.fused
    assert decision.rule is FusionRule.BROADCAST
    assert decision.blocker == Edge(plus, conv, OpPatternKind.OUT_ELEM_WISE_FUSABLE)
    assert "#4 conv" in decision.explain(graph)


def test_conv_does_not_take_a_reshape(g: GraphBuilder):
    conv = g.conv(g.var())
    reshape = g.injective(conv)
    relu = g.elemwise(reshape)
    graph = g.returns(relu)
    assert fused_groups(graph) == groups({reshape, relu})
    assert partition(graph).decisions[conv].blocker == Edge(conv, reshape, OpPatternKind.INJECTIVE)


def test_conv_does_not_take_a_broadcast_to_a_larger_shape(g: GraphBuilder):
    conv = g.conv(g.var())
    larger = g.add(conv, g.var(), grows=True)
    graph = g.returns(larger)
    assert fused_groups(graph) == set()
    assert partition(graph).decisions[conv].blocker == Edge(conv, larger, OpPatternKind.BROADCAST)


def test_two_convs_in_a_row(g: GraphBuilder):
    first = g.conv(g.var())
    second = g.conv(first)
    relu = g.elemwise(second)
    assert fused_groups(g.returns(relu)) == groups({second, relu})


def test_softmax_and_pool_take_elementwise_ops(g: GraphBuilder):
    softmax = g.heavy(g.var(), "softmax")
    cast = g.elemwise(softmax, name="cast")
    pool = g.heavy(cast, "max_pool2d")
    relu = g.elemwise(pool)
    assert fused_groups(g.returns(relu)) == groups({softmax, cast}, {pool, relu})


def test_a_conv_used_twice_outside(g: GraphBuilder):
    conv = g.conv(g.var())
    relu = g.elemwise(conv)
    assert fused_groups(g.returns(relu, conv)) == set()


# --- light ops


def test_elementwise_ops_join_an_injective_op(g: GraphBuilder):
    plus = g.add(g.var(), g.scalar())
    exp = g.elemwise(plus, name="exp")
    squeeze = g.injective(exp, name="squeeze")
    assert fused_groups(g.returns(squeeze)) == groups({1, plus, exp, squeeze})


def test_parallel_injective_ops(g: GraphBuilder):
    y = g.add(g.var(), g.scalar())
    z, u = g.injective(y, name="squeeze"), g.injective(y, name="transpose")
    w = g.sum_of(z, u)
    assert fused_groups(g.returns(w)) == groups({1, y, z, u, w})


def test_a_reduction_takes_elementwise_ops_before_it_and_nothing_behind(g: GraphBuilder):
    exp = g.elemwise(g.var(), name="exp")
    total = g.reduce(exp)
    relu = g.elemwise(total)
    graph = g.returns(relu)
    assert fused_groups(graph) == groups({exp, total})
    assert partition(graph).decisions[total].rule is FusionRule.REDUCTION


def test_an_injective_op_does_not_join_a_reduction(g: GraphBuilder):
    total = g.reduce(g.injective(g.var(), name="transpose"))
    assert fused_groups(g.returns(total)) == set()


def test_opaque_ops_stay_alone(g: GraphBuilder):
    opaque = g.opaque(g.elemwise(g.var()))
    relu = g.elemwise(opaque)
    graph = g.returns(relu)
    assert fused_groups(graph) == set()
    assert partition(graph).decisions[opaque].rule is FusionRule.OPAQUE


def test_nothing_fuses_through_let(g: GraphBuilder):
    first = g.elemwise(g.var())
    bound = g.extern_user(first)
    assert fused_groups(g.returns(g.elemwise(bound))) == set()


def test_a_scalar_used_by_two_kernels_stays_outside(g: GraphBuilder):
    x, one = g.var(), g.scalar()
    left, right = g.conv(g.add(x, one)), g.conv(g.add(x, one))
    total = g.sum_of(left, right)
    assert fused_groups(g.returns(total)) == groups({left, total})


# --- tuples


def test_inception(g: GraphBuilder):
    data = g.var()
    expected: list[set[int]] = []
    for _ in range(2):
        relus: list[int] = []
        for _ in range(2):
            conv = g.conv(data)
            relus.append(g.elemwise(conv))
            expected.append({conv, relus[-1]})
        fields = g.tuple(*relus)
        data = g.injective(fields, name="concatenate")
        expected.append({fields, data})
    assert fused_groups(g.returns(data)) == groups(*expected)


def test_tuple_between_injective_ops(g: GraphBuilder):
    x = g.var()
    inj = g.injective(x, name="squeeze")
    y1 = g.add(inj, g.scalar())
    tmp = g.injective(inj, name="squeeze")
    tmp = g.add(tmp, g.scalar())
    y2 = g.add(tmp, g.scalar())
    y3 = g.add(inj, g.scalar())
    concat = g.concat(y1, y2, y3)
    out = g.add(g.injective(concat, name="squeeze"), g.scalar())
    assert fused_groups(g.returns(out)) == groups(set(range(len(g.graph))) - {x})


def test_consecutive_tuples(g: GraphBuilder):
    x = g.var()
    parts: list[int] = []
    for _ in range(3):
        concat = g.concat(*(g.add(x, g.scalar()) for _ in range(3)))
        parts.append(g.add(concat, g.scalar()))
    concat = g.concat(*parts)
    whole = set(range(len(g.graph))) - {x}
    pool = g.heavy(concat, "max_pool2d")
    out = g.add(pool, g.scalar())
    out2 = g.add(out, g.scalar())
    fields = g.tuple(out, out2)
    scalars = [out - 1, out2 - 1]
    assert fused_groups(g.returns(fields)) == groups(whole, {pool, scalars[0], out}, {scalars[1], out2})


def test_upsampled_branch_of_a_concatenation(g: GraphBuilder):
    x = g.var()
    pool = g.heavy(x, "max_pool2d")
    up = g.injective(pool, name="upsampling")
    concat = g.concat(up, x)
    out = g.add(concat, g.scalar())
    assert fused_groups(g.returns(out)) == groups(set(range(up, out + 1)))


def test_a_returned_tuple_stays_alone(g: GraphBuilder):
    x = g.var()
    up = g.injective(g.heavy(x, "max_pool2d"), name="upsampling")
    graph = g.returns(g.tuple(up, x))
    assert fused_groups(graph) == set()
    assert partition(graph).decisions[up].rule is FusionRule.TUPLE


# --- limits


def test_level_zero_fuses_nothing(g: GraphBuilder):
    graph = g.returns(g.elemwise(g.conv(g.var())))
    assert fused_groups(graph, opt_level=0) == set()
    assert partition(graph, FusionOptions(opt_level=0)).decisions[2].rule is FusionRule.LEVEL


def test_a_chain_is_cut_at_the_depth(g: GraphBuilder):
    node = g.var()
    for _ in range(300):
        node = g.elemwise(node, name="exp")
    graph = g.returns(node)
    assert fused_groups(graph) == groups(set(range(1, 257)), set(range(257, 301)))
    decision = partition(graph).decisions[256]
    assert (decision.rule, decision.found, decision.limit) == (FusionRule.DEPTH, 257, 256)


def test_depth_one_keeps_every_node_alone(g: GraphBuilder):
    assert fused_groups(g.returns(g.elemwise(g.conv(g.var()))), max_depth=1) == set()


def test_both_sides_of_a_diamond_and_its_scalars_count_as_depth(g: GraphBuilder):
    conv = g.conv(g.var())
    total = g.sum_of(g.elemwise(conv), g.add(conv, g.scalar()))
    graph = g.returns(total)
    # The first side joins the sum; then the scalar counts itself, its addition, and the two nodes of the sum's group.
    assert fused_groups(graph, max_depth=3) != fused_groups(graph, max_depth=5)
    assert fused_groups(graph, max_depth=5) == groups(set(range(conv, total + 1)))


def test_arguments_are_limited_as_relay_counts_them(g: GraphBuilder):
    total, sums = g.var(), list[int]()
    for _ in range(9):
        total = g.sum_of(total, g.var())
        sums.append(total)
    graph = g.returns(total)
    assert fused_groups(graph) == groups(set(sums))
    # One of the five is the output. The first sum counts two parameters, each later one adds one; results of other
    # kernels are not counted, so the second group has one more sum.
    expected = groups(set(sums[:3]), set(sums[3:7]), set(sums[7:]))
    assert fused_groups(graph, max_function_args=5) == expected
    decision = partition(graph, FusionOptions(max_function_args=5)).decisions[sums[2]]
    assert (decision.rule, decision.found, decision.limit) == (FusionRule.ARGUMENTS, 5, 4)


@pytest.mark.parametrize(("option", "value"), [("max_depth", 0), ("max_function_args", -1)])
def test_bad_limits_are_refused(option: str, value: int):
    with pytest.raises(PassError, match=str(value)):
        FusionOptions(**{option: value})


# --- decisions


def test_every_node_has_a_decision_that_can_be_read(g: GraphBuilder):
    x = g.var()
    conv = g.conv(x)
    other = g.conv(x)
    total = g.sum_of(conv, other)
    graph = g.returns(g.injective(total))
    decisions = partition(graph).decisions
    assert [decision.node for decision in decisions] == list(range(len(graph)))
    assert all(decision.explain(graph).startswith(f"#{decision.node} ") for decision in decisions)
    assert "in the group of another heavy op" in decisions[other].explain(graph)
    assert "simpler than kInjective" in decisions[total].explain(graph)


# --- postponed fusions (a limit on arguments, and groups that count none yet)


def test_a_conv_whose_arguments_come_from_far_away_is_decided_at_its_consumer(g: GraphBuilder):
    joined = g.concat(g.var(), g.var(), g.var())
    conv = g.conv(joined)
    relu = g.elemwise(conv)
    left, right = g.conv(relu), g.conv(relu)
    graph = g.returns(left, right)
    # The conv counts no argument, so the relu decides: three come through the concatenation, which the kernel of a relu
    # with two consumers may have if five are allowed, but not if four are.
    assert frozenset({conv, relu}) in fused_groups(graph, max_function_args=5)
    refused = partition(graph, FusionOptions(max_function_args=4))
    assert refused.roots[conv] == conv
    decision = refused.decisions[conv]
    assert (decision.rule, decision.found, decision.limit) == (FusionRule.ARGUMENTS, 3, 2)


def test_of_two_postponed_convs_the_first_takes_the_sum(g: GraphBuilder):
    before = g.conv(g.var())
    left, right = g.conv(before), g.conv(before)
    total = g.sum_of(left, right)
    found = partition(g.returns(total), FusionOptions(max_function_args=8))
    assert (found.roots[left], found.roots[right]) == (total, right)
    assert found.decisions[right].blocker == total
    assert found.decisions[right].rule is FusionRule.ANCHOR


def test_a_long_chain_of_convs_under_a_limit_on_arguments(g: GraphBuilder):
    node = g.var()
    for _ in range(2_000):
        node = g.elemwise(g.conv(node))
    found = partition(g.returns(node), FusionOptions(max_function_args=4))
    assert len(found.members()) == 1 + 2_000 + 2_000


# --- hints


def test_a_hint_gives_the_sum_to_the_other_conv(g: GraphBuilder):
    x = g.var()
    left, right = g.conv(x), g.conv(x)
    total = g.sum_of(left, right)
    graph = g.returns(total)
    assert fused_groups(graph) == groups({left, total})
    graph.hints[right] = {total}
    assert fused_groups(graph) == groups({right, total})


def test_a_hint_makes_no_illegal_fusion(g: GraphBuilder):
    x = g.var()
    conv = g.conv(x)
    flat = g.injective(conv)
    relu = g.elemwise(flat)
    graph = g.returns(relu)
    expected = fused_groups(graph)
    # A conv fuses with no reshape; the relu is not the conv's post-dominator; no later node has the name.
    for wanted in (flat, relu, None):
        graph.hints[conv] = set() if wanted is None else {wanted}
        assert fused_groups(graph) == expected == groups({flat, relu})
