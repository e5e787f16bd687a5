"""Generates characters with an LSTM: each run takes the last character and the state, and returns the next ones."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import xrelay

LETTERS = " abcdefghijklmnopqrstuvwxyz"
HIDDEN = 32


def step() -> bytes:
    """Returns the model of a step: embedding, LSTM and scores of the next character, with random weights."""
    rng = np.random.default_rng(5)
    shapes = {
        "embedding": (len(LETTERS), HIDDEN),
        "w": (1, 4 * HIDDEN, HIDDEN),
        "r": (1, 4 * HIDDEN, HIDDEN),
        "scores": (HIDDEN, len(LETTERS)),
    }
    weights = [
        numpy_helper.from_array(rng.normal(0, 0.6, shape).astype(np.float32), name) for name, shape in shapes.items()
    ]
    nodes = [
        helper.make_node("Gather", ["embedding", "letter"], ["x"]),
        helper.make_node("LSTM", ["x", "w", "r", "", "", "h", "c"], ["", "next_h", "next_c"], hidden_size=HIDDEN),
        helper.make_node("MatMul", ["next_h", "scores"], ["logits"]),
    ]
    state = [1, 1, HIDDEN]
    inputs = [helper.make_tensor_value_info("letter", TensorProto.INT64, [1, 1])]
    inputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, state) for name in ("h", "c")]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 1, len(LETTERS)])]
    outputs += [helper.make_tensor_value_info(name, TensorProto.FLOAT, state) for name in ("next_h", "next_c")]
    graph = helper.make_graph(nodes, "step", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


model = xrelay.compile(step())
rng = np.random.default_rng(1)
letter, h, c = 0, np.zeros((1, 1, HIDDEN), np.float32), np.zeros((1, 1, HIDDEN), np.float32)
text = ""
for _ in range(40):
    logits, h, c = model.run({"letter": np.array([[letter]]), "h": h, "c": c})
    chances = np.exp(logits[0, 0] - logits.max())
    letter = int(rng.choice(len(LETTERS), p=chances / chances.sum()))
    text += LETTERS[letter]
print(text)
