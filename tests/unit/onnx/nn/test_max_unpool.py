"""MaxUnpool against onnx's reference, also with an output shape that is an input, and data of dynamic extents."""

from __future__ import annotations

from math import prod
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from support.onnx_models import model, value
from support.onnx_reference import check_settings

from xrelay.api.compile import compile
from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

RNG = np.random.default_rng(12)


def normal(*shape: int) -> NDArray[Any]:
    return RNG.standard_normal(shape).astype(np.float32)


def test_maxima_go_back() -> None:
    data = {"x": normal(2, 3, 2, 2), "i": RNG.permutation(96)[:24].reshape(2, 3, 2, 2)}
    check_settings("MaxUnpool", data, {}, kernel_shape=[2, 2], strides=[2, 2])
    line = {"x": normal(1, 1, 3), "i": np.array([[[0, 3, 5]]])}
    check_settings("MaxUnpool", line, {}, kernel_shape=[2], strides=[2])


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
    ("data", "settings", "words", "message"),
    [
        ((1, 1, 2), {"i": [[[0, 1]]]}, {"kernel_shape": [2, 2]}, r"a window of \[2, 2\]"),
        ((1, 1, 2), {"i": [[[0, 1]]], "s": [1, 1, 1]}, {"kernel_shape": [2]}, "is less than"),
    ],
)
def test_refusals(data: Any, settings: dict[str, Any], words: dict[str, Any], message: str) -> None:
    with pytest.raises(XRelayError, match=message):
        check_settings("MaxUnpool", {"x": np.zeros(data, np.float32)}, settings, **words)
