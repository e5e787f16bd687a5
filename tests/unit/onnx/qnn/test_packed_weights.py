"""DequantizeLinear of constant matrices in blocks: products and gathered rows read the packed numbers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper
from support.onnx_models import model, value

from xrelay.api.compile import compile
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

Array = NDArray[Any]
RNG = np.random.default_rng(8)
BLOCK = 16
TYPES = {"int4": ml_dtypes.int4, "uint4": ml_dtypes.uint4, "int8": np.int8, "uint8": np.uint8}


def weight(dtype: str, axis: int, *, zero: bool) -> tuple[list[TensorProto], Array]:
    """The initializers of a matrix of 48 rows and 32 columns, in blocks along `axis`, and its value."""
    limits = ml_dtypes.iinfo(TYPES[dtype])
    blocks = [48, 32]
    blocks[axis] //= BLOCK
    numbers, points = (RNG.integers(limits.min, limits.max, s, endpoint=True) for s in ((48, 32), blocks))
    scales = RNG.uniform(0.5, 2, blocks).astype(np.float32)
    stored = {"w": numbers.astype(TYPES[dtype]), "s": scales, **({"z": points.astype(TYPES[dtype])} if zero else {})}
    distance = numbers - np.repeat(points, BLOCK, axis) * zero
    return [_tensor(name, each) for name, each in stored.items()], distance * np.repeat(scales, BLOCK, axis)


def _tensor(name: str, array: Array) -> TensorProto:
    if array.dtype.name not in ("int4", "uint4"):
        return numpy_helper.from_array(array, name)
    return helper.make_tensor(name, TensorProto.DataType.Value(array.dtype.name.upper()), array.shape, array.flatten())


def run(
    nodes: list[NodeProto], axis: int, initializers: list[TensorProto], x: Array, **words: Any
) -> tuple[str, list[Array]]:
    """The imported program, and the results of the interpreter and of native code."""
    inputs = [each.name for each in initializers]
    first = helper.make_node("DequantizeLinear", inputs, ["d"], axis=axis, block_size=BLOCK, **words)
    proto = model([first, *nodes], [value("x", x.shape, helper.np_dtype_to_tensor_dtype(x.dtype))], ["y"], opset=23)
    proto.graph.initializer.extend(initializers)
    imported = import_onnx(proto)
    return str(imported), [run_relay(imported, [x])[0], compile(proto, cache=False, threads=1).run([x])[0]]


@pytest.mark.grid(3)
@pytest.mark.parametrize("zero", [True, False])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("nodes", "axis"),
    [
        ([helper.make_node("MatMul", ["x", "d"], ["y"])], 0),
        ([helper.make_node("Gemm", ["x", "d"], ["y"], transB=1)], 1),
        ([helper.make_node("MatMul", ["x", "d"], ["y"])], 1),
    ],
)
def test_products(nodes: list[NodeProto], axis: int, dtype: str, zero: bool) -> None:
    initializers, plain = weight(dtype, axis, zero=zero)
    factor = plain.T if nodes[0].attribute else plain
    x = RNG.normal(size=(3, len(factor))).astype(np.float32)
    text, results = run(nodes, axis, initializers, x)
    assert "relay.qnn.block_dequantize" in text
    for found in results:
        np.testing.assert_allclose(found, x @ factor, rtol=0, atol=1e-6 * np.abs(x @ factor).max())


@pytest.mark.parametrize("dtype", ["int4", "uint8"])
@pytest.mark.parametrize("axis", [0, 1])
def test_gathered_rows(axis: int, dtype: str) -> None:
    initializers, plain = weight(dtype, axis, zero=True)
    rows = np.array([[47, 0], [3, -1]])
    text, results = run([helper.make_node("Gather", ["d", "x"], ["y"])], axis, initializers, rows)
    assert "relay.qnn.block_dequantize" in text
    for found in results:
        np.testing.assert_array_equal(found, plain[rows].astype(np.float32), strict=True)


def test_other_forms_are_dequantised_by_plain_ops() -> None:
    """Scales of half precision, another type of result, and blocks that are not whole words."""
    initializers, plain = weight("int4", 0, zero=False)
    scales = numpy_helper.to_array(initializers[1])
    nodes, x = [helper.make_node("Mul", ["d", "x"], ["y"])], np.array(2, np.float16)
    half = [initializers[0], numpy_helper.from_array(scales.astype(np.float16), "s")]
    for others, words in ((half, {}), (initializers, {"output_dtype": TensorProto.FLOAT16})):
        text, results = run(nodes, 0, others, x, **words)
        assert "relay.qnn.block_dequantize" not in text
        for found in results:
            np.testing.assert_allclose(found.astype(float), plain * 2, rtol=2e-3)
