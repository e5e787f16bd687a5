"""`from xrelay.contrib import graph_executor`: Relay's place of `GraphModule`."""

from xrelay.api.graph_module import BenchmarkResult, GraphModule
from xrelay.api.model import CompiledModel

__all__ = ["BenchmarkResult", "GraphModule", "create"]


def create(graph_json_str: str, libmod: CompiledModel, device: object = None) -> GraphModule:
    """The module of what `graph, lib, params = relay.build(…)` gave: the graph is in the library, and a CPU runs it."""
    del graph_json_str, device
    return GraphModule(libmod)
