"""Random forward graphs, for property tests of graph analyses."""

from __future__ import annotations

from hypothesis import strategies as st

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.passes.fusion.explain import STOP_FUSION
from xrelay.passes.fusion.forward_graph import ForwardGraph, Use

PATTERNS = list(OpPatternKind)


@st.composite
def random_graphs(draw: st.DrawFn) -> ForwardGraph:
    """A graph in topological order; every node without consumers, and some others, are external.

    Some opaque nodes with one operand are named `annotation.stop_fusion`.
    """
    graph = ForwardGraph()
    kinds = draw(st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=24))
    for node, pattern in enumerate(kinds):
        operands = draw(st.lists(st.integers(0, node - 1), max_size=3)) if node else []
        edge = OpPatternKind.INJECTIVE if pattern is OpPatternKind.TUPLE else pattern
        if edge is OpPatternKind.BROADCAST:
            edges = [draw(st.sampled_from([edge, OpPatternKind.ELEM_WISE])) for _ in operands]
        else:
            edges = [edge] * len(operands)
        uses = [Use(*use) for use in zip(operands, edges, strict=True)]
        stops = pattern is OpPatternKind.OPAQUE and len(operands) == 1 and draw(st.booleans())
        name = STOP_FUSION if stops else f"op{node}"
        graph.add(name, pattern, uses, own_arguments=draw(st.integers(0, 2)))
    for node in range(len(graph)):
        if not graph.outputs[node] or draw(st.integers(0, 9)) == 0:
            graph.extern[node] = True
        elif draw(st.integers(0, 3)) == 0:
            graph.hints[node] = {draw(st.sampled_from([edge.consumer for edge in graph.outputs[node]]))}
    return graph
