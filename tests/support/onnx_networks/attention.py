"""The layouts of queries, keys and values in transformers."""

from __future__ import annotations

from support.exported_graph import ExportedGraph


def heads(graph: ExportedGraph, hidden: str, count: int, width: int) -> str:
    """Batch, position, feature → batch, head, position, feature."""
    shape = graph.extent(hidden, 0), graph.extent(hidden, 1), count, width
    return graph.transpose(graph.reshape(hidden, *shape), 0, 2, 1, 3)


def joined(graph: ExportedGraph, hidden: str, width: int) -> str:
    """Batch, head, position, feature → batch, position, feature."""
    hidden = graph.transpose(hidden, 0, 2, 1, 3)
    return graph.reshape(hidden, graph.extent(hidden, 0), graph.extent(hidden, 1), width)
