"""AffineGrid, CenterCropPad and MaxUnpool against onnx's reference, also with dynamic settings."""

from __future__ import annotations

from math import prod
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from support.onnx_models import model, value

from xrelay.api.compile import compile
from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

RNG = np.random.default_rng(12)


def check(op: str, data: dict[str, NDArray[Any]], settings: dict[str, Any], *, opset: int = 20, **words: Any) -> None:
    """Checks with constant settings, and with settings as inputs."""
    arrays = {name: np.asarray(array) for name, array in settings.items()}
    node = helper.make_node(op, [*data, *arrays], ["y"], **words)
    for given in ({}, arrays):
        feeds = {**data, **given}
        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
            for name, each in feeds.items()
        ]
        proto = model([node], inputs, ["y"], initializers={} if given else arrays, opset=opset)
        (found,) = run_relay(import_onnx(proto), list(feeds.values()))
        evaluator: Any = ReferenceEvaluator(proto)
        expected = cast(NDArray[Any], evaluator.run(None, feeds)[0])
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def normal(*shape: int) -> NDArray[Any]:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("align_corners", [0, 1])
def test_affine_grids(align_corners: int) -> None:
    check("AffineGrid", {"t": normal(2, 2, 3)}, {"s": [2, 4, 3, 5]}, align_corners=align_corners)
    check("AffineGrid", {"t": normal(1, 3, 4)}, {"s": [1, 4, 2, 3, 5]}, align_corners=align_corners)


@pytest.mark.parametrize("shape", [(4, 5, 3), (7, 2, 3), (1, 8, 6), (0, 5, 3)])
def test_crops_and_pads(shape: tuple[int, ...]) -> None:
    check("CenterCropPad", {"x": normal(4, 5, 3)}, {"s": shape})
    check("CenterCropPad", {"x": normal(4, 5, 3)}, {"s": shape[:2]}, axes=[2, -3])


def test_maxima_go_back() -> None:
    data = {"x": normal(2, 3, 2, 2), "i": np.stack([RNG.permutation(96)[:4] for _ in range(6)]).reshape(2, 3, 2, 2)}
    data["i"] = RNG.permutation(96)[:24].reshape(2, 3, 2, 2)
    check("MaxUnpool", data, {}, kernel_shape=[2, 2], strides=[2, 2])
    line = {"x": normal(1, 1, 3), "i": np.array([[[0, 3, 5]]])}
    check("MaxUnpool", line, {}, kernel_shape=[2], strides=[2])


@pytest.mark.parametrize("stated", [False, True])
def test_maxima_go_back_to_data_of_open_extents(stated: bool) -> None:
    extents = {"s": np.array([3, 2, 9, 11])} if stated else {}
    node = helper.make_node(
        "MaxUnpool", ["x", "i", *extents], ["y"], kernel_shape=[3, 1], strides=[2, 2], pads=[1, 0] * 2
    )
    dims = ("n", "c", "h", "w")
    inputs = [value("x", dims), value("i", dims, TensorProto.INT64)]
    proto = model([node], inputs, ["y"], initializers=extents, opset=20)
    compiled, evaluator = compile(proto, cache=False), cast(Any, ReferenceEvaluator(proto))
    for shape in ((3, 2, 2, 5), (3, 2, 5, 6), *([] if stated else [(0, 1, 3, 2)])):
        whole = (*shape[:2], 2 * shape[2] - 1, 2 * shape[3] - 1)
        places = RNG.permutation(prod(whole))[: prod(shape)].reshape(shape)
        x = normal(*shape)
        (expected,) = evaluator.run(None, {"x": x, "i": places}) if prod(shape) else (np.empty(whole, np.float32),)
        for found in run_relay(import_onnx(proto), [x, places])[0], compiled.run([x, places])[0]:
            np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize(
    ("op", "data", "settings", "words", "message"),
    [
        ("AffineGrid", (2, 2, 2), {"s": [2, 4, 3, 5]}, {}, r"matrices of shape \(2, 2, 2\)"),
        ("AffineGrid", (2, 2, 3), {"s": [2, 1, 2**20, 2**20]}, {}, "would take"),
        ("CenterCropPad", (2, 2), {"s": [2]}, {}, "2 extents are expected"),
        ("CenterCropPad", (2, 2), {"s": [2, -1]}, {}, "an extent of -1 is expected"),
        ("CenterCropPad", (2, 2), {"s": [2, 1]}, {"axes": [0, 0]}, "'axes' has the illegal value"),
        ("MaxUnpool", (1, 1, 2), {"i": [[[0, 1]]]}, {"kernel_shape": [2, 2]}, r"a window of \[2, 2\]"),
        ("MaxUnpool", (1, 1, 2), {"i": [[[0, 1]]], "s": [1, 1, 1]}, {"kernel_shape": [2]}, "is less than"),
    ],
)
def test_refusals(op: str, data: Any, settings: dict[str, Any], words: dict[str, Any], message: str) -> None:
    with pytest.raises(XRelayError, match=message):
        check(op, {"x": np.zeros(data, np.float32)}, settings, **words)
