"""Nodes with random attributes, where onnx's own cases show few combinations: the interpreter against onnxruntime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import helper
from support.onnx_models import model, value

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

onnxruntime = pytest.importorskip("onnxruntime")
onnxruntime.set_default_logger_severity(4)

Weights = dict[str, NDArray[Any]]
Node = tuple[str, dict[str, Any], Weights]


class Draw:
    """Random choices of one seed."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)

    def pick(self, *items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def maybe(self, **attributes: Any) -> dict[str, Any]:
        return attributes if self.rng.random() < 0.5 else {}

    def array(self, *shape: int) -> NDArray[np.float32]:
        return self.rng.standard_normal(shape).astype(np.float32)

    def window(self, kernel: tuple[int, int]) -> dict[str, Any]:
        attributes = self.maybe(strides=[self.pick(1, 2, 3), self.pick(1, 2)])
        attributes |= self.maybe(auto_pad=self.pick("SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"))
        if attributes.get("auto_pad", "NOTSET") == "NOTSET":
            attributes |= self.maybe(pads=[int(pad) for pad in self.rng.integers(0, min(kernel), 4)])
        return attributes


def conv(draw: Draw, shape: tuple[int, ...], opset: int) -> Node:
    channels, kernel = shape[1], (draw.pick(1, 2, 3), draw.pick(1, 3))
    groups = draw.pick(1, 1, channels, 2 if channels % 2 == 0 else 1)
    outputs = groups * draw.pick(1, 2, 8)
    weights: Weights = {"w": draw.array(outputs, channels // groups, *kernel)} | draw.maybe(b=draw.array(outputs))
    attributes = {"group": groups} | draw.window(kernel) | draw.maybe(kernel_shape=list(kernel))
    if "auto_pad" not in attributes:
        attributes |= draw.maybe(dilations=[draw.pick(1, 2), draw.pick(1, 2)])
    return "Conv", attributes, weights


def max_pool(draw: Draw, shape: tuple[int, ...], opset: int) -> Node:
    kernel = (draw.pick(1, 2, 3), draw.pick(2, 3))
    attributes = {"kernel_shape": list(kernel)} | draw.window(kernel)
    if opset >= 10:
        attributes |= draw.maybe(ceil_mode=1)
    # onnxruntime forgets dilations where it computes the padding of auto_pad; onnx's own reference does not.
    if opset >= 10 and "auto_pad" not in attributes:
        attributes |= draw.maybe(dilations=[draw.pick(1, 2), 1])
    return "MaxPool", attributes, {}


def average_pool(draw: Draw, shape: tuple[int, ...], opset: int) -> Node:
    kernel = (draw.pick(1, 2, 3), draw.pick(2, 3))
    attributes = {"kernel_shape": list(kernel)} | draw.window(kernel) | draw.maybe(count_include_pad=1)
    if opset >= 10:
        attributes |= draw.maybe(ceil_mode=1)
    return "AveragePool", attributes, {}


def broadcast(draw: Draw, shape: tuple[int, ...], opset: int) -> Node:
    n, c, h, w = shape
    other = draw.pick((w,), (c, 1, 1), (1, c, 1, 1), (), (n, 1, h, 1), (3, 1, 1, 1, 1))
    return draw.pick("Add", "Sub", "Mul", "Div"), {}, {"k": np.abs(draw.array(*other)) + np.float32(0.1)}


def batch_norm(draw: Draw, shape: tuple[int, ...], opset: int) -> Node:
    weights = {name: np.abs(draw.array(shape[1])) + np.float32(0.5) for name in ("scale", "bias", "mean", "var")}
    return "BatchNormalization", draw.maybe(epsilon=0.01), weights


def softmax(draw: Draw, shape: tuple[int, ...], opset: int) -> Node:
    return "Softmax", {"axis": int(draw.rng.integers(0 if opset < 11 else -4, 4))}, {}


KINDS: list[Callable[[Draw, tuple[int, ...], int], Node]] = [
    conv,
    conv,
    max_pool,
    average_pool,
    broadcast,
    batch_norm,
    softmax,
]


def random_model(seed: int) -> tuple[onnx.ModelProto, NDArray[np.float32]]:
    draw = Draw(seed)
    shape = (draw.pick(1, 2), draw.pick(1, 3, 4, 8), draw.pick(3, 5, 8, 11), draw.pick(4, 7, 9))
    opset = draw.pick(7, 9, 10, 11, 13, 15, 17)
    op, attributes, weights = draw.pick(*KINDS)(draw, shape, opset)
    node = helper.make_node(op, ["x", *weights], ["y"], name="node", **attributes)
    proto = model([node], [value("x", shape)], ["y"], initializers=weights, opset=opset)
    proto.ir_version = 8
    return proto, draw.array(*shape)


def reference(proto: onnx.ModelProto, x: NDArray[np.float32]) -> NDArray[Any] | None:
    """What onnxruntime says; None where it refuses the model."""
    try:
        session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
        return session.run(None, {"x": x})[0]
    except Exception:  # onnxruntime has no common class of errors
        return None


@pytest.mark.parametrize("seed", range(80))
def test_random_attributes_mean_what_onnxruntime_takes_them_for(seed: int) -> None:
    proto, x = random_model(seed)
    expected = reference(proto, x)
    try:
        (found,) = run_relay(import_onnx(proto), [x])
    except ModelImportError as error:
        problem = str(error)
    else:
        problem = ""
    if problem or expected is None:
        # Of a window larger than the padded data onnxruntime makes an empty result, or one of padding.
        assert expected is None or "is larger than the padded" in problem
        return
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
