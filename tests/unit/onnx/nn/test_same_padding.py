"""Windows over images of dynamic extents equal those over images of static extents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from fuzz.onnx_oracles import onnxruntime_outputs
from onnx import helper
from support.onnx_models import model, value

from xrelay.api.compile import compile
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

RNG = np.random.default_rng(3)
SIZES = [(1, 2, 7, 8), (2, 2, 1, 1), (3, 2, 9, 4)]
FILTERS = RNG.normal(size=(3, 2, 3, 2)).astype(np.float32)


def windows(op: str, outputs: tuple[str, ...] = ("y",), **attributes: Any) -> onnx.ModelProto:
    """A node on images of dynamic extents, with filters if it is a convolution."""
    filters = {"Conv": FILTERS, "ConvTranspose": FILTERS.swapaxes(0, 1)}
    constants = {"w": filters[op]} if op in filters else {}
    attributes = attributes if constants else {"kernel_shape": [3, 2], **attributes}
    node = helper.make_node(op, ["x", *constants], outputs, **attributes)
    return model([node], [value("x", ("n", 2, "h", "w"))], outputs, initializers=constants, opset=19)


def check(proto: onnx.ModelProto, sizes: Sequence[tuple[int, ...]] = SIZES) -> None:
    """Checks interpreter and native code at each size against the interpreter of the static model."""
    module, compiled = import_onnx(proto), compile(proto, cache=False)
    for shape in sizes:
        x = RNG.normal(size=shape).astype(np.float32)
        expected = run_relay(import_onnx(proto, shapes={"x": shape}), [x])
        for found in run_relay(module, [x]), compiled.run([x]):
            for ours, known in zip(found, expected, strict=True):
                np.testing.assert_allclose(np.asarray(ours), np.asarray(known), rtol=1e-5, atol=1e-6, strict=True)


@pytest.mark.grid(3, values=lambda op, words, mode: [op, mode])
@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize(
    ("op", "words"),
    [
        ("Conv", {"strides": [2, 3]}),
        ("Conv", {"strides": [2, 2], "dilations": [1, 3]}),
        ("MaxPool", {"strides": [2, 3], "ceil_mode": 1}),
        ("AveragePool", {"strides": [4, 2], "count_include_pad": 0}),
        ("AveragePool", {"strides": [4, 2], "count_include_pad": 1}),
        ("LpPool", {"strides": [2, 3], "p": 3}),
    ],
)
def test_as_many_windows_as_strides(op: str, words: dict[str, Any], mode: str) -> None:
    check(windows(op, auto_pad=mode, **words))


@pytest.mark.grid(3)
@pytest.mark.parametrize("mode", ["NOTSET", "SAME_UPPER"])
@pytest.mark.parametrize(
    "words",
    [
        {"strides": [2, 2], "output_shape": [14, 17], "output_padding": [0, 0]},
        {"strides": [2, 2], "output_shape": [5, 8], "output_padding": [1, 0]},
        {"strides": [1, 3]},
    ],
)
def test_transposed_convolutions_of_a_stated_shape(words: dict[str, Any], mode: str) -> None:
    check(windows("ConvTranspose", auto_pad=mode, **words))


@pytest.mark.grid(2)
@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize(("size", "strides", "pads"), [([2, 2], [2, 2], [1, 1, 1, 1]), ([1, 2], [3, 4], [0, 1, 0, 1])])
def test_windows_that_start_in_the_end_padding_are_left_out(
    op: str, size: list[int], strides: list[int], pads: list[int]
) -> None:
    sizes = [(1, 2, 7, 8), (2, 2, 3, 3), (1, 2, 1, 11)]
    outputs = ("y", "places") if op == "MaxPool" else ("y",)
    proto = windows(op, outputs, kernel_shape=size, strides=strides, pads=pads, ceil_mode=1)
    check(proto, sizes)
    for shape in sizes:
        x = RNG.normal(size=shape).astype(np.float32)
        expected = onnxruntime_outputs(proto, {"x": x})
        assert expected is not None
        for ours, theirs in zip(run_relay(import_onnx(proto), [x]), expected, strict=True):
            np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-5, atol=1e-6, strict=True)


@pytest.mark.parametrize("order", [0, 1])
def test_places_of_maxima_in_all_of_the_data(order: int) -> None:
    check(windows("MaxPool", ("y", "places"), strides=[2, 1], pads=[1, 1, 1, 0], storage_order=order))


def test_an_empty_auto_pad_is_none() -> None:
    check(windows("Conv", auto_pad="", pads=[1, 1, 1, 0], strides=[2, 2]))
