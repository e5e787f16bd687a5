"""Conversions to and from 16-bit floats round once, on CPUs with and without conversion instructions."""

from __future__ import annotations

import functools
import re
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from support.levels import check_levels
from support.native_kernels import host_ir
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import relay
from xrelay.dialects.shared.numerics import cast_once
from xrelay.lowering.pipelines import llvm_pipeline
from xrelay.runtime.object_code.llvm_compiler import assembly

BF16, F16 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16)
HALVES = {"bfloat16": BF16, "float16": F16}
TARGETS = ["cpu -mcpu=x86-64", "cpu -mcpu=haswell", "cpu"]


def cast_module(size: int, source: str, target: str) -> ModuleOp:
    return relay.Module.from_expr(relay.cast(relay.var("x", shape=(size,), dtype=source), target))


def native_cast(x: NDArray[Any], target: str, cpu: str) -> NDArray[Any]:
    return xrelay.compile(cast_module(x.size, x.dtype.name, target), target=cpu, cache=False).run([x])[0]


def all_halves(dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.arange(1 << 16, dtype=np.uint16).view(dtype)


@functools.cache
def exact_halves(dtype: np.dtype[Any]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """All values of the type in order, without -0 and NaN, with ± the power of two past the maximum for infinity."""
    with np.errstate(invalid="ignore"):
        halves = np.unique(all_halves(dtype).astype(np.float64))
    halves = halves[~np.isnan(halves)]
    top = 65536.0 if dtype == F16 else 2.0**128
    values = halves.copy()
    values[0], values[-1] = -top, top
    return values, halves.astype(dtype)


def around_the_middles(dtype: np.dtype[Any], source: type[np.floating[Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Every midpoint of adjacent values and its neighbours in `source`, and their rounded values."""
    values, halves = exact_halves(dtype)
    middles = (values[:-1] + values[1:]) / 2
    low, high = halves[:-1], halves[1:]
    even = np.where(low.view(np.uint16) & 1 == 0, low, high)
    below = np.nextafter(middles.astype(source), source(-np.inf))
    above = np.nextafter(middles.astype(source), source(np.inf))
    return np.concatenate([below, middles.astype(source), above]), np.concatenate([low, even, high])


def assert_bits(found: NDArray[Any], expected: NDArray[Any]) -> None:
    """Checks for equal bits; NaNs must be quiet, with any payload."""
    nan = np.isnan(expected.astype(np.float32))
    np.testing.assert_array_equal(found.view(np.uint16)[~nan], expected.view(np.uint16)[~nan])
    quiet = 0x40 if found.dtype == BF16 else 0x200
    assert np.isnan(found.astype(np.float32))[nan].all()
    assert (found.view(np.uint16)[nan] & quiet != 0).all()


def with_zero_sign(expected: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    return np.where(expected == 0, np.copysign(expected, x.astype(np.float32)), expected).astype(expected.dtype)


@pytest.mark.grid(5)
@pytest.mark.parametrize("cpu", TARGETS)
@pytest.mark.parametrize("source", [np.float32, np.float64])
@pytest.mark.parametrize("target", HALVES)
def test_every_middle_is_rounded_once(target: str, source: type[np.floating[Any]], cpu: str):
    x, expected = around_the_middles(HALVES[target], source)
    assert_bits(native_cast(x, target, cpu), with_zero_sign(expected, x))
    with np.errstate(all="ignore"):
        assert_bits(cast_once(x, HALVES[target]), with_zero_sign(expected, x))


@pytest.mark.parametrize("cpu", TARGETS)
@pytest.mark.parametrize("target", HALVES)
def test_numbers_that_rounding_twice_gets_wrong(target: str, cpu: str):
    # Slightly above the midpoint of two values: rounding to f32 yields the midpoint, which then rounds to even.
    bits = 10 if target == "float16" else 7
    middle = 1.0 + 2.0 ** -(bits + 1)
    x = np.array([middle + 2.0**-50, middle - 2.0**-50, -middle - 2.0**-50, 3e-320, -3e-320, 1e300, -1e300, np.nan])
    up = 1.0 + 2.0**-bits
    expected = np.array([up, 1.0, -up, 0.0, -0.0, np.inf, -np.inf, np.nan]).astype(HALVES[target])
    assert_bits(native_cast(x, target, cpu), expected)


@pytest.mark.grid(5)
@pytest.mark.parametrize("cpu", TARGETS)
@pytest.mark.parametrize("target", HALVES)
def test_every_2039th_f32(target: str, cpu: str):
    x = np.arange(0, 1 << 32, 2039, dtype=np.uint64).astype(np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        expected = cast_once(x, HALVES[target])
    assert_bits(native_cast(x, target, cpu), expected)


@pytest.mark.parametrize("cpu", TARGETS)
@pytest.mark.parametrize("target", ["float32", "float64"])
@pytest.mark.parametrize("source", HALVES)
def test_widening_is_exact(source: str, target: str, cpu: str):
    x = all_halves(HALVES[source])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(native_cast(x, target, cpu), x.astype(target))


def nearest_even(value: int, dtype: np.dtype[Any]) -> float:
    """Rounds to nearest, ties to even, by exact arithmetic on Python's integers."""
    values, halves = exact_halves(dtype)
    place = int(np.searchsorted(values, float(value) if abs(value) < 1 << 53 else value))
    around = range(max(place - 2, 0), min(place + 3, values.size))
    distance = {k: abs(Fraction(value) - Fraction(values[k])) for k in around}
    least = min(distance.values())
    ties = [k for k in around if distance[k] == least]
    even = next((k for k in ties if halves[k : k + 1].view(np.uint16)[0] & 1 == 0), ties[0])
    return float(halves[even]) + 0.0  # integers have no negative zero


def integers(dtype: str) -> NDArray[Any]:
    """Integers near the midpoints of 8-bit and 11-bit significands, and the extremes."""
    info, found = np.iinfo(dtype), {0, 1}
    for bits in range(info.bits):
        for digits in (8, 11):
            step = 1 << max(bits - digits + 1, 0)
            for number in ((1 << bits) + step, (1 << bits) + step // 2, (1 << bits) + 3 * step // 2):
                found.update((number - 1, number, number + 1))
    found |= {-value for value in found} | {info.min, info.max, info.max - 1}
    return np.array(sorted(value for value in found if info.min <= value <= info.max), dtype=dtype)


@pytest.mark.grid(5)
@pytest.mark.parametrize("cpu", TARGETS)
@pytest.mark.parametrize("source", ["int32", "uint32", "int64", "uint64"])
def test_integers_are_rounded_once(source: str, cpu: str):
    x = integers(source)
    for target, dtype in HALVES.items():
        expected = np.array([nearest_even(int(value), dtype) for value in x]).astype(dtype)
        assert_bits(native_cast(x, target, cpu), expected)
        with np.errstate(over="ignore"):
            assert_bits(cast_once(x, dtype), expected)
    np.testing.assert_array_equal(native_cast(x, "float32", cpu), x.astype(np.float32))


@pytest.mark.grid(5)
@pytest.mark.parametrize("cpu", TARGETS)
@pytest.mark.parametrize("source", HALVES)
def test_halves_become_integers(source: str, cpu: str):
    x = all_halves(HALVES[source]).astype(np.float32)
    for target in ("int8", "uint8", "int32", "int64", "uint64"):
        info = np.iinfo(target)
        fitting = x[(x > max(info.min - 1.0, -(2.0**63))) & (x < info.max + 1.0)].astype(HALVES[source])
        expected = np.trunc(fitting.astype(np.float64)).astype(target)
        np.testing.assert_array_equal(native_cast(fitting, target, cpu), expected)


def test_levels_agree_on_casts():
    x = around_the_middles(BF16, np.float64)[0][::97].copy()
    for target in HALVES:
        check_levels(cast_module(x.size, "float64", target), [x], rtol=0)


KERNEL = """
func.func @k(%X: memref<64xf64>, %Y: memref<64xT>) {
  %c0 = arith.constant 0 : index
  %n = arith.constant 64 : index
  %step = arith.constant 16 : index
  scf.for %i = %c0 to %n step %step {
    %x = vector.load %X[%i] : memref<64xf64>, vector<16xf64>
    %h = arith.truncf %x : vector<16xf64> to vector<16xT>
    %y = vector.load %Y[%i] : memref<64xT>, vector<16xT>
    %s = arith.addf %h, %y : vector<16xT>
    %a = math.absf %s : vector<16xT>
    %m = arith.maximumf %a, %y : vector<16xT>
    %c = arith.cmpf olt, %m, %y : vector<16xT>
    %r = math.sqrt %m : vector<16xT>
    %o = arith.select %c, %r, %h : vector<16xi1>, vector<16xT>
    vector.store %o, %Y[%i] : memref<64xT>, vector<16xT>
  }
  func.return
}
"""


@pytest.mark.parametrize("type_", ["bf16", "f16"])
@pytest.mark.parametrize("cpu", ["x86-64", "haswell", "znver4"])
def test_nothing_is_called_and_no_denormal_flushed(cpu: str, type_: str):
    pipeline = llvm_pipeline(converts_f16=cpu != "x86-64")
    text = assembly(host_ir(KERNEL.replace("T", type_), (), pipeline), cpu=cpu, features="")
    assert re.findall(r"call\w*\s+\S+", text) == []
    assert "vcvtneps2bf16" not in text
    assert ("vcvtps2ph" in text) == (type_ == "f16" and cpu != "x86-64")


@pytest.mark.grid(5)
@pytest.mark.parametrize("cpu", TARGETS)
@pytest.mark.parametrize("dtype", HALVES)
def test_arithmetic_is_rounded_once(dtype: str, cpu: str):
    rng = np.random.default_rng(1)
    x, y = (rng.permutation(all_halves(HALVES[dtype]))[:4096].copy() for _ in "xy")
    operands = [relay.var(name, shape=(4096,), dtype=dtype) for name in "xy"]
    for op, function in ((relay.add, np.add), (relay.multiply, np.multiply), (relay.divide, np.divide)):
        module = relay.Module.from_expr(op(*operands))
        (found,) = xrelay.compile(module, target=cpu, cache=False).run([x, y])
        with np.errstate(all="ignore"):
            # Sums and products are exact in f64; its quotients of 11-bit significands are never near a midpoint.
            expected = cast_once(function(x.astype(np.float64), y.astype(np.float64)), HALVES[dtype])
        assert_bits(found, expected)


@pytest.mark.parametrize("cpu", TARGETS)
@pytest.mark.parametrize("dtype", HALVES)
def test_what_is_only_handed_on_keeps_its_bits(dtype: str, cpu: str):
    """Also through branches, where LLVM would convert a bfloat to f32 and back."""
    x = all_halves(HALVES[dtype]).reshape(256, 256)
    padded = relay.nn.pad(
        relay.transpose(relay.var("x", shape=(256, 256), dtype=dtype)), pad_value=1, pad_width=(1, 0, 0, 2)
    )
    model = xrelay.compile(relay.Module.from_expr(padded), target=cpu, cache=False)
    expected = np.pad(
        x.T.view(np.uint16), ((1, 0), (0, 2)), constant_values=np.ones(1, HALVES[dtype]).view(np.uint16)[0]
    )
    np.testing.assert_array_equal(model(x)[0].view(np.uint16), expected)
