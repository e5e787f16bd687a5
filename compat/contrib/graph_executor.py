"""`from xrelay.contrib import graph_executor`: Relay's place of `GraphModule`."""

from xrelay.api.graph_module import BenchmarkResult, GraphModule
from xrelay.api.model import CompiledModel

__all__ = ["BenchmarkResult", "GraphModule", "create"]


def create(graph_json_str: str, libmod: CompiledModel, device: object = None) -> GraphModule:
    """Returns the module for `graph, lib, params = relay.build(…)`. The library contains the graph."""
    del graph_json_str, device
    return GraphModule(libmod)
