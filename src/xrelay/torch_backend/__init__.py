"""PyTorch's graphs compiled for inference: `torch.compile(model, backend="xrelay")`.

    model = torch.compile(model.eval(), backend="xrelay", options={"opt_level": 3})
    with torch.no_grad():
        model(x)

Installed with the extra `torch`; PyTorch finds the backend by its entry point. A graph goes through PyTorch's ONNX
exporter. Parameters, buffers and numbers become constants of the compiled model, which is compiled anew where they
have changed (not where they are changed through `.data`, which PyTorch does not count); open sizes stay open. What
xrelay does not take runs in PyTorch, and the logger `xrelay.torch_backend` says in one line why: graphs that train,
change their inputs, or are on other devices, and those with operators that cannot be exported or are refused.
"""

from xrelay.torch_backend.graph import TorchGraph as TorchGraph
from xrelay.torch_backend.graph import compile_graph as compile_graph

__all__ = ["TorchGraph", "compile_graph"]
