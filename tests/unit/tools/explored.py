"""A small model with scopes in its names, and the page of it."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from pathlib import Path

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from xrelay.tools.xrelay_cli import main


def write_model(path: Path, first: str = "/stem/conv/Conv") -> None:
    """Writes a network of two modules: a convolution with an activation and a pool, then a convolution and a softmax.

    `first` is the name of the first node.
    """
    rng = np.random.default_rng(0)
    weights = [rng.standard_normal(shape).astype(np.float32) for shape in ((16, 3, 3, 3), (8, 16, 1, 1))]
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["a"], name=first, pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"], name="/stem/act/Relu"),
        helper.make_node("MaxPool", ["b"], ["c"], name="/stem/pool/MaxPool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["c", "w1"], ["d"], name="/head/conv/Conv"),
        helper.make_node("Softmax", ["d"], ["y"], name="/head/Softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "two-modules",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 8, 8])],
        [numpy_helper.from_array(array, f"w{number}") for number, array in enumerate(weights)],
    )
    model: ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    path.write_bytes(model.SerializeToString())


def explore(model: Path, page: Path, *flags: str) -> str:
    """Writes the page of a model by the command `xrelay explore`; returns stderr."""
    messages = io.StringIO()
    with redirect_stderr(messages):
        assert main(["explore", str(model), "-o", str(page), *flags]) == 0, messages.getvalue()
    return messages.getvalue()
