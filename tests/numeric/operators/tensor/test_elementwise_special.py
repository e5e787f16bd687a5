"""Elementwise operators at special values: native code, the interpreter and numpy agree for each type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.levels import outputs
from support.op_cases import OpCase

import xrelay
from xrelay.errors import XRelayError

Array = NDArray[Any]
FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
HUGE = {"float16": [6e4, -6e4, 6e-8], "float32": [3e38, 1e20, -1e6, 1e-45], "float64": [1.7e308, 1e22, -1e6, 5e-324]}


def special(dtype: str) -> Array:
    """Zeros of both signs, infinities, NaN, ties, huge and tiny numbers; extremes of integers."""
    if dtype.startswith("float"):
        plain = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3.75, 1.0000001, np.inf, -np.inf, np.nan, 100.25, -7.125]
        return np.array([*plain, *HUGE[dtype]]).astype(dtype)
    limits = np.iinfo(dtype)
    return np.array(
        [0, 1, 2, 3, 7, 100, limits.max, limits.max - 1, limits.min, limits.min // 2, limits.max // 2], dtype
    )


def check(op: str, inputs: list[Array], expected: Array, dtype: str, ulps: float = 0) -> None:
    """Checks native code and the interpreter against `expected`, within some units in the last place for floats."""
    module = OpCase(op, [array.shape for array in inputs], dtype=dtype).module()
    found = {
        "native": xrelay.compile(module.clone(), cache=False).run(inputs)[0],
        "interpreter": outputs(module, inputs)[0],
    }
    for level, actual in found.items():
        if expected.dtype.kind != "f":
            np.testing.assert_array_equal(actual, expected, err_msg=level)
            continue
        np.testing.assert_allclose(actual, expected, rtol=ulps * np.finfo(dtype).eps, atol=0, err_msg=level)
        is_number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(actual[is_number]), np.signbit(expected[is_number]), err_msg=level)


def rounded(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A function computed in double precision and rounded to the type."""
    return lambda x: np.asarray(function(x.astype(np.float64))).astype(x.dtype)


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "trunc": np.trunc,
    "sign": np.sign,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
}
EXACT = {"floor", "ceil", "round", "trunc", "sign", "isnan", "isinf", "isfinite"}


def integer_power(base: int, exponent: int) -> int:
    """The exact power; for a negative exponent its truncated reciprocal."""
    return base**exponent if exponent >= 0 else base ** (exponent % 2) if abs(base) == 1 else 0


@pytest.mark.grid(4)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_powers(dtype: str) -> None:
    exponents = [0, 1, 2, 3, 37, 101, *([-1, -2, -7] if dtype.startswith("i") else [])]
    x, y = (grid.reshape(-1) for grid in np.meshgrid(special(dtype), np.array(exponents, dtype)))
    mask = (1 << 8 * x.itemsize) - 1
    wrapped = [integer_power(*pair) & mask for pair in zip(x.tolist(), y.tolist(), strict=True)]
    check("power", [x, y], np.array(wrapped, f"u{x.itemsize}").view(dtype), dtype)


@pytest.mark.grid(4)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", FUNCTIONS)
def test_functions_of_floats(op: str, dtype: str) -> None:
    x = special(dtype)
    expected = FUNCTIONS[op](x) if op in EXACT else rounded(FUNCTIONS[op])(x)
    check(op, [x], np.asarray(expected), dtype, 0 if op in EXACT else 4)


@pytest.mark.grid(5)
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("op", ["floor", "ceil", "round", "trunc", "sign", "bitwise_not", "isnan", "isinf", "isfinite"])
def test_functions_of_integers(op: str, dtype: str) -> None:
    x = special(dtype)
    expected = FUNCTIONS[op](x) if op.startswith("is") else {"sign": np.sign(x), "bitwise_not": ~x}.get(op, x)
    check(op, [x], expected, dtype)


def shifted(x: Array, y: Array, left: bool) -> Array:
    """Shifts of exact integers: a shift by the width or more leaves 0, or the sign for a right shift."""
    width = 8 * x.itemsize
    rows: list[int] = []
    for value, places in zip(x.tolist(), y.tolist(), strict=True):
        far = not 0 <= places < width
        rows.append((0 if far else value << places) if left else ((-1 if value < 0 else 0) if far else value >> places))
    wrapped = [value % (1 << width) for value in rows]
    return np.array(wrapped, np.uint64).astype(f"uint{width}").view(x.dtype)


INTEGER_PAIRS: dict[str, Callable[[Array, Array], Array]] = {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "left_shift": lambda x, y: shifted(x, y, left=True),
    "right_shift": lambda x, y: shifted(x, y, left=False),
    "mod": np.fmod,
    "floor_mod": np.mod,
    "floor_divide": np.floor_divide,
}


@pytest.mark.grid(10)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("op", INTEGER_PAIRS)
def test_pairs_of_integers(op: str, dtype: str) -> None:
    values = special(dtype)
    divides = op in ("mod", "floor_mod", "floor_divide")
    pairs = [(a, b) for a in values for b in [*values, *(values.dtype.type(-n) for n in (1, 2, 3) if dtype[0] == "i")]]
    pairs = [(a, b) for a, b in pairs if not divides or b != 0]
    x, y = (np.array(side, dtype) for side in zip(*pairs, strict=True))
    check(op, [x, y], INTEGER_PAIRS[op](x, y), dtype)


@pytest.mark.parametrize("op", ["mod", "floor_mod", "floor_divide"])
def test_an_integer_divided_by_zero_is_an_error(op: str) -> None:
    x, zero = np.array([3, 4], np.int32), np.array([1, 0], np.int32)
    module = OpCase(op, [(2,), (2,)], dtype="int32").module()
    with pytest.raises(XRelayError, match="division by zero"):
        outputs(module, [x, zero])
    with pytest.raises(XRelayError, match="division by zero"):
        xrelay.compile(module, cache=False).run([x, zero])


FLOAT_PAIRS: dict[str, Callable[[Array, Array], Array]] = {
    "mod": np.fmod,
    "floor_mod": np.mod,
    "floor_divide": lambda x, y: np.floor(x / y),
}


@pytest.mark.grid(2)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", FLOAT_PAIRS)
def test_pairs_of_floats(op: str, dtype: str) -> None:
    values = special(dtype)
    x, y = (side.ravel() for side in np.meshgrid(values, values))
    check(op, [x, y], np.asarray(FLOAT_PAIRS[op](x, y)), dtype)


@pytest.mark.parametrize("op", ["logical_and", "logical_or", "logical_xor"])
def test_logic(op: str) -> None:
    x, y = np.array([[False], [True]]), np.array([False, True, False])
    check(op, [x, y], getattr(np, op)(x, y), "bool")
    check("logical_not", [y], ~y, "bool")
    check("sign", [y], y, "bool")
