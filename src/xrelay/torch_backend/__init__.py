"""A PyTorch backend that compiles graphs for inference: `torch.compile(model, backend="xrelay")`.

    model = torch.compile(model.eval(), backend="xrelay", options={"opt_level": 3})
    with torch.no_grad():
        model(x)

It is installed with the extra `torch`; PyTorch finds it by its entry point. A graph goes through PyTorch's ONNX
exporter. Parameters, buffers and numbers become constants of the compiled model, which is recompiled when they change,
but not when they change through `.data`, which PyTorch does not track. Dynamic sizes stay dynamic. Other graphs run in
PyTorch, and the logger `xrelay.torch_backend` logs one line with the reason: graphs that train, mutate their inputs or
are on other devices, and graphs with operators that cannot be exported or are refused.
"""

from xrelay.torch_backend.graph import TorchGraph as TorchGraph
from xrelay.torch_backend.graph import compile_graph as compile_graph

__all__ = ["TorchGraph", "compile_graph"]
