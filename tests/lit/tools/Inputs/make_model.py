"""Writes a small ONNX model: make_model.py FILE [unsupported|cyclic|open|mismatch|hyper]."""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

path, *kind = sys.argv[1:]
rng = np.random.default_rng(0)
hyper = kind == ["hyper"]
shape = ["n", 3, 2, 2, 2, 2] if hyper else ["n", 3, 8, 8] if kind == ["open"] else [1, 3, 8, 8]
channels = 5 if kind == ["mismatch"] else 3
weight = numpy_helper.from_array(
    rng.standard_normal((4, channels, 1, 1, 1, 1) if hyper else (4, channels, 3, 3)).astype(np.float32), "conv.w"
)
window = {"kernel_shape": [1, 1, 1, 1]} if hyper else {"pads": [1, 1, 1, 1]}
nodes = [
    helper.make_node("Conv", ["cycle" if kind == ["cyclic"] else "data", "conv.w"], ["c"], "conv1", **window),
    helper.make_node("Frobnicate" if kind == ["unsupported"] else "Relu", ["c"], ["r"], "relu1"),
    helper.make_node("GlobalAveragePool", ["r"], ["g"], "pool1"),
    helper.make_node("Flatten", ["g"], ["y"], "flatten1"),
]
if kind == ["cyclic"]:
    nodes.append(helper.make_node("Relu", ["r"], ["cycle"], "relu2"))
graph = helper.make_graph(
    nodes,
    "small",
    [helper.make_tensor_value_info("data", TensorProto.FLOAT, shape)],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [shape[0], 4])],
    [weight],
)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
