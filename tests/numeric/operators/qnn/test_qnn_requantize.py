"""Rounding of quantised numbers against exact fractions, at extreme integers and scales, also in native code."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.one_op import applied

DTYPES = ("int8", "uint8", "int16", "uint16", "int32")
INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1
EXTREMES = [INT32_MIN, INT32_MIN + 1, -3, -2, -1, 0, 1, 2, 3, 5, 1 << 30, INT32_MAX - 1, INT32_MAX]
SCALES = [0.0, 2.0**-60, 2.0**-33, 2.0**-32, 2.0**-31, 1e-3, 0.25, 0.5, 1.0, 1.5, 3.0, 1e4, 2.0**30, 2.0**31, 2.0**60]

Array = NDArray[Any]


def f32(value: object) -> Array:
    return np.array(value, np.float32)


def i32(value: object) -> Array:
    return np.array(value, np.int32)


def rounded(value: Fraction, *, away: bool) -> int:
    """The nearest integer; halves round upwards or away from zero."""
    if away and value < 0:
        return -math.floor(-value + Fraction(1, 2))
    return math.floor(value + Fraction(1, 2))


def factor(ratio: float) -> Fraction:
    """A ratio rounded to a 31-bit significand, halves away from zero."""
    significand, exponent = math.frexp(abs(ratio))
    return Fraction(math.floor(Fraction(significand) * 2**31 + Fraction(1, 2))) * Fraction(2) ** (exponent - 31)


def expected(data: Array, zero: int, ratio: float, output_zero: int, dtype: str, *, away: bool) -> list[int]:
    """The definition of requantize, in fractions."""
    limits = np.iinfo(dtype)
    found: list[int] = []
    for number in data.reshape(-1):
        distance = int(np.subtract(number.astype(np.int32), np.int32(zero)))
        whole = rounded(distance * factor(ratio), away=away)
        if abs(ratio) < 2.0**-32:
            whole = 0
        zero_point = min(max(output_zero, limits.min), limits.max)
        found.append(min(max(whole + zero_point, limits.min), limits.max))
    return found


@pytest.mark.grid(50)
@pytest.mark.parametrize("rounding", ["UPWARD", "TONEAREST"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", SCALES)
def test_fixed_point_rounds_as_fractions_do(scale: float, dtype: str, rounding: str) -> None:
    data = i32([*EXTREMES, *np.random.default_rng(int(scale * 7) % 97).integers(-5000, 5000, 40)])
    got = applied("qnn.requantize", data, f32(scale), i32(0), f32(1.0), i32(-7), rounding=rounding, out_dtype=dtype)
    assert got.tolist() == expected(data, 0, scale, -7, dtype, away=rounding == "TONEAREST")


@pytest.mark.grid(2)
@pytest.mark.parametrize("seed", range(6))
def test_random_scales_and_zero_points(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dtype, source = rng.choice(DTYPES[:4]), rng.choice(DTYPES)
    scale, output_scale = f32(rng.uniform(1e-4, 2)), f32(rng.uniform(1e-4, 2))
    limits = np.iinfo(source)
    data = rng.integers(limits.min, limits.max, 60, endpoint=True).astype(source)
    zero, output_zero = int(rng.integers(-100, 100)), int(rng.integers(-300, 300))
    got = applied("qnn.requantize", data, scale, i32(zero), output_scale, i32(output_zero), out_dtype=dtype)
    ratio = float(scale) / float(output_scale)
    assert got.tolist() == expected(data, zero, ratio, output_zero, dtype, away=False)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats_round_halves_as_they_are_asked_to(dtype: str) -> None:
    data = i32([-5, -3, -1, 0, 1, 3, 5])
    given = (data, f32(0.5), i32(0), f32(1.0), i32(0))
    assert applied("qnn.requantize", *given, compute_dtype=dtype).tolist() == [-2, -1, 0, 0, 1, 2, 3]
    away = applied("qnn.requantize", *given, compute_dtype=dtype, rounding="TONEAREST")
    assert away.tolist() == [-3, -2, -1, 0, 1, 2, 3]


def test_floats_do_not_round_twice() -> None:
    """The greatest f32 below a half, and its negative, are nearer to 0 than to 1."""
    ratio = np.nextafter(np.float32(0.5), np.float32(0))
    for rounding in ("UPWARD", "TONEAREST"):
        got = applied(
            "qnn.requantize",
            i32([1, -1]),
            f32(ratio),
            i32(0),
            f32(1),
            i32(0),
            rounding=rounding,
            compute_dtype="float32",
        )
        assert got.tolist() == [0, 0]


@pytest.mark.parametrize("compute", ["int64", "float32", "float64"])
def test_scales_that_are_no_numbers(compute: str) -> None:
    """Results saturate, except for a difference of 0, whose product is 0 or NaN, which counts as 0."""
    got = applied(
        "qnn.requantize", i32([[-9, 0, 9]]), f32([np.inf]), i32(0), f32(1), i32(5), axis=1, compute_dtype=compute
    )
    assert got.tolist() == [[-128, 5, 127]]


def test_each_place_along_an_axis_has_its_parameters() -> None:
    data = i32(np.arange(24).reshape(2, 3, 4) * 100 - 1000)
    scales, zeros = f32([0.5, 0.25, 2.0]), i32([1, -2, 3])
    got = applied("qnn.requantize", data, scales, zeros, f32(0.75), i32(4), axis=-2)
    for place in range(3):
        own = applied("qnn.requantize", data[:, place], scales[place], zeros[place], f32(0.75), i32(4))
        np.testing.assert_array_equal(got[:, place], own)


@pytest.mark.parametrize("dtype", DTYPES)
def test_quantize_saturates_and_takes_what_is_no_number_for_zero(dtype: str) -> None:
    limits = np.iinfo(dtype)
    data = f32([np.nan, np.inf, -np.inf, 1e30, -1e30, 0.0, -0.0, 0.5, 1.5, 2.5, -0.5, 3e9, -3e9])
    got = applied("qnn.quantize", data, f32(1.0), i32(3), out_dtype=dtype)
    low, high = limits.min, limits.max
    assert got.tolist() == [3, high, low, high, low, 3, 3, 3, 5, 5, 3, high, low]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_there_and_back_is_half_a_step_at_most(dtype: str) -> None:
    import ml_dtypes

    kind = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    data = np.random.default_rng(2).uniform(-3, 3, (5, 7)).astype(kind)
    numbers = applied("qnn.quantize", data, f32(0.03), i32(7))
    back = applied("qnn.dequantize", numbers, f32(0.03), i32(7), out_dtype=dtype)
    assert back.dtype == kind
    assert np.abs(back.astype(np.float64) - data.astype(np.float64)).max() <= 0.015 + 0.02 * (kind.itemsize == 2)


@pytest.mark.grid(3)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0, 2), (7, 13)])
def test_any_shape(shape: tuple[int, ...]) -> None:
    data = np.random.default_rng(1).integers(-128, 128, shape).astype(np.int8)
    one = f32([0.5]), i32([3])
    applied("qnn.requantize", data, *one, *one)
    applied("qnn.quantize", applied("qnn.dequantize", data, *one), *one, out_dtype="uint8")


@pytest.mark.grid(8)
@pytest.mark.parametrize("shift", [-31, -5, 0, 1, 30, 31])
@pytest.mark.parametrize("multiplier", [INT32_MIN, -1, 0, 1, 1 << 30, 1288490189, INT32_MAX])
def test_fixed_point_multiply(multiplier: int, shift: int) -> None:
    data = i32(EXTREMES)
    got = applied("fixed_point_multiply", data, multiplier=multiplier, shift=shift)
    exact = [rounded(Fraction(number * multiplier) * Fraction(2) ** (shift - 31), away=False) for number in EXTREMES]
    assert got.tolist() == [min(max(number, INT32_MIN), INT32_MAX) for number in exact]


def test_fixed_point_multiply_per_axis() -> None:
    rng = np.random.default_rng(5)
    data = i32(rng.integers(INT32_MIN, INT32_MAX, (3, 4, 5)))
    data[0, 0], data[1] = INT32_MAX, data[1] % 5
    factors = i32(rng.integers(INT32_MIN, INT32_MAX, (5, 3)))
    left, right = (i32(rng.integers(-5, 45, (5, 3))) for _ in range(2))
    got = applied(
        "fixed_point_multiply_per_axis",
        data, factors, left, right,
        is_lshift_required=True, is_rshift_required=True, axes=[2, 0],
    )  # fmt: skip
    for i, j, k in np.ndindex(*data.shape):
        places = int(left[k, i]) - int(right[k, i])
        exact = rounded(Fraction(int(data[i, j, k]) * int(factors[k, i])) * Fraction(2) ** (places - 31), away=False)
        assert got[i, j, k] == (0 if places < -31 else min(max(exact, INT32_MIN), INT32_MAX))
    columns = factors[:, 0], left[:, 0], right[:, 0]
    unshifted = applied("fixed_point_multiply_per_axis", data[0, 0], *columns, axes=[-1])
    nothing = applied(
        "fixed_point_multiply_per_axis", data[0, 0], columns[0], *(each * 0 for each in columns[1:]),
        is_lshift_required=True, axes=[0],
    )  # fmt: skip
    np.testing.assert_array_equal(unshifted, nothing)
