"""The expansions of math-expand, compiled, against double precision over the whole range of floats."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from support.examples import FACTOR
from support.native_kernels import NativeKernel

from xrelay.target import Target

Floats = NDArray[np.float32]


STEP = 1021 if FACTOR > 1 else 4093


def all_floats() -> Floats:
    """Every `STEP`-th float of either sign, all infinities, zeros, the extremes, the first and last denormals, NaNs."""
    bits = np.arange(0, 2**32, STEP, dtype=np.uint64).astype(np.uint32)
    ends = np.array([0, 1, 2, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000], dtype=np.uint32)
    values = np.concatenate([bits, ends, ends | 0x80000000]).view(np.float32)
    interesting = np.linspace(-120, 120, 100_003, dtype=np.float32)
    everything = np.concatenate([values, interesting])
    return np.resize(everything, -(-everything.size // 64) * 64)


def kernel(body: str, size: int, type_: str, *, lanes: int, passes: tuple[str, ...] = ()) -> NativeKernel:
    value = f"vector<{lanes}x{type_}>" if lanes > 1 else type_
    memory = f"memref<{size}x{type_}>"
    load = f"vector.load %x[%i] : {memory}, {value}" if lanes > 1 else f"memref.load %x[%i] : {memory}"
    store = f"vector.store %r, %y[%i] : {memory}, {value}" if lanes > 1 else f"memref.store %r, %y[%i] : {memory}"
    return NativeKernel(
        f"""
func.func @k(%x: {memory}, %y: {memory}) {{
  %c0 = arith.constant 0 : index
  %n = arith.constant {size} : index
  %step = arith.constant {lanes} : index
  scf.for %i = %c0 to %n step %step {{
    %v = {load}
    {body.replace("T", value)}
    {store}
  }}
  func.return
}}
""",
        passes=passes,
    )


def run(body: str, x: NDArray[np.generic], type_: str = "f32", *, lanes: int = 16) -> NDArray[np.generic]:
    y = np.empty_like(x)
    kernel(body, x.size, type_, lanes=lanes)(x, y)
    return y


def ulps(result: Floats, exact: NDArray[np.float64]) -> NDArray[np.float64]:
    """Errors in units of the last place of the exact result; NaNs and infinities must agree."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
    assert np.array_equal(np.isnan(result), np.isnan(exact))
    finite = np.isfinite(rounded) & np.isfinite(result)
    assert np.array_equal(result[~finite & ~np.isnan(exact)], rounded[~finite & ~np.isnan(exact)])
    unit = np.spacing(np.maximum(np.abs(rounded[finite]), np.float32(2.0**-126))).astype(np.float64)
    return np.abs(result[finite].astype(np.float64) - exact[finite]) / unit


