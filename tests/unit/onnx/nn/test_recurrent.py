"""LSTM, GRU and RNN against onnxruntime: directions, lengths, states, peepholes, clips, activations, dynamic sizes."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper
from support.onnx_models import model, value
from xdsl.dialects.func import FuncOp

from xrelay.api.compile import compile
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.shared.types import shape_of
from xrelay.errors import ExecutionError, ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay
from xrelay.transform import create_pass

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
TIMES, BATCH, SIZE, HIDDEN = 5, 3, 4, 2
OPTIONAL = ("bias", "lengths", "initial_h", "initial_c", "peepholes")


def arrays(op: str, directions: int, given: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The inputs in order; omitted ones have no elements."""
    rng = np.random.default_rng(len(op) + directions)
    rows = GATES[op] * HIDDEN
    shapes = {
        "x": (TIMES, BATCH, SIZE),
        "w": (directions, rows, SIZE),
        "r": (directions, rows, HIDDEN),
        "bias": (directions, 2 * rows),
        "lengths": (BATCH,),
        "initial_h": (directions, BATCH, HIDDEN),
        "initial_c": (directions, BATCH, HIDDEN),
        "peepholes": (directions, 3 * HIDDEN),
    }
    made: dict[str, np.ndarray] = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    made["lengths"] = np.array([3, 5, 1], np.int32)
    return {name: array for name, array in made.items() if name in ("x", "w", "r", *given)}


def built(op: str, data: dict[str, np.ndarray], opset: int = 14, *, named: bool = False, **attributes: Any) -> Any:
    count = 8 if op == "LSTM" else 6
    names = [name if name in data else "" for name in ("x", "w", "r", *OPTIONAL)][:count]
    outputs = ["y", "y_h", *(["y_c"] if op == "LSTM" else [])]
    node = helper.make_node(op, names, outputs, name="cell", hidden_size=HIDDEN, **attributes)
    inputs = [
        value(
            name,
            ("t", "b", SIZE) if named and name == "x" else data[name].shape,
            TensorProto.INT32 if name == "lengths" else TensorProto.FLOAT,
        )
        for name in data
    ]
    proto = model([node], inputs, outputs, opset=opset)
    proto.ir_version = 8
    return proto


def agree(proto: onnx.ModelProto, data: dict[str, np.ndarray]) -> None:
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = cast(list[np.ndarray], cast(Any, session).run(None, data))
    found = {"interpreter": run_relay(import_onnx(proto), list(data.values()))}
    found["native"] = compile(proto, cache=False, threads=1).run(list(data.values()))
    for arrays in found.values():
        for one, other in zip(arrays, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.grid(14)
@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("given", [(), ("bias", "lengths"), OPTIONAL], ids=["least", "lengths", "all"])
def test_directions_and_inputs(op: str, direction: str, given: tuple[str, ...]) -> None:
    known = given if op == "LSTM" else tuple(name for name in given if name not in ("initial_c", "peepholes"))
    data = arrays(op, 2 if direction == "bidirectional" else 1, known)
    agree(built(op, data, direction=direction), data)


@pytest.mark.parametrize("op", GATES)
def test_open_sizes(op: str) -> None:
    data = arrays(op, 2, ("bias",))
    agree(built(op, data, named=True, direction="bidirectional"), data)


def test_inputs_of_open_sizes_are_rows_of_a_matrix() -> None:
    proto = built("LSTM", arrays("LSTM", 1, ()), named=True)
    module = create_pass("relay-infer-type")(import_onnx(proto))
    products = [op for op in module.walk() if op.name == "relay.nn.matmul"]
    assert [len(shape_of(op.operands[0].type)) for op in products] == [2, 2]
    reshaped = [op for op in module.walk() if op.name == "relay.reshape_like"]
    assert [len(shape_of(op.results[0].type)) for op in reshaped] == [3]


@pytest.mark.parametrize("op", GATES)
def test_states_of_open_batch(op: str) -> None:
    """The states have the batch of X in all iterations; a run refuses initial states of another batch."""
    states = ("initial_h", "initial_c") if op == "LSTM" else ("initial_h",)
    data = arrays(op, 1, states)
    proto = built(op, data)
    for each in proto.graph.input:
        if each.name in ("x", *states):
            each.type.tensor_type.shape.dim[1].ClearField("dim_value")
    agree(proto, data)
    module = create_pass("relay-infer-type")(import_onnx(proto))
    (loop,) = (each for each in module.walk() if isinstance(each, LoopOp))
    x, *_ = next(each for each in module.walk() if isinstance(each, FuncOp)).args
    assert {shape_of(each.type) for each in loop.carried} == {(shape_of(x.type)[1], HIDDEN)}
    with pytest.raises(ExecutionError, match="broadcast_to_like C1"):
        compile(proto, cache=False, threads=1).run([*[*data.values()][:-1], np.zeros((1, 2, HIDDEN), np.float32)])


@pytest.mark.grid(5)
@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("LSTM", {"clip": 0.3}),
        ("LSTM", {"input_forget": 1}),
        ("LSTM", {"activations": ["HardSigmoid", "ScaledTanh", "Softsign"], "activation_alpha": [0.3, 0.8],
                  "activation_beta": [0.4, 0.7]}),
        ("GRU", {"linear_before_reset": 1}),
        ("GRU", {"clip": 0.2, "activations": ["sigmoid", "RELU"]}),
        ("RNN", {"activations": ["LeakyRelu"], "activation_alpha": [0.2]}),
        ("RNN", {"activations": ["Elu"]}),
        ("RNN", {"activations": ["ThresholdedRelu"], "activation_alpha": [0.1]}),
        ("RNN", {"activations": ["Softplus"]}),
        ("RNN", {"activations": ["Affine"], "activation_alpha": [0.5], "activation_beta": [0.1]}),
    ],
    ids=str,
)  # fmt: skip
def test_settings(op: str, attributes: dict[str, Any]) -> None:
    data = arrays(op, 1, OPTIONAL if op == "LSTM" else OPTIONAL[:3])
    agree(built(op, data, **attributes), data)


