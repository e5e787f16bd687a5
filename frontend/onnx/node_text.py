"""The nodes of an ONNX model as text, a line each."""

from __future__ import annotations

from collections.abc import Iterator

import onnx
from onnx.helper import printable_node

from xrelay.frontend.onnx.load import ModelSource, load_model


def node_lines(source: ModelSource) -> Iterator[tuple[str, str]]:
    """Yields the name of each node of a model as locations have it, and its text. Nodes in subgraphs are indented.

    Raises `ModelImportError` as `load_model`.
    """
    pending = [(node, "") for node in reversed(load_model(source).proto.graph.node)]
    while pending:
        node, indent = pending.pop()
        name = node.name or next(filter(None, node.output), node.op_type)
        yield name, f"{indent}{printable_node(node)}"
        bodies = [attribute.g for attribute in node.attribute if attribute.type == onnx.AttributeProto.GRAPH]
        pending += [(inner, indent + "  ") for body in reversed(bodies) for inner in reversed(body.node)]