def erf(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.vectorize(math.erf, otypes=[np.float64])(x)


FUNCTIONS: dict[str, tuple[Callable[[NDArray[np.float64]], NDArray[np.float64]], float]] = {
    "exp": (np.exp, 1.5),
    "exp2": (np.exp2, 2.0),
    "log": (np.log, 1.5),
    "tanh": (np.tanh, 2.0),
    "erf": (erf, 2.0),
    "sin": (np.sin, 2.0),
    "cos": (np.cos, 2.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_error_over_the_whole_range(name: str):
    function, bound = FUNCTIONS[name]
    x = all_floats()
    with np.errstate(all="ignore"):
        exact = function(x.astype(np.float64))
    error = ulps(run(f"%r = math.{name} %v : T", x), exact)
    assert error.max() <= bound


POWERS = {**dict.fromkeys((2.0, 3.0, 4.0, 0.5, -0.5, -1.0), 2.5), **dict.fromkeys((1.7, -2.25, 7.0, 300.0), 0.6)}
"""Maps exponents to the bound of the error: of products, roots and quotients, and of other powers."""


@pytest.mark.parametrize("exponent", POWERS)
def test_error_of_powers(exponent: float):
    x = all_floats()
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), np.full(x.shape, float(np.float32(exponent))))
    body = f"%e = arith.constant dense<{exponent}> : T\n%r = math.powf %v, %e : T"
    assert ulps(run(body, x), exact).max() <= POWERS[exponent]


def test_powers_of_special_numbers():
    """Zeros, ones, infinities, NaNs, denormals, and odd, even, fractional and large exponents, each with each."""
    numbers = [0.0, 1.0, 2.0, 3.0, 0.5, 2.5, 1e-45, 1e-3, 1e38, 16777215.0, 33554432.0, math.inf]
    values = np.array([*numbers, *(-each for each in numbers), math.nan], np.float32)
    x, e = (np.resize(each.ravel(), 640) for each in np.meshgrid(values, values))
    memory, lanes = "memref<640xf32>", "vector<16xf32>"
    found = np.empty_like(x)
    NativeKernel(
        f"""
func.func @k(%x: {memory}, %e: {memory}, %y: {memory}) {{
  %c0 = arith.constant 0 : index
  %n = arith.constant 640 : index
  %step = arith.constant 16 : index
  scf.for %i = %c0 to %n step %step {{
    %v = vector.load %x[%i] : {memory}, {lanes}
    %w = vector.load %e[%i] : {memory}, {lanes}
    %r = math.powf %v, %w : {lanes}
    vector.store %r, %y[%i] : {memory}, {lanes}
  }}
  func.return
}}
"""
    )(x, e, found)
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), e.astype(np.float64))
    assert ulps(found, exact).max() <= 0.6
    zero = found == 0
    np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(exact[zero]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_scalars_give_what_vectors_give(name: str):
    x = all_floats()[::997][: 64 * 60].copy()
    x = x[: x.size // 64 * 64]
    vector, scalar = run(f"%r = math.{name} %v : T", x), run(f"%r = math.{name} %v : T", x, lanes=1)
    np.testing.assert_allclose(scalar, vector, rtol=1e-6)


@pytest.mark.skipif(not Target.host().scalef, reason="needs AVX-512")
@pytest.mark.parametrize("lanes", [1, 8, 16])
def test_exp_by_scalef_has_the_same_bits(lanes: int):
    x, found = all_floats(), np.empty_like(all_floats())
    kernel("%r = math.exp %v : T", x.size, "f32", lanes=lanes, passes=("math-expand{scalef=true}",))(x, found)
    np.testing.assert_array_equal(found, run("%r = math.exp %v : T", x))


@pytest.mark.skipif(not Target.host().scalef, reason="needs AVX-512")
def test_exp_of_doubles_by_scalef_has_the_same_bits():
    doubles = np.linspace(-760, 720, 8000)
    wide = np.empty_like(doubles)
    kernel("%r = math.exp %v : T", doubles.size, "f64", lanes=8, passes=("math-expand{scalef=true}",))(doubles, wide)
    np.testing.assert_array_equal(wide, run("%r = math.exp %v : T", doubles, "f64", lanes=8))


@pytest.mark.skipif(not Target.host().scalef, reason="needs AVX-512")
@pytest.mark.parametrize("lanes", [1, 16])
def test_error_of_exp2_by_scalef(lanes: int):
    x, found = all_floats(), np.empty_like(all_floats())
    kernel("%r = math.exp2 %v : T", x.size, "f32", lanes=lanes, passes=("math-expand{scalef=true}",))(x, found)
    with np.errstate(all="ignore"):
        assert ulps(found, np.exp2(x.astype(np.float64))).max() <= 2


@pytest.mark.skipif(not Target.host().fma, reason="needs fused multiply-adds")
@pytest.mark.parametrize("divisor", [0.3, 0.05, -0.07, 3.0, 127.0, 1 / 255, -0.0123, 1e-4, 0.25, 1e-30, 0.0, np.inf])
def test_rounded_quotients_are_those_of_division(divisor: float):
    x = np.concatenate([all_floats(), hardest_numerators(divisor)])
    x = np.resize(x, -(-x.size // 64) * 64)
    found = np.empty_like(x)
    constant = f"dense<{np.float32(divisor).view(np.uint32):#x}>"
    body = f"%c = arith.constant {constant} : T\n    %q = arith.divf %v, %c : T\n    %r = math.roundeven %q : T"
    kernel(body, x.size, "f32", lanes=16, passes=("math-expand{fma=true}",))(x, found)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found, np.round(x / np.float32(divisor)))


def hardest_numerators(divisor: float) -> Floats:
    """Floats whose quotients are near the middle of two integers or of two floats."""
    with np.errstate(all="ignore"):
        halves = (np.arange(-(2**16), 2**16) + np.float32(0.5)) * np.float32(divisor)
    near = [halves.view(np.int32) + step for step in range(-2, 3)]
    return np.concatenate(near).astype(np.int32).view(np.float32)


def test_sigmoid_needs_no_pattern():
    x = all_floats()
    body = """
    %one = arith.constant ONE : T
    %neg = arith.negf %v : T
    %e = math.exp %neg : T
    %d = arith.addf %e, %one : T
    %r = arith.divf %one, %d : T"""
    y = run(body.replace("ONE", "dense<1.0>"), x)
    with np.errstate(all="ignore"):
        exact = 1 / (1 + np.exp(-x.astype(np.float64)))
    normal = np.isnan(exact) | (exact >= 2.0**-126)
    assert ulps(y[normal], exact[normal]).max() <= 3
    assert np.all(y[~normal] <= 2.0**-126)


def test_f16_is_computed_in_f32_and_rounded_once():
    x = np.arange(2**16, dtype=np.uint16).view(np.float16)
    y = run("%r = math.exp %v : T", x, "f16")
    with np.errstate(all="ignore"):
        exact = np.exp(x.astype(np.float64)).astype(np.float16)
    same = (y == exact) | (np.isnan(y) & np.isnan(exact))
    assert np.mean(same) > 0.999
    np.testing.assert_allclose(y[~np.isnan(exact)], exact[~np.isnan(exact)], rtol=2e-3)


def doubles(limit: float) -> NDArray[np.float64]:
    """Numbers of all magnitudes up to `limit`, the neighbours of multiples of π/2, zeros, infinities and NaN."""
    random = np.random.default_rng(0)
    spread = np.exp2(random.uniform(-60, np.log2(limit), 40_000)) * random.choice([-1, 1], 40_000)
    multiples = np.arange(-5000, 5000) * (np.pi / 2)
    ends = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 709.7, 709.8, -708.3, -745.2, 1e300, -1e300]
    return np.resize(np.concatenate([spread, multiples, ends]), 64 * 800)


@pytest.mark.parametrize(("name", "bound"), [("exp", 1.5), ("tanh", 2.0), ("sin", 2.0), ("cos", 2.0)])
@pytest.mark.parametrize("lanes", [1, 8])
def test_error_of_doubles(name: str, bound: float, lanes: int):
    x = doubles(2e6 if name in ("sin", "cos") else 800.0)
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(x)
        result = run(f"%r = math.{name} %v : T", x, "f64", lanes=lanes)
        finite = np.isfinite(exact)
        error = np.abs(result - exact)[finite] / np.maximum(np.spacing(np.abs(exact[finite])), 5e-324)
    np.testing.assert_array_equal(result[~finite], exact[~finite])
    np.testing.assert_array_equal(np.signbit(result[finite]), np.signbit(exact[finite]))
    assert error.max() <= bound
