"""Quantised operators: native code is bit-equal to the definition, which approximates the real values."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.one_op import applied, check, checked, program

from xrelay import relay, transform
from xrelay.errors import ConstraintError
from xrelay.interpreters.relay import run_relay

Array = NDArray[Any]
FUNCTIONS: dict[str, Callable[[Array], Array] | None] = {
    "abs": np.abs,
    "exp": np.exp,
    "erf": None,
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "log": np.log,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sqrt": np.sqrt,
    "tanh": np.tanh,
}


def f32(value: object) -> Array:
    return np.array(value, np.float32)


def i32(value: object) -> Array:
    return np.array(value, np.int32)


def numbers(dtype: str, *shape: int, seed: int = 0) -> Array:
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


def meant(data: Array, scale: Array, zero: Array) -> Array:
    """The real values that quantised numbers represent."""
    return (data.astype(np.float64) - zero) * scale.astype(np.float64)


@pytest.mark.grid(6)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize(
    ("op", "function", "steps"),
    [("add", np.add, 1.0), ("subtract", np.subtract, 1.0), ("mul", np.multiply, 0.5)],
    ids=["add", "subtract", "mul"],
)
def test_arithmetic_is_near_that_of_reals(op: str, function: Any, steps: float, dtype: str) -> None:
    limits = np.iinfo(dtype)
    lhs, rhs = numbers(dtype, 4, 1, 9), numbers(dtype, 3, 1, seed=1)
    lhs_scale, rhs_scale, scale = f32(0.03), f32([0.05, 0.01, 0.2]), f32(0.11 if op != "mul" else 0.9)
    zeros = i32(limits.max // 3), i32(limits.min + 5), i32(limits.max // 2)
    got = applied(f"qnn.{op}", lhs, rhs, lhs_scale, zeros[0], rhs_scale, zeros[1], scale, zeros[2], rhs_axis=0)
    assert got.dtype == lhs.dtype
    exact = function(meant(lhs, lhs_scale, zeros[0]), meant(rhs, rhs_scale[:, None], zeros[1]))
    near = np.clip(exact, meant(i32(limits.min), scale, zeros[2]), meant(i32(limits.max), scale, zeros[2]))
    assert np.abs(meant(got, scale, zeros[2]) - near).max() <= float(scale) * (steps + 1e-4)


def test_products_beyond_32_bits_saturate() -> None:
    data, one, zero = np.array([65535, 0], np.uint16), f32(1.0), i32(0)
    got = applied("qnn.mul", data, data, one, zero, one, zero, f32(2.0**16), zero)
    assert got.tolist() == [1 << 15, 0]


@pytest.mark.parametrize("op", ["add", "subtract", "mul"])
def test_arithmetic_on_32_bits_is_exact_at_one_scale(op: str) -> None:
    lhs, rhs = numbers("int32", 4, 5) // 4, numbers("int32", 4, 5, seed=1) // 4
    if op == "mul":
        lhs, rhs = lhs >> 16, rhs >> 16
    one, zeros = f32(1.0), (i32(7), i32(-9), i32(11))
    got = applied(f"qnn.{op}", lhs, rhs, one, zeros[0], one, zeros[1], one, zeros[2])
    sides = lhs.astype(np.int64) - zeros[0], rhs.astype(np.int64) - zeros[1]
    exact = {"add": np.add, "subtract": np.subtract, "mul": np.multiply}[op](*sides) + zeros[2]
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, exact)


@pytest.mark.parametrize("op", ["add", "subtract", "mul"])
def test_zero_points_far_from_narrow_data(op: str) -> None:
    data, one, far = np.array([-30, 99, 0, -128], np.int8), f32(1.0), i32(np.iinfo(np.int32).max)
    run = checked(program(f"qnn.{op}", data, data, one, far, one, far, one, far))
    zero_points = (far, i32(-3)), (-far, far), (far, far), (i32(1 << 16), i32(-1 << 16))
    for scale, zeros in product((1.0, np.nan, -np.nan, np.inf, 0.0), zero_points):
        # Native code and the interpreter agree; a difference from the zero point saturates and does not wrap.
        (got,) = run([data, data[::-1].copy(), one, zeros[0], one, zeros[1], f32(scale), i32(-7)])
        if scale == 1.0:
            sides = [
                np.clip(side.astype(np.int64) - zero, -(1 << 31), (1 << 31) - 1)
                for side, zero in zip((data, data[::-1]), zeros, strict=True)
            ]
            exact = {"add": np.add, "subtract": np.subtract, "mul": np.multiply}[op](*sides) - 7
            np.testing.assert_array_equal(got, np.clip(exact, -128, 127))


def test_arithmetic_on_32_bits_saturates() -> None:
    least, most = (np.int32(getattr(np.iinfo(np.int32), name)) for name in ("min", "max"))
    lhs, rhs = np.array([most, least, most, least], np.int32), np.array([most, least, least, most], np.int32)
    one, zero = f32(1.0), i32(0)
    assert applied("qnn.add", lhs, rhs, one, zero, one, zero, one, zero).tolist() == [most, least, -1, -1]
    assert applied("qnn.subtract", lhs, rhs, one, zero, one, zero, one, zero).tolist() == [0, 0, most, least]
    assert applied("qnn.mul", lhs, rhs, one, zero, one, zero, one, zero).tolist() == [most, most, least, least]
    # Differences that exceed 32 bits, and a quotient of scales that does.
    far = applied("qnn.add", lhs, rhs, one, i32(-5), one, i32(5), one, zero)
    assert far.tolist() == [most, least, -1, -1]
    tiny = applied("qnn.add", lhs, lhs, one, zero, one, zero, f32(2.0**-40), i32(least))
    assert tiny.tolist() == [most, least, most, least]


@pytest.mark.grid(4)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32"])
def test_concatenate_brings_all_to_one_scale(dtype: str) -> None:
    first, second = numbers(dtype, 2, 3), numbers(dtype, 2, 5, seed=3)
    names = ("a", "b", "sa", "sb", "za", "zb", "s", "z")
    arrays = (first, second, f32(0.5), f32([0.25]), i32(1), i32([-2]), f32(1.5), i32(4))
    a, b, sa, sb, za, zb, s, z = given = [
        relay.var(name, shape=each.shape, dtype=each.dtype) for name, each in zip(names, arrays, strict=True)
    ]
    expr = relay.qnn.op.concatenate(relay.Tuple([a, b]), relay.Tuple([sa, sb]), relay.Tuple([za, zb]), s, z, axis=-1)
    (got,) = check(relay.Module.from_expr(relay.Function(given, expr)), arrays)
    parts = [
        applied("qnn.requantize", each, scale, zero, arrays[6], arrays[7], out_dtype=dtype)
        for each, scale, zero in ((first, arrays[2], arrays[4]), (second, arrays[3], arrays[5]))
    ]
    np.testing.assert_array_equal(got, np.concatenate(parts, axis=1))


@pytest.mark.grid(3)
@pytest.mark.parametrize("dtypes", [("int8", "int8"), ("uint8", "int8"), ("int16", "uint8")], ids=str)
@pytest.mark.parametrize("groups", [1, 2])
def test_conv2d_is_that_of_distances(dtypes: tuple[str, str], groups: int) -> None:
    data, weight = numbers(dtypes[0], 2, 4, 7, 6), numbers(dtypes[1], 6, 4 // groups, 3, 2, seed=1)
    zero, zeros = i32(3), i32([0, 1, -2, 5, 9, -128])
    attributes: dict[str, Any] = {"strides": (2, 1), "padding": (1, 0, 2, 1), "dilation": (1, 2), "groups": groups}
    got = applied("qnn.conv2d", data, weight, zero, zeros, f32(0.5), f32(np.ones(6)), **attributes)
    plain = applied("nn.conv2d", data.astype(np.int32) - zero, weight - zeros[:, None, None, None], **attributes)
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, plain)
    last: dict[str, Any] = {"data_layout": "NHWC", "kernel_layout": "HWIO", **attributes}
    moved = np.ascontiguousarray(data.transpose(0, 2, 3, 1)), np.ascontiguousarray(weight.transpose(2, 3, 1, 0))
    channels_last = applied("qnn.conv2d", *moved, zero, zeros, f32(0.5), f32(0.25), **last)
    np.testing.assert_array_equal(channels_last.transpose(0, 3, 1, 2), got)


@pytest.mark.parametrize("groups", [1, 2])
def test_conv2d_transpose_is_that_of_distances(groups: int) -> None:
    data, weight = numbers("uint8", 1, 4, 5, 6), numbers("int8", 4, 3, 3, 3, seed=1)
    attributes: dict[str, Any] = {"strides": (2, 2), "padding": (1, 1), "output_padding": (1, 0), "groups": groups}
    zero, zeros = i32(128), i32([1, -2, 3])
    got = applied("qnn.conv2d_transpose", data, weight, zero, zeros, f32(0.5), f32(0.25), **attributes)
    distances = data.astype(np.int32) - zero, weight - zeros[:, None, None]
    np.testing.assert_array_equal(got, applied("nn.conv2d_transpose", *distances, **attributes))


@pytest.mark.parametrize("dtypes", [("int8", "int8"), ("uint8", "int8"), ("int32", "int16")], ids=str)
def test_products_are_those_of_distances(dtypes: tuple[str, str]) -> None:
    data, weight = numbers(dtypes[0], 3, 5, 17), numbers(dtypes[1], 4, 17, seed=1)
    left = data.astype(np.int32) - np.int32(7)
    zeros = i32([1, 2, -3, 4])
    got = applied("qnn.dense", data, weight, i32(7), zeros, f32(0.5), f32([1, 2, 3, 4]))
    np.testing.assert_array_equal(got, left @ (weight - zeros[:, None]).T)
    stack = numbers(dtypes[1], 3, 4, 17, seed=2)
    got = applied("qnn.batch_matmul", data, stack, i32(7), i32(-1), f32(0.5), f32(0.25))
    np.testing.assert_array_equal(got, left @ (stack.astype(np.int32) + 1).transpose(0, 2, 1))


@pytest.mark.parametrize("zeros", [[5], [1, 2, -3, 4, 0, 7, -8, 2]], ids=["one", "each"])
def test_packed_products_are_those_of_plain_weights(zeros: list[int]) -> None:
    """Zero points are packed in the same way."""
    data, plain = numbers("uint8", 3, 17), numbers("int8", 8, 17, seed=1)
    packed = np.ascontiguousarray(plain.reshape(2, 4, 17).transpose(0, 2, 1))
    left, right = data.astype(np.int32) - np.int32(7), plain - i32(zeros)[:, None]
    scales = f32(0.5), f32([1] * len(zeros))
    got = applied("qnn.contrib_dense_pack", data, packed, i32(7), i32(zeros), *scales, weight_layout="NC4n")
    np.testing.assert_array_equal(got, left @ right.T)


@pytest.mark.grid(8)
@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("ceil", [True, False])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
def test_avg_pool2d_rounds_means(dtype: str, ceil: bool, include: bool) -> None:
    data = numbers(dtype, 2, 9, 8, 3)
    zero = i32(np.iinfo(dtype).max // 2)
    got = applied(
        "qnn.avg_pool2d", data, f32(0.5), zero, f32(0.25), zero,
        pool_size=(3, 2), strides=(2, 2), padding=(1, 1), ceil_mode=ceil, count_include_pad=include,
    )  # fmt: skip
    reals = applied(
        "nn.avg_pool2d", data.astype(np.float64) - zero,
        pool_size=(3, 2), strides=(2, 2), padding=(1, 1), ceil_mode=ceil, count_include_pad=include, layout="NHWC",
    )  # fmt: skip
    limits = np.iinfo(dtype)
    np.testing.assert_array_equal(got, np.clip(np.floor(reals + 0.5 + 1e-9) * 2 + zero, limits.min, limits.max))


def test_halves_of_large_windows_round_up() -> None:
    """Means of 40 x 40 numbers: a half, and its neighbours."""
    data = np.zeros((3, 40, 40, 1), np.int8)
    data.reshape(3, -1)[:, :799] = 1
    data[0, -1, -1], data[1, -1, -1] = 1, 2
    one, zero = f32(1.0), i32(0)
    got = applied("qnn.avg_pool2d", data, one, zero, one, zero, pool_size=(40, 40))
    assert got.reshape(-1).tolist() == [1, 1, 0]


@pytest.mark.grid(7)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_within_a_step(name: str, dtype: str) -> None:
    """With scales as operands the functions are computed at run time, where exp errs in the last place."""
    data = numbers(dtype, 300)
    scale = f32(4 / np.iinfo(dtype).max)
    given = (data, scale, i32(0), f32(0.05), i32(10))
    got = applied(f"qnn.{name}", *given, atol=1)
    function = FUNCTIONS[name]
    if function is not None:
        limits = np.iinfo(dtype)
        with np.errstate(all="ignore"):
            exact = np.nan_to_num(function(meant(data, scale, i32(0))), nan=0.0)
            near = np.clip(np.rint(exact / 0.05) + 10, limits.min, limits.max)
        assert np.abs(got - near).max() <= 1


@pytest.mark.grid(6)
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("name", [*FUNCTIONS, "leaky_relu"])
def test_tables_have_every_bit(name: str, dtype: str) -> None:
    """With constant scales the functions are tables."""
    data = np.arange(256).astype(np.uint8).view(dtype)
    x = relay.var("x", shape=data.shape, dtype=dtype)
    attributes = {"alpha": 0.1} if name == "leaky_relu" else {}
    op = getattr(relay.qnn.op, name)
    module = relay.Module.from_expr(op(x, 0.03, 5, 0.02, 3, **attributes))
    (expected,) = run_relay(module, [data])
    np.testing.assert_array_equal(check(module, [data])[0], expected)
    assert "relay.take" in str(relay.qnn.transform.Legalize()(module))


def test_softmax_sums_to_one() -> None:
    got = applied("qnn.softmax", numbers("int8", 4, 10), f32(0.1), i32(3), f32(1 / 256), i32(-128), axis=-1, atol=1)
    assert np.abs(meant(got, f32(1 / 256), i32(-128)).sum(axis=-1) - 1).max() < 10 / 256


def test_leaky_relu_rounds_once() -> None:
    data = np.arange(-128, 128).astype(np.int8)
    got = applied("qnn.leaky_relu", data, f32(0.5), i32(10), f32(0.25), i32(-5), alpha=0.3)
    distances = data.astype(np.float64) - 10
    exact = np.where(distances < 0, distances * 0.3, distances) * 2
    np.testing.assert_array_equal(got, np.clip(np.floor(exact + 0.5) - 5, -128, 127))


def test_sizes_may_have_names() -> None:
    n = relay.Any()
    x, w = relay.var("x", shape=(n, 8), dtype="int8"), relay.var("w", shape=(3, 8), dtype="int8")
    product = relay.qnn.op.dense(x, w, 2, 0, 0.5, 0.25)
    y = relay.qnn.op.requantize(product, 0.125, 0, 0.5, 1)
    module = relay.Module.from_expr(relay.Function([x, w], relay.qnn.op.add(y, y, 0.5, 1, 0.5, 1, 1.0, 0)))
    for rows in (0, 1, 5):
        check(module, [numbers("int8", rows, 8), numbers("int8", 3, 8)])


def test_python_numbers_are_scales_and_zero_points() -> None:
    x = relay.var("x", shape=(4,), dtype="int8")
    text = relay.qnn.op.requantize(x, 1, 0, 0.5, 3, rounding="None", compute_dtype="None").astext()
    assert "tensor<f32>" in text
    assert "rounding" not in text
    with pytest.raises(ConstraintError, match=r"operand #2 must be i32, found i64"):
        relay.qnn.op.requantize(x, 1.0, np.int64(0), 0.5, 3)


def test_relays_passes_have_relays_names() -> None:
    x = relay.var("x", shape=(4,), dtype="int8")
    module = relay.Module.from_expr(relay.qnn.op.dequantize(x, 0.5, 3))
    assert "qnn" not in str(relay.qnn.transform.CanonicalizeOps()(module))
    assert "qnn" in str(transform.QnnLegalize()(module))