def test_one_step_and_none() -> None:
    data = arrays("LSTM", 1, OPTIONAL)
    data["lengths"] = np.array([1, 1, 1], np.int32)
    data["x"] = data["x"][:1]
    agree(built("LSTM", data), data)
    data["lengths"][1] = 0
    y, last, cell = run_relay(import_onnx(built("LSTM", data)), list(data.values()))
    assert not y[:, :, 1].any()
    np.testing.assert_array_equal(last[:, 1], data["initial_h"][:, 1])
    np.testing.assert_array_equal(cell[:, 1], data["initial_c"][:, 1])
    empty = {**arrays("GRU", 1, ("initial_h",))}
    empty["x"] = empty["x"][:0]
    y, last = run_relay(import_onnx(built("GRU", empty)), list(empty.values()))
    assert y.shape == (0, 1, BATCH, HIDDEN)
    np.testing.assert_array_equal(last, empty["initial_h"])


def test_half_precision_is_rounded_once() -> None:
    data = arrays("LSTM", 1, OPTIONAL[:1])
    (exact, *_) = run_relay(import_onnx(built("LSTM", data)), list(data.values()))
    half = {name: array.astype(np.float16) for name, array in data.items()}
    proto = built("LSTM", half)
    for info in proto.graph.input:
        info.type.tensor_type.elem_type = TensorProto.FLOAT16
    (found, *_) = run_relay(import_onnx(proto), list(half.values()))
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, exact, atol=2e-3)


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"activations": ["Tanh", "Tanh"]}, "1 names are expected"),
        ({"activations": ["Sine"]}, "known are"),
        ({"direction": "sideways"}, "legal are forward, reverse, bidirectional"),
        ({"direction": "reverse", "clip": -1.0}, "a number of 0 or more"),
        ({"direction": "bidirectional"}, "do not fit 2 directions"),
    ],
)
def test_wrong_attributes_are_refused(attributes: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelImportError, match=words):
        import_onnx(built("RNN", arrays("RNN", 1, ()), **attributes))


def test_another_hidden_size_is_refused() -> None:
    proto = built("RNN", arrays("RNN", 1, ()))
    proto.graph.node[0].attribute[0].i = 7
    with pytest.raises(ModelImportError, match=r"'hidden_size' is 7, .* 2"):
        import_onnx(proto)
