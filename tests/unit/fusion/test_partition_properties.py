"""Properties of the post-dominator tree and the partition on random graphs, and their cost on large ones."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.fusion_oracle import Node, OracleGraph, oracle_partition
from support.random_graphs import random_graphs

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.passes.fusion.forward_graph import ForwardGraph, post_dominator_tree
from xrelay.passes.fusion.partition import FusionOptions, Partition, partition

if TYPE_CHECKING:
    from conftest import GraphBuilder


def digraph(graph: ForwardGraph) -> nx.DiGraph:
    """Producer to consumer edges, and from every extern node to "exit"."""
    result = nx.DiGraph()
    result.add_nodes_from(range(len(graph)))
    for node in range(len(graph)):
        result.add_edges_from((node, edge.consumer) for edge in graph.outputs[node])
        if graph.extern[node]:
            result.add_edge(node, "exit")
    return result


@given(random_graphs())
def test_post_dominators_and_their_patterns_are_what_climbing_step_by_step_finds(graph: ForwardGraph):
    expected = nx.immediate_dominators(digraph(graph).reverse(), "exit")
    tree = post_dominator_tree(graph)
    for node, parent in enumerate(tree.parents):
        # For fusion an external node has no post-dominator, whatever its other uses.
        assert parent == (None if graph.extern[node] or expected[node] == "exit" else expected[node])
        if parent is None:
            continue
        worst = max(edge.pattern for edge in graph.outputs[node])
        for edge in graph.outputs[node]:
            current = edge.consumer
            while current != parent:
                worst = max(worst, tree.patterns[current])
                above = tree.parents[current]
                assert above is not None
                current = above
        assert tree.patterns[node] == worst
        edge = tree.worst_edges[node]
        assert edge is not None
        assert edge.pattern == worst
        assert tree.depths[node] == tree.depths[parent] + 1


@given(random_graphs(), st.sampled_from([1, 3, 8, 256]), st.sampled_from([0, 4]))
def test_groups_are_convex_acyclic_and_have_one_heavy_op(graph: ForwardGraph, depth: int, arguments: int):
    result = partition(graph, FusionOptions(max_depth=depth, max_function_args=arguments))
    plain = digraph(graph)
    plain.remove_nodes_from(["exit"])
    quotient = nx.DiGraph()
    quotient.add_nodes_from(set(result.roots))
    quotient.add_edges_from(
        (result.roots[a], result.roots[b]) for a, b in plain.edges if result.roots[a] != result.roots[b]
    )
    assert nx.is_directed_acyclic_graph(quotient)
    for root, nodes in result.members().items():
        heavy = [node for node in nodes if graph.patterns[node] is OpPatternKind.OUT_ELEM_WISE_FUSABLE]
        assert len(heavy) <= 1
        assert result.anchors[root] == (heavy[0] if heavy else None)
        # Only the root's value leaves the group.
        assert not any(graph.extern[node] for node in nodes if node != root)
        inside = set(nodes)
        leaving = {edge.producer for node in nodes for edge in graph.outputs[node] if edge.consumer not in inside}
        assert leaving <= {root}
        # Relay does not check the depth again when it commits a postponed fusion.
        assert arguments or len(nodes) <= depth
        for a, b in product(nodes, nodes):
            between = nx.descendants(plain, a) & nx.ancestors(plain, b)
            assert between <= inside


OPTIONS = st.builds(
    FusionOptions,
    opt_level=st.sampled_from([2, 2, 2, 2, 0, 1, 3]),
    max_depth=st.sampled_from([256, 256, 1, 2, 3, 4, 5, 6, 7, 8]),
    max_function_args=st.integers(0, 6),
)


def check_decisions(graph: ForwardGraph, result: Partition) -> None:
    """Checks that a node's decision states whether it is merged, and has an explanation."""
    for node, decision in enumerate(result.decisions):
        parent = result.tree.parents[node]
        assert decision.fused == (parent is not None and result.roots[node] == result.roots[parent])
        assert decision.explain(graph)


def as_oracle_graph(graph: ForwardGraph) -> OracleGraph:
    return [
        Node(
            int(graph.patterns[node]),
            arguments=list(graph.counted_operands[node]),
            own=graph.own_arguments[node],
            extra_results=graph.dynamic_extents[node],
            extern=graph.extern[node],
            outputs=[(edge.consumer, int(edge.pattern)) for edge in graph.outputs[node]],
        )
        for node in range(len(graph))
    ]


@given(random_graphs(), OPTIONS)
@settings(max_examples=examples(75, more=2), deadline=None)
def test_any_graph_has_relays_partition(graph: ForwardGraph, options: FusionOptions):
    check_decisions(graph, partition(graph, options))
    graph.hints.clear()
    try:
        expected = oracle_partition(
            as_oracle_graph(graph),
            level=options.opt_level,
            max_depth=options.max_depth,
            max_args=options.max_function_args,
        )
    except AssertionError:
        return  # Relay itself fails on such a graph, where two heavy ops would fuse; models do not have it.
    assert partition(graph, options).roots == expected


# --- scale


SIZE = 5_000


def chain(g: GraphBuilder) -> ForwardGraph:
    node = g.var()
    for _ in range(SIZE):
        node = g.elemwise(node)
    return g.returns(node)


def ladder_of_diamonds(g: GraphBuilder) -> ForwardGraph:
    node = g.var()
    for _ in range(SIZE // 3):
        node = g.sum_of(g.elemwise(node), g.injective(node))
    return g.returns(node)


def wide_branch(g: GraphBuilder) -> ForwardGraph:
    node = g.elemwise(g.var())
    return g.returns(g.concat(*(g.elemwise(node) for _ in range(SIZE // 2))))


def wide_branch_summed_up(g: GraphBuilder) -> ForwardGraph:
    node = g.elemwise(g.var())
    total = g.elemwise(node)
    for _ in range(SIZE // 2):
        total = g.sum_of(g.elemwise(node), total)
    return g.returns(total)


def nested_diamonds(g: GraphBuilder) -> ForwardGraph:
    """Each op branches off to the end of the graph, so every post-dominator is far away."""
    opened = [g.elemwise(g.var())]
    for _ in range(SIZE // 2):
        opened.append(g.elemwise(opened[-1]))
    total = opened.pop()
    while opened:
        total = g.sum_of(total, opened.pop())
    return g.returns(total)


@pytest.mark.parametrize(
    "make", [chain, ladder_of_diamonds, wide_branch, wide_branch_summed_up, nested_diamonds], ids=lambda m: m.__name__
)
def test_large_graphs(g: GraphBuilder, make):
    """The code is not recursive; test_partition_growth.py counts its steps."""
    graph = make(g)
    assert len(set(partition(graph).roots)) < len(graph)
