"""Tensor operators of com.microsoft: interpreter and native code against onnxruntime, or numpy without its support."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike
from support.microsoft_nodes import DOMAIN, check
from support.one_node import Array, both, node_model

from xrelay.errors import ModelImportError, XRelayError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(14)


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def numbers(*shape: int, dtype: DTypeLike = np.uint8) -> Array:
    return RNG.integers(0, 256, shape).astype(dtype)


BLOCKS: dict[str, Any] = {"K": 40, "N": 3, "block_size": 16}


@pytest.mark.parametrize(
    ("bits", "zero", "bias"), [(4, None, False), (4, "packed", True), (8, "packed", False), (2, None, False)]
)
def test_products_by_blocks(bits: int, zero: str | None, bias: bool) -> None:
    weight, scales = numbers(3, 3, 16 * bits // 8), np.abs(normal(3, 3))
    zeros = None if zero is None else numbers(3, -(-3 * bits // 8))
    rest = [None, normal(3)] if bias else []
    inputs = [normal(2, 5, 40), weight, scales, *([zeros] if zero or bias else []), *rest]
    constants = tuple(place for place in range(1, len(inputs)) if inputs[place] is not None)
    check("MatMulNBits", inputs, constants=constants, dims={0: ("n", "s", 40)}, bits=bits, **BLOCKS)


def test_products_by_blocks_that_lie_flat_with_zero_points_as_numbers() -> None:
    inputs = [normal(2, 40), numbers(3, 3, 8), np.abs(normal(9)), normal(9)]
    check("MatMulNBits", inputs, constants=(1, 2, 3), bits=4, **BLOCKS)


@pytest.mark.parametrize("kind", [0, 1])
def test_products_by_the_tables_of_bitsandbytes(kind: int) -> None:
    for rows, depth in ((3, 32), (2, 48)):
        words: dict[str, Any] = {"K": depth, "N": rows, "block_size": 16, "quant_type": kind}
        packed, largest = numbers(rows * depth // 2), np.abs(normal(rows * depth // 16))
        check("MatMulBnb4", [normal(2, 5, depth), packed, largest], constants=(1, 2), **words)


@pytest.mark.parametrize(("bits", "zero"), [(4, True), (8, False)])
def test_rows_of_blocks(bits: int, zero: bool) -> None:
    inputs = [numbers(7, 32 * bits // 8), np.array([[1, 6, 0]]), np.abs(normal(7, 2))]
    if zero:
        inputs.append(numbers(7, bits * 2 // 8))
    words: dict[str, Any] = {"bits": bits, "block_size": 16, "gather_axis": 0, "quantize_axis": 1}
    check("GatherBlockQuantized", inputs, constants=(0, 2, 3), dims={1: ("n", 3)}, **words)


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    ("op", "inputs", "words"),
    [
        ("CDist", [normal(4, 3), normal(5, 3)], {"metric": "euclidean", "dims": {0: ("n", 3)}}),
        ("CDist", [normal(1, 3), normal(5, 3)], {"metric": "sqeuclidean"}),
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
        ("MatMulInteger16", [numbers(3, 4, dtype=np.int16), numbers(4, 2, dtype=np.int16)], {}),
        (
            "ConvTransposeWithDynamicPads",
            [normal(1, 2, 4, 4), normal(2, 3, 3, 3), np.array([1, 0, 1, 1]), normal(3)],
            {"constants": (2,), "strides": [2, 2]},
        ),
    ],
)
def test_tensors(op: str, inputs: list[Array | None], words: dict[str, Any]) -> None:
    check(op, inputs, **words)


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_crops(mode: str) -> None:
    boxes = np.array([[0, 0, 1, 1], [0.1, 0.3, 0.8, 0.7], [-0.2, 0.5, 0.5, 1.3]], np.float32)
    inputs = [normal(2, 3, 5, 6), boxes, np.array([0, 1, 1], np.int32), np.array([3, 4], np.int32)]
    check("CropAndResize", inputs, constants=(3,), mode=mode, extrapolation_value=0.5)


@pytest.mark.parametrize(("masked", "past"), [(False, False), (True, False), (False, True)])
def test_quantised_attention(masked: bool, past: bool) -> None:
    inputs: list[Array | None] = [numbers(2, 4, 6), numbers(6, 24), normal(24)]
    inputs += [np.array(0.02, np.float32), np.array(0.03, np.float32)]
    inputs += [np.array([[1, 1, 1, 0], [1, 1, 0, 0]], np.int32) if masked else None]
    inputs += [np.array(120, np.uint8), np.array(130, np.uint8)]
    inputs += [normal(2, 2, 2, 3, 4)] if past else []
    check("QAttention", inputs, num_heads=2, outputs=("y", "present") if past else ("y",))


def normalised(x: Array, gamma: Array, beta: Array, groups: int) -> Array:
    """Group normalization of images with channels last."""
    parts = x.reshape(x.shape[0], -1, groups, x.shape[-1] // groups)
    mean, variance = parts.mean((1, 3), keepdims=True), parts.var((1, 3), keepdims=True)
    return ((parts - mean) / np.sqrt(variance + 1e-5)).reshape(x.shape) * gamma + beta


@pytest.mark.parametrize("last", [0, 1])
def test_groups_of_channels(last: int) -> None:
    x, skip, gamma, beta, bias = normal(2, 3, 5, 6), normal(2, 6), normal(6), normal(6), normal(6)
    turned = x if last else np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    words: dict[str, Any] = {"groups": 3, "channels_last": last, "domain": DOMAIN}
    for activation in (0, 1):
        for inputs, total in (
            ([turned, gamma, beta], x),
            ([turned, gamma, beta, skip, bias], x + skip[:, None, None] + bias),
        ):
            op, outputs = ("GroupNorm", ("y",)) if len(inputs) == 3 else ("SkipGroupNorm", ("y", "sum"))
            expected = normalised(total, gamma, beta, 3)
            expected = expected / (1 + np.exp(-expected)) if activation else expected
            for found in both(node_model(op, inputs, 17, outputs=outputs, activation=activation, **words), inputs):
                for ours, wanted in zip(found, (expected, total), strict=False):
                    wanted = wanted if last else wanted.transpose(0, 3, 1, 2)
                    np.testing.assert_allclose(ours, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("op", "inputs", "words", "message"),
    [
        ("MatMulNBits", [normal(2, 40), numbers(3, 3, 8), normal(3, 3)], {"bits": 3}, "weights"),
        ("MatMulNBits", [normal(2, 40), numbers(3, 2, 8), normal(3, 3)], {}, "reshape"),
        (
            "MatMulNBits",
            [normal(2, 40), numbers(3, 3, 8), normal(3, 3), None, np.zeros(40, np.int32)],
            {},
            "g_idx and weights in a layout of one processor",
        ),
        ("MatMulNBits", [normal(2, 40), numbers(3, 3, 8), normal(3, 3)], {"block_size": 17}, "illegal value 17"),
    ],
)
def test_refusals_of_blocks(op: str, inputs: list[Array], words: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelImportError, match=message):
        import_onnx(node_model(op, inputs, 17, domain=DOMAIN, **{**BLOCKS, **words}))


@pytest.mark.parametrize(
    ("op", "inputs", "words", "message"),
    [
        ("GatherBlockQuantized", [numbers(7, 2, 8), np.array([1]), normal(7, 2, 1)], {}, "data"),
        ("GatherBlockQuantized", [numbers(7, 8), np.array([1]), normal(7, 2)], {"block_size": 16}, "in blocks of 16"),
        ("GatherBlockQuantized", [numbers(7, 8), np.array([1]), np.array(1.0)], {"block_size": 16}, "with axes"),
        (
            "GatherBlockQuantized",
            [numbers(7, 8), np.array([1]), normal(7, 1), numbers(7, 3)],
            {"block_size": 16},
            "of 1 blocks in a row",
        ),
        (
            "GatherBlockQuantized",
            [numbers(7, 8), np.array([1]), normal(7, 1), numbers(1)],
            {"block_size": 16},
            "of 1 blocks in a row",
        ),
        ("CDist", [normal(3, 4), normal(2, 4)], {"metric": "cosine"}, "illegal value 'cosine'"),
        ("Inverse", [normal(3, 4)], {}, "square matrices are expected"),
        ("UnfoldTensor", [normal(2, 3)], {"size": 4}, "parts of 4 elements of an axis of 3"),
        (
            "ConvTransposeWithDynamicPads",
            [normal(1, 2, 4, 4), normal(2, 3, 3, 3), np.zeros(0, np.int64)],
            {"constants": (2,)},
            "pads",
        ),
        (
            "EmbedLayerNormalization",
            [np.zeros(2, np.int32), None, normal(9, 4), normal(6, 4), None, normal(4), normal(4)],
            {},
            "has no axis 1",
        ),
        ("GroupNorm", [normal(2, 6), normal(6), normal(6)], {"groups": 2, "activation": 0}, "images of"),
        ("NhwcMaxPool", [numbers(2, 6)], {"kernel_shape": [1]}, "images of"),
    ],
)
def test_refusals(op: str, inputs: list[Array], words: dict[str, Any], message: str) -> None:
    with pytest.raises(XRelayError, match=message):
        import_onnx(node_model(op, inputs, 17, domain=DOMAIN, **words))
