"""Weights in blocks: interpreter and native code against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike
from support.microsoft_nodes import DOMAIN, check
from support.one_node import Array, node_model

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


@pytest.mark.parametrize("level", [0, 4])
def test_accuracy_level_four_permits_data_of_bytes(level: int) -> None:
    words: dict[str, Any] = {"K": 64, "N": 3, "block_size": 32, "bits": 4, "accuracy_level": level}
    inputs = [normal(2, 64), numbers(3, 2, 16), np.abs(normal(3, 2))]
    text = str(import_onnx(node_model("MatMulNBits", inputs, 21, domain=DOMAIN, constants=(1, 2), **words)))
    assert ("rounds_data = true" in text) == (level == 4)


@pytest.mark.parametrize("constants", [(1, 2, 3), (2, 3), (1, 3), (1, 2)])
def test_products_by_blocks_of_the_run(constants: tuple[int, ...]) -> None:
    """A weight with an input that is known only at run time is dequantised by plain ops."""
    inputs = [normal(2, 40), numbers(3, 3, 8), np.abs(normal(3, 3)), numbers(3, 2)]
    check("MatMulNBits", inputs, constants=constants, bits=4, **BLOCKS)
    text = str(import_onnx(node_model("MatMulNBits", inputs, 17, domain=DOMAIN, constants=constants, bits=4, **BLOCKS)))
    assert ("relay.qnn.block_dense" in text) == (len(constants) == 3)


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


@pytest.mark.parametrize(
    ("op", "inputs", "words", "message"),
    [
        ("MatMulNBits", [normal(2, 40), numbers(3, 3, 8), normal(3, 3)], {"bits": 3}, "weights"),
        ("MatMulNBits", [normal(2, 40), numbers(3, 2, 8), normal(3, 3)], {}, "reshape"),
        ("MatMulNBits", [normal(2, 40), numbers(3, 2, 8), normal(3, 3)], {"constants": (1, 2)}, "expected"),
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
    ],
)
def test_refusals_of_rows(op: str, inputs: list[Array], words: dict[str, Any], message: str) -> None:
    with pytest.raises(XRelayError, match=message):
        import_onnx(node_model(op, inputs, 17, domain=DOMAIN, **words))
