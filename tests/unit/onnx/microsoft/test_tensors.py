"""Operators of com.microsoft on tensors: interpreter and native code against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike
from support.microsoft_nodes import DOMAIN, check
from support.one_node import Array, node_model

from xrelay.errors import XRelayError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(14)


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def numbers(*shape: int, dtype: DTypeLike = np.uint8) -> Array:
    return RNG.integers(0, 256, shape).astype(dtype)


@pytest.mark.parametrize(
    ("op", "inputs", "words"),
    [
        ("Trilu", [normal(3, 4)], {"upper": 0}),
        ("ExpandDims", [normal(3, 4), np.array(-2, np.int32)], {"constants": (1,)}),
        ("GatherND", [normal(3, 4), np.array([[0, 1], [2, 3]])], {}),
        ("Inverse", [normal(3, 3)], {}),
        ("Inverse", [np.array([[0, 2, 0], [1, 0, 0], [0, 0, -4]], np.float32)], {}),
        ("Inverse", [normal(2, 4, 1, 1)], {}),
        ("Inverse", [normal(3, 4, 4)], {"dims": {0: ("n", 4, 4)}}),
        ("Pad", [normal(2, 3), np.array([0, 1, 2, 0]), np.array(3, np.float32)], {"constants": (1,)}),
        ("Range", [np.array(1, np.int32), np.array(9, np.int32), np.array(3, np.int32)], {}),
        ("Range", [np.array(1, np.int32), np.array(4, np.int32)], {}),
        ("Unique", [np.float32([2, 1, 2, 2, 0, 1])], {"outputs": ("y", "places", "counts")}),
        ("Unique", [np.float32([2, 1, 2])], {"outputs": ("y", "places", "counts"), "dims": {0: ("n",)}}),
        ("GridSample", [normal(1, 2, 4, 4), normal(1, 3, 3, 2)], {"align_corners": 1, "padding_mode": "border"}),
        ("UnfoldTensor", [normal(2, 9)], {"size": 4, "step": 2}),
        ("UnfoldTensor", [normal(2, 9, 3)], {"dim": 1, "size": 3, "dims": {0: (2, "n", 3)}}),
        ("NhwcMaxPool", [numbers(1, 5, 6, 3)], {"kernel_shape": [2, 3], "strides": [2, 1], "pads": [1, 1, 0, 1]}),
    ],
)
def test_tensors(op: str, inputs: list[Array | None], words: dict[str, Any]) -> None:
    check(op, inputs, **words)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_crops(mode: str) -> None:
    boxes = np.array([[0, 0, 1, 1], [0.1, 0.3, 0.8, 0.7], [-0.2, 0.5, 0.5, 1.3]], np.float32)
    inputs = [normal(2, 3, 5, 6), boxes, np.array([0, 1, 1], np.int32), np.array([3, 4], np.int32)]
    check("CropAndResize", inputs, constants=(3,), mode=mode, extrapolation_value=0.5)


@pytest.mark.parametrize(
    ("op", "inputs", "words", "message"),
    [
        ("Range", [np.array(0), np.array(np.nan, np.float32)], {"constants": (0, 1)}, "the bounds of Range are"),
        ("Sampling", [normal(1, 2)], {}, "no converter for this op"),
        ("Inverse", [normal(3, 4)], {}, "square matrices are expected"),
        ("UnfoldTensor", [normal(2, 3)], {"size": 4}, "parts of 4 elements of an axis of 3"),
        ("NhwcMaxPool", [numbers(2, 6)], {"kernel_shape": [1]}, "images of"),
    ],
)
def test_refusals(op: str, inputs: list[Array], words: dict[str, Any], message: str) -> None:
    with pytest.raises(XRelayError, match=message):
        import_onnx(node_model(op, inputs, 17, domain=DOMAIN, **words))
