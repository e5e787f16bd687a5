"""Classifies an image: `classify_image.py [MODEL.onnx IMAGE.npy]`, by default with a small model and a random image.

The image is an array of the shape of the model's input.
"""

import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import xrelay


def small_model() -> bytes:
    """Returns a convolution, a pooling and a dense layer with random weights."""
    rng = np.random.default_rng(0)
    shapes = {"filters": (16, 3, 3, 3), "classes": (16, 10)}
    weights = [
        numpy_helper.from_array(rng.normal(size=shape).astype(np.float32), name) for name, shape in shapes.items()
    ]
    nodes = [
        helper.make_node("Conv", ["image", "filters"], ["conv"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["conv"], ["relu"]),
        helper.make_node("GlobalAveragePool", ["relu"], ["pool"]),
        helper.make_node("Flatten", ["pool"], ["features"]),
        helper.make_node("MatMul", ["features", "classes"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["scores"]),
    ]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 32, 32])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 10])
    graph = helper.make_graph(nodes, "classifier", [image], [scores], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


model = xrelay.compile(sys.argv[1] if len(sys.argv) > 1 else small_model())
(data,) = model.inputs
image = np.load(sys.argv[2]) if len(sys.argv) > 2 else np.random.default_rng(1).random(data.shape, np.float32)
(scores,) = model.run({data.name: image})
for number in np.argsort(scores[0])[::-1][:3]:
    print(f"class {number}: {scores[0, number]:.3f}")
