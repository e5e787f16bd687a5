"""Quantises a small convolutional network to 8-bit integers, calibrated on sample data, and compares the results."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import xrelay


def network() -> bytes:
    """Returns two convolutions and a dense layer with random weights."""
    rng = np.random.default_rng(0)
    shapes = {"first": (16, 3, 3, 3), "second": (32, 16, 3, 3), "dense": (32, 10)}
    weights = [
        numpy_helper.from_array(rng.normal(0, 0.2, shape).astype(np.float32), name) for name, shape in shapes.items()
    ]
    nodes = [
        helper.make_node("Conv", ["data", "first"], ["conv1"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["conv1"], ["relu1"]),
        helper.make_node("Conv", ["relu1", "second"], ["conv2"], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["conv2"], ["relu2"]),
        helper.make_node("GlobalAveragePool", ["relu2"], ["pool"]),
        helper.make_node("Flatten", ["pool"], ["features"]),
        helper.make_node("MatMul", ["features", "dense"], ["scores"]),
    ]
    data = helper.make_tensor_value_info("data", TensorProto.FLOAT, [1, 3, 24, 24])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 10])
    graph = helper.make_graph(nodes, "network", [data], [scores], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


rng = np.random.default_rng(1)
samples = [{"data": rng.normal(size=(1, 3, 24, 24)).astype(np.float32)} for _ in range(16)]
program = xrelay.quantize(network(), samples)
assert "relay.qnn.conv2d" in str(program)

image = rng.normal(size=(1, 3, 24, 24)).astype(np.float32)
floats, integers = (xrelay.compile(each).run([image])[0] for each in (network(), program))
error = np.abs(floats - integers).max() / np.abs(floats).max()
assert error < 0.05
print(f"largest difference: {error:.1%} of the largest score")
