"""Runs an encoder layer of BERT on batches and sequences of any size, and adds a version for one size."""

import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import xrelay

HEADS, WIDTH = 2, 32


class Encoder:
    """The nodes of a layer with random weights."""

    def __init__(self) -> None:
        self.nodes, self.weights, self.rng = [], [], np.random.default_rng(0)

    def weight(self, array: np.ndarray) -> str:
        """Returns the name of a new weight."""
        self.weights.append(numpy_helper.from_array(array, f"w{len(self.weights)}"))
        return self.weights[-1].name

    def op(self, kind: str, *inputs: str, **attributes: object) -> str:
        """Returns the name of the result of a new node."""
        self.nodes.append(helper.make_node(kind, inputs, [f"v{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def dense(self, x: str, rows: int, columns: int) -> str:
        """Returns a product with a weight."""
        return self.op("MatMul", x, self.weight(self.rng.normal(0, 0.1, (rows, columns)).astype(np.float32)))

    def heads(self, x: str, order: list[int]) -> str:
        """Returns a projection by heads, with its axes in this order."""
        shape = self.weight(np.array([0, 0, HEADS, WIDTH // HEADS]))
        return self.op("Transpose", self.op("Reshape", self.dense(x, WIDTH, WIDTH), shape), perm=order)

    def norm(self, x: str, y: str) -> str:
        """Returns the layer norm of a sum."""
        return self.op("LayerNormalization", self.op("Add", x, y), self.weight(np.ones(WIDTH, np.float32)))


layer = Encoder()
scores = layer.op("MatMul", layer.heads("x", [0, 2, 1, 3]), layer.heads("x", [0, 2, 3, 1]))
context = layer.op("MatMul", layer.op("Softmax", scores), layer.heads("x", [0, 2, 1, 3]))
merged = layer.op("Reshape", layer.op("Transpose", context, perm=[0, 2, 1, 3]), layer.weight(np.array([0, 0, WIDTH])))
attended = layer.norm("x", layer.dense(merged, WIDTH, WIDTH))
y = layer.norm(attended, layer.dense(layer.op("Gelu", layer.dense(attended, WIDTH, 4 * WIDTH)), 4 * WIDTH, WIDTH))
ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", "sequence", WIDTH])] for name in ("x", y)]
graph = helper.make_graph(layer.nodes, "encoder", *ends, layer.weights)
with tempfile.TemporaryDirectory() as folder:
    path = f"{folder}/encoder.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), path)
    model = xrelay.compile(path)
    for batch, sequence in ((1, 5), (3, 17)):
        print(model.run({"x": np.ones((batch, sequence, WIDTH), np.float32)})[0].shape)
    model.specialize({"x": (1, 32, WIDTH)})  # a version for this size, which is as fast as a static model
    print(model.run({"x": np.ones((1, 32, WIDTH), np.float32)})[0].shape)
