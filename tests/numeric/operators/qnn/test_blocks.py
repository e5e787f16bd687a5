"""Weights in blocks: the interpreter against sums in f64, and native code against the interpreter, on several CPUs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from support.levels import check_levels

import xrelay
from xrelay import relay, transform
from xrelay.interpreters.relay import run_relay
from xrelay.target import Target

Array = NDArray[np.generic]
TARGETS = ("cpu", "cpu -mcpu=haswell", "cpu -mcpu=x86-64")
RUNS = tuple(target for target in TARGETS if Target.parse(target).runs_here())
RNG = np.random.default_rng(23)


def words(numbers: NDArray[np.int64], bits: int) -> NDArray[np.int32]:
    """Packs numbers by the sum of their places, in exact integers."""
    filled = np.pad(numbers, [(0, 0), (0, -numbers.shape[1] % (32 // bits))]) % 2**bits
    places = filled.reshape(len(numbers), -1, 32 // bits) << np.arange(0, 32, bits)
    return places.sum(axis=-1).astype(np.uint32).view(np.int32)


def numbers(rows: int, columns: int, bits: int) -> NDArray[np.int64]:
    return RNG.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), (rows, columns))


def product(
    rows: int,
    units: int,
    depth: int,
    bits: int,
    block: int,
    zero: str,
    scale: str = "float32",
    *,
    biased: bool = False,
) -> tuple[relay.Expr, Array, NDArray[np.float64]]:
    """Returns a product by a weight in blocks, its data, and its value in f64."""
    blocks = -(-depth // block)
    weight, scales = numbers(units, blocks * block, bits), RNG.uniform(0.5, 2, (units, blocks)).astype(scale)
    points: dict[str, tuple[Array, Array]] = {}
    packed = numbers(units, blocks, bits)
    half = 2 ** (bits - 1) * biased
    points["packed"] = words(packed + half, bits), packed
    floats = RNG.normal(size=(units, blocks)).astype("float32")
    points["floats"] = floats, floats
    points["one"] = np.array(-3, np.int32), np.full((units, blocks), -3)
    points["none"] = np.array(0, np.int32), np.zeros((units, blocks))
    operand, point = points[zero]
    plain = (weight - np.repeat(point, block, 1).astype(float)) * np.repeat(scales, block, 1).astype(float)
    x = RNG.normal(size=(rows, depth)).astype(np.float32)
    constants = [relay.const(each) for each in (words(weight + half, bits), scales, operand)]
    result = relay.op_function("qnn.block_dense")(
        relay.var("x", shape=(rows, depth)), *constants, bits=bits, block_size=block, biased=biased
    )
    return result, x, x.astype(float) @ plain[:, :depth].T


@pytest.mark.grid(200, values=lambda **given: given.items())
@pytest.mark.parametrize("target", RUNS)
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("zero", ["none", "one", "packed", "floats"])
@pytest.mark.parametrize(("bits", "block"), [(2, 16), (2, 64), (4, 16), (4, 32), (4, 128), (8, 16), (8, 256)])
@pytest.mark.parametrize(
    ("rows", "units", "depth"), [(1, 48, 256), (2, 40, 240), (6, 16, 250), (40, 100, 256), (3, 5, 20)]
)
def test_products(
    rows: int, units: int, depth: int, bits: int, block: int, zero: str, biased: bool, target: str
) -> None:
    result, x, expected = product(rows, units, depth, bits, block, zero, biased=biased)
    module = relay.IRModule.from_expr(relay.Function(relay.analysis.free_vars(result), relay.nn.relu(result)))
    bound = 1e-6 * np.abs(expected).max()
    for found in (run_relay(transform.InferType()(module), [x])[0], xrelay.compile(module, target=target).run([x])[0]):
        np.testing.assert_allclose(found, np.maximum(expected, 0), rtol=0, atol=bound)


@pytest.mark.parametrize("scale", ["float16", "bfloat16"])
def test_scales_of_half_precision(scale: str) -> None:
    result, x, expected = product(3, 32, 64, 4, 32, "packed", scale)
    module = relay.IRModule.from_expr(relay.Function(relay.analysis.free_vars(result), result))
    assert xrelay.same(module, xrelay.compile(module))
    np.testing.assert_allclose(xrelay.compile(module).run([x])[0], expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("level", [0, 2])
def test_products_at_low_levels(level: int) -> None:
    """The weight keeps its plain layout."""
    result, x, expected = product(3, 32, 64, 4, 32, "packed")
    module = relay.IRModule.from_expr(relay.Function(relay.analysis.free_vars(result), result))
    with transform.PassContext(opt_level=level):
        found = xrelay.compile(module).run([x])[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("bits", [2, 4, 8])
def test_numbers(bits: int, biased: bool) -> None:
    """Dequantised numbers are the rounded products of exact differences, in native code too."""
    weight, points = numbers(7, 96, bits), numbers(7, 3, bits)
    scales = RNG.uniform(0.5, 2, (7, 3)).astype(np.float32)
    half = 2 ** (bits - 1) * biased
    arrays = [words(weight + half, bits), scales, words(points + half, bits)]
    operands = [relay.var(f"a{k}", shape=array.shape, dtype=str(array.dtype)) for k, array in enumerate(arrays)]
    result = relay.op_function("qnn.block_dequantize")(*operands, bits=bits, block_size=32, biased=biased)
    module = relay.IRModule.from_expr(relay.Function(operands, result))
    expected = (weight - np.repeat(points, 32, 1)).astype(np.float32) * np.repeat(scales, 32, 1)
    for found in (run_relay(transform.InferType()(module), arrays)[0], xrelay.compile(module).run(arrays)[0]):
        np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize("rows", [1, 5])
def test_products_at_all_levels(rows: int) -> None:
    result, x, _ = product(rows, 40, 96, 4, 32, "packed", biased=True)
    module = relay.IRModule.from_expr(relay.Function(relay.analysis.free_vars(result), result))
    check_levels(transform.InferType()(module), [x], rtol=1e-4, every=True)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("zero", ["none", "one", "units"])
@pytest.mark.parametrize("units_axis", [0, 1])
def test_dequantized_bytes(units_axis: int, zero: str, dtype: str) -> None:
    """A weight of dequantised bytes is packed with the same numbers; each product has its own words."""
    limits, depth, units = np.iinfo(dtype), 260, 270
    shape = (units, depth) if units_axis == 0 else (depth, units)
    along = (units, 1) if units_axis == 0 else (1, units)
    numbers = RNG.integers(limits.min, limits.max + 1, shape).astype(dtype)
    points = {"none": 0, "one": 7, "units": RNG.integers(limits.min, limits.max + 1, along)}[zero]
    scale, x = RNG.uniform(0.5, 2, along).astype(np.float32), RNG.normal(size=(5, depth)).astype(np.float32)
    distance = relay.cast(relay.const(numbers), dtype="float32")
    if zero != "none":
        distance = relay.subtract(distance, relay.const(np.float32(points)))
    weight = relay.multiply(distance, relay.const(scale))
    data = relay.var("x", shape=x.shape)
    result = relay.nn.matmul(data, weight, transpose_b=units_axis == 0)
    module = transform.InferType()(relay.IRModule.from_expr(relay.Function([data], result)))
    assert "relay.qnn.block_dense" in str(transform.create_pass("qnn-fuse-block-dequantize")(module))
    plain = (numbers.astype(float) - points) * scale.astype(float)
    expected = x @ (plain.T if units_axis == 0 else plain)
    found = xrelay.compile(module).run([x])[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())
