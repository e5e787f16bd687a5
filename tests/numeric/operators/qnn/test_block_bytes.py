"""Products of bytes in blocks: the rewrite of `qnn.block_dense` against sums in f64, at all levels and on CPUs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from support.levels import check_levels

import xrelay
from xrelay import relay, transform
from xrelay.index_algebra.dims import Dim
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context
from xrelay.passes.qnn.round_block_data import QnnRoundBlockDataPass
from xrelay.target import Target

Array = NDArray[np.generic]
TARGETS = ("cpu", "cpu -mcpu=skylake-avx512", "cpu -mcpu=haswell")
RUNS = tuple(target for target in TARGETS if Target.parse(target).runs_here())
RNG = np.random.default_rng(31)


def words(numbers: NDArray[np.int64], bits: int) -> NDArray[np.int32]:
    """Packs numbers without sign by the sum of their places, in exact integers."""
    filled = np.pad(numbers, [(0, 0), (0, -numbers.shape[1] % (32 // bits))])
    places = filled.reshape(len(numbers), -1, 32 // bits) << np.arange(0, 32, bits)
    return places.sum(axis=-1).astype(np.uint32).view(np.int32)


def product(
    rows: Dim, units: int, depth: int, bits: int, block: int, zero: str, scale: str = "float32"
) -> tuple[relay.IRModule, NDArray[np.float64]]:
    """Returns a product that may round its data, and the weight in f64."""
    blocks = depth // block
    weight, points = (RNG.integers(0, 2**bits, (units, count)) for count in (depth, blocks))
    scales = RNG.uniform(0.5, 2, (units, blocks)).astype(scale)
    point = np.full((units, blocks), 2 ** (bits - 1)) if zero == "none" else points
    operand = np.array(0, np.int32) if zero == "none" else words(points, bits)
    constants = [relay.const(each) for each in (words(weight, bits), scales, operand)]
    result = relay.op_function("qnn.block_dense")(
        relay.var("x", shape=(rows, depth)),
        *constants,
        bits=bits,
        block_size=block,
        biased=True,
        rounds_data=True,
    )
    module = relay.IRModule.from_expr(relay.Function(relay.analysis.free_vars(result), relay.nn.relu(result)))
    return module, np.multiply(weight - np.repeat(point, block, 1), np.repeat(scales, block, 1), dtype=np.float64)


def rounded(x: NDArray[np.float32], block: int) -> NDArray[np.float64]:
    """Returns data rounded to 127 steps of the largest value of each block."""
    split = x.reshape(*x.shape[:-1], -1, block)
    largest = np.abs(split).max(-1, keepdims=True)
    inverse = np.float32(127) / np.maximum(largest, np.float32(1e-30))
    return (np.rint(split * inverse) * largest.astype(float) / 127).reshape(x.shape)


@pytest.mark.grid(40)
@pytest.mark.parametrize("target", RUNS)
@pytest.mark.parametrize("zero", ["none", "packed"])
@pytest.mark.parametrize(("bits", "block"), [(2, 16), (2, 64), (4, 16), (4, 32), (4, 128), (8, 16), (8, 128)])
@pytest.mark.parametrize(("rows", "units"), [(1, 48), (1, 16), (2, 40), (6, 100), (3, 5)])
def test_products(rows: int, units: int, bits: int, block: int, zero: str, target: str) -> None:
    module, weight = product(rows, units, 256, bits, block, zero)
    x = RNG.normal(size=(rows, 256)).astype(np.float32)
    lanes = Target.parse(target).lanes()
    expected = np.maximum((rounded(x, block) if lanes == 16 else x) @ weight.T, 0)
    (found,) = xrelay.compile(module, target=target).run([x])
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6 * np.abs(expected).max())


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 7])
def test_dynamic_rows(rows: int) -> None:
    """Full tiles of rows, a rest of one to three rows, and the version for a single row."""
    module, weight = product(relay.Any(), 100, 64, 4, 32, "packed", "float16")
    x = RNG.normal(size=(rows, 64)).astype(np.float32)
    (found,) = xrelay.compile(module).run([x])
    expected = np.maximum(rounded(x, 32) @ weight.T, 0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6 * np.abs(expected).max())


def test_zeros_and_exact() -> None:
    """A block of zeros stays zeros; `exact` keeps f32."""
    module, weight = product(2, 16, 64, 4, 32, "none")
    x = RNG.normal(size=(2, 64)).astype(np.float32)
    x[0, :32] = 0
    x[1] = 0
    (found,) = xrelay.compile(module).run([x])
    expected = np.maximum(rounded(x, 32) @ weight.T, 0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6 * np.abs(expected).max())
    (plain,) = xrelay.compile(module, exact=True).run([x])
    np.testing.assert_allclose(plain, np.maximum(x @ weight.T, 0), rtol=0, atol=2e-6 * np.abs(expected).max())


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_all_levels(bits: int) -> None:
    module, _ = product(3, 20, 64, bits, 32, "packed")
    rewritten = transform.InferType()(module)
    QnnRoundBlockDataPass().apply(full_context(), rewritten)
    assert "contrib_block_dense_bytes" in str(rewritten)
    x = RNG.normal(size=(3, 64)).astype(np.float32)
    (exact,) = run_relay(transform.InferType()(module), [x])
    (found,) = run_relay(rewritten, [x])
    np.testing.assert_allclose(found, exact, rtol=0, atol=0.02 * np.abs(exact).max())
    check_levels(rewritten, [x], rtol=1e-4, every=True)
