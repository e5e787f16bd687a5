"""Windows of images whose extents only the run tells: as on images of known extents."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from support.onnx_models import model, value

from xrelay.api.compile import compile
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

RNG = np.random.default_rng(3)
SIZES = [(1, 2, 7, 8), (2, 2, 1, 1), (3, 2, 9, 4)]
FILTERS = RNG.normal(size=(3, 2, 3, 2)).astype(np.float32)


def windows(op: str, outputs: tuple[str, ...] = ("y",), **attributes: Any) -> onnx.ModelProto:
    """A node on images of open extents, with filters where it is a convolution."""
    constants = {"w": FILTERS} if op == "Conv" else {}
    kernel = {} if op == "Conv" else {"kernel_shape": [3, 2]}
    node = helper.make_node(op, ["x", *constants], outputs, **kernel, **attributes)
    return model([node], [value("x", ("n", 2, "h", "w"))], outputs, initializers=constants, opset=19)


def check(proto: onnx.ModelProto) -> None:
    """Interpreter and native code at each size equal the interpreter of the model for that size."""
    module, compiled = import_onnx(proto), compile(proto, cache=False)
    for shape in SIZES:
        x = RNG.normal(size=shape).astype(np.float32)
        expected = run_relay(import_onnx(proto, shapes={"x": shape}), [x])
        for found in run_relay(module, [x]), compiled.run([x]):
            for ours, known in zip(found, expected, strict=True):
                np.testing.assert_allclose(np.asarray(ours), np.asarray(known), rtol=1e-5, atol=1e-6, strict=True)


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
def test_as_many_windows_as_strides(mode: str) -> None:
    check(windows("Conv", auto_pad=mode, strides=[2, 3]))
    check(windows("Conv", auto_pad=mode, strides=[2, 2], dilations=[1, 3]))
    check(windows("MaxPool", auto_pad=mode, strides=[2, 3], ceil_mode=1))
    for counts_padding in (0, 1):
        check(windows("AveragePool", auto_pad=mode, strides=[4, 2], count_include_pad=counts_padding))


@pytest.mark.parametrize("order", [0, 1])
def test_places_of_maxima_in_all_of_the_data(order: int) -> None:
    check(windows("MaxPool", ("y", "places"), strides=[2, 1], pads=[1, 1, 1, 0], storage_order=order))


def test_an_empty_auto_pad_is_none() -> None:
    check(windows("Conv", auto_pad="", pads=[1, 1, 1, 0], strides=[2, 2]))
