"""What of a graph its outputs need: the rest, such as dead branches and inputs that nothing reads, is left out."""

from __future__ import annotations

import onnx


def needed_nodes(graph: onnx.GraphProto) -> list[int]:
    """Returns the numbers of the nodes on which outputs of `graph` depend, in order.

    ONNX wants nodes in topological order, so each is met here after all that read it.
    """
    wanted = {output.name for output in graph.output}
    found: list[int] = []
    for number in range(len(graph.node) - 1, -1, -1):
        node = graph.node[number]
        if any(name and name in wanted for name in node.output):
            found.append(number)
            wanted.update(names_read(node))
    return found[::-1]


def names_read(node: onnx.NodeProto) -> set[str]:
    """Returns the names of the values that a node reads, also from within its bodies."""
    names = set(node.input)
    pending = bodies_of(node)
    while pending:
        graph = pending.pop()
        names.update(output.name for output in graph.output)
        for inner in graph.node:
            names.update(inner.input)
            pending += bodies_of(inner)
    return names


def bodies_of(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """Returns the graphs that a node holds."""
    return [attribute.g for attribute in node.attribute if attribute.HasField("g")]
