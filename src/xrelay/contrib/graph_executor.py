"""`from xrelay.contrib import graph_executor`: Relay's place of `GraphModule`."""

from xrelay.api.graph_module import BenchmarkResult, GraphModule

__all__ = ["BenchmarkResult", "GraphModule"]
