"""Products of bytes on several CPUs are bit-equal to the program's products of 32-bit integers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.extreme_integers import extreme_integers as random

import xrelay
from xrelay import relay, transform
from xrelay.interpreters.relay import run_relay
from xrelay.target import Target

TARGETS = (
    "cpu",
    "cpu -mcpu=x86-64",
    "cpu -mcpu=haswell",
    "cpu -mcpu=haswell -mattr=+avxvnni",
    "cpu -mcpu=skylake-avx512",
    "cpu -mcpu=cascadelake",
)
RUNS = tuple(target for target in TARGETS if Target.parse(target).runs_here())


on_each_target = pytest.mark.parametrize("target", RUNS)
of_each_value = pytest.mark.grid(1000, values=lambda **given: given.items())
"""`make test` runs as many cases as show each value of each parameter."""


def agree(result: relay.Expr, *arrays: np.ndarray, target: str = RUNS[0]) -> None:
    """Checks native code against the interpreter on the unchanged program."""
    module = relay.IRModule.from_expr(relay.Function(relay.analysis.free_vars(result), result))
    (expected,) = run_relay(transform.InferType()(module), list(arrays))
    np.testing.assert_array_equal(xrelay.compile(module, target=target).run(list(arrays))[0], expected)


def distance(x: relay.Expr, zero_point: relay.Expr | int | None) -> relay.Expr:
    """`x` in 32 bits minus its zero point."""
    wide = relay.cast(x, "int32")
    if zero_point is None:
        return wide
    return wide - (relay.const(zero_point, "int32") if isinstance(zero_point, int) else zero_point)


@of_each_value
@on_each_target
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize(
    ("channels", "filters", "groups", "stride", "padding", "zero_point"),
    [
        (16, 32, 1, 1, 1, 3),
        (8, 16, 2, 2, 1, 0),
        (3, 24, 1, 2, 3, 100),
        (20, 20, 1, 1, 0, None),
        (7, 5, 1, 1, 1, -5),
        (8, 29, 1, 1, 1, 3),
    ],
)
def test_convolutions(
    channels: int, filters: int, groups: int, stride: int, padding: int, zero_point: int | None, dtype: str, target: str
) -> None:
    shape = (2, channels, 9, 7)
    weight = random((filters, channels // groups, 3, 3), "int8", 2).astype(np.int32)
    y = relay.nn.conv2d(
        distance(relay.var("x", shape=shape, dtype=dtype), zero_point),
        relay.const(weight),
        groups=groups,
        strides=(stride, stride),
        padding=(padding, padding),
    )
    bias = relay.const(np.arange(filters, dtype=np.int32).reshape(filters, 1, 1))
    agree(relay.nn.relu(y + bias), random(shape, dtype), target=target)


@of_each_value
@on_each_target
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("channels", [16, 6])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_convolutions_by_zero_points_of_the_run(
    rank: int, channels: int, padding: int, dtype: str, target: str
) -> None:
    """As after DynamicQuantizeLinear; the weight is one of unsigned bytes minus a zero point."""
    shape = (2, channels, 5, 4, 6)[: 2 + rank]
    weight = random((16, channels, 3, 3, 3)[: 2 + rank], "uint8", 2).astype(np.int32) - 100
    convolution = (relay.nn.conv1d, relay.nn.conv2d, relay.nn.conv3d)[rank - 1]
    zero_point = relay.cast(relay.var("z", shape=(), dtype=dtype), "int32")
    data = distance(relay.var("x", shape=shape, dtype=dtype), zero_point)
    y = convolution(data, relay.const(weight), padding=(padding,) * rank)
    agree(y, random(shape, dtype), np.array(100, dtype), target=target)


@pytest.mark.grid(3)
@on_each_target
def test_convolutions_of_last_channels(target: str) -> None:
    x = relay.var("x", shape=(1, 6, 5, 12), dtype="int8")
    y = relay.nn.conv2d(
        distance(x, -7),
        relay.const(random((3, 2, 12, 32), "int8", 2).astype(np.int32)),
        padding=(1, 0),
        data_layout="NHWC",
        kernel_layout="HWIO",
        kernel_size=(3, 2),
        channels=32,
    )
    agree(y, random((1, 6, 5, 12), "int8"), target=target)


@pytest.mark.grid(3)
@on_each_target
def test_chains_stay_in_blocks(target: str) -> None:
    x = relay.var("x", shape=(1, 16, 8, 8), dtype="uint8")
    for layer in range(3):
        weight = random((16, 16, 3, 3), "int8", layer).astype(np.int32)
        total = relay.nn.conv2d(distance(x, 128), relay.const(weight), padding=(1, 1))
        x = relay.cast(relay.clip(relay.right_shift(total, relay.const(11, "int32")), 0, 255), "uint8")
    agree(x, random((1, 16, 8, 8), "uint8"), target=target)


@of_each_value
@on_each_target
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize(
    ("rows", "depth", "units"), [(1, 64, 48), (13, 7, 16), (5, 4, 6), (33, 20, 80), (0, 8, 16), (3, 12, 1001)]
)
def test_products(rows: int, depth: int, units: int, dtype: str, target: str) -> None:
    x = relay.var("x", shape=(rows, depth), dtype=dtype)
    weight = random((units, depth), "int8", 2).astype(np.int32)
    agree(relay.nn.dense(distance(x, 9), relay.const(weight)), random((rows, depth), dtype), target=target)


@of_each_value
@on_each_target
@pytest.mark.parametrize("weight_dtype", ["int8", "int16", "int32"])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("depth", [64, 7])
def test_bytes_that_are_multiplied_as_they_are(depth: int, dtype: str, weight_dtype: str, target: str) -> None:
    x, data = relay.var("x", shape=(5, depth), dtype=dtype), random((5, depth), dtype)
    weight = random((48, depth), "int8", 2).astype(weight_dtype)
    wide = x if weight_dtype == "int8" else relay.cast(x, weight_dtype)
    agree(relay.nn.dense(wide, relay.const(weight), out_dtype="int32"), data, target=target)
    image, kernel = relay.reshape(x, (1, 5, depth, 1)), relay.const(random((16, 5, 1, 1), "int8", 3))
    agree(relay.nn.conv2d(image, kernel, channels=16, kernel_size=(1, 1), out_dtype="int32"), data, target=target)


@of_each_value
@on_each_target
@pytest.mark.parametrize("zero_point", [0, 255, -128, 1 << 14, 32767, -32768])
def test_zero_points_in_16_bits(zero_point: int, target: str) -> None:
    x, weight = relay.var("x", shape=(6, 24), dtype="uint8"), random((32, 24), "int8", 2).astype(np.int16)
    distances = relay.cast(x, "int16") - relay.const(zero_point, "int16")
    agree(relay.nn.dense(distances, relay.const(weight), out_dtype="int32"), random((6, 24), "uint8"), target=target)


@pytest.mark.grid(3)
@on_each_target
def test_weights_without_a_sign_in_16_bits(target: str) -> None:
    weight = relay.const(random((32, 24), "uint8", 2).astype(np.int16))
    x = relay.var("x", shape=(6, 24), dtype="int8")
    agree(relay.nn.dense(relay.cast(x, "int16"), weight, out_dtype="int32"), random((6, 24), "int8"), target=target)


@pytest.mark.grid(3)
@on_each_target
def test_weights_without_a_sign(target: str) -> None:
    weight = random((32, 24), "uint8", 2).astype(np.int32) - 113
    x = relay.var("x", shape=(6, 24), dtype="int8")
    agree(relay.nn.dense(distance(x, -9), relay.const(weight)), random((6, 24), "int8"), target=target)


@pytest.mark.parametrize("first", [2**31 - 100, -(2**31)])
def test_weights_near_the_ends_of_32_bits(first: int) -> None:
    weight = (first + np.arange(96, dtype=np.int64).reshape(4, 24)).astype(np.int32)
    x = relay.var("x", shape=(6, 24), dtype="uint8")
    agree(relay.nn.dense(distance(x, None), relay.const(weight)), random((6, 24), "uint8"))


@pytest.mark.parametrize("zero_point", [2**31 - 1, -(2**31)])
def test_zero_points_that_wrap(zero_point: int) -> None:
    weight = relay.const(random((32, 24), "int8", 2).astype(np.int32))
    x = relay.var("x", shape=(6, 24), dtype="int8")
    agree(relay.nn.dense(distance(x, zero_point), weight), random((6, 24), "int8"))


@of_each_value
@on_each_target
@pytest.mark.parametrize("shape", [(), (6, 1)])
def test_zero_points_of_the_run(shape: tuple[int, ...], target: str) -> None:
    x, zero = relay.var("x", shape=(6, 24), dtype="uint8"), relay.var("z", shape=shape, dtype="int32")
    weight = relay.const(random((24, 32), "int8", 2).astype(np.int32))
    arrays = random((6, 24), "uint8"), random(shape, "uint8", 4).astype(np.int32)
    agree(relay.nn.matmul(distance(x, zero), weight), *arrays, target=target)


def test_rows_of_any_number() -> None:
    x = relay.var("x", shape=(relay.Any(), 24), dtype="uint8")
    weight = relay.const(random((32, 24), "int8", 2).astype(np.int32))
    agree(relay.nn.dense(distance(x, 3), weight), random((37, 24), "uint8"))


def test_instructions_of_targets() -> None:
    assert {Target.parse(target).dot_products for target in TARGETS[1:]} == {
        ("pmaddwd", 128),
        ("pmaddwd", 256),
        ("vpdpbusd", 256),
        ("pmaddwd", 512),
        ("vpdpbusd", 512),
    }
    assert Target.parse("cpu -mcpu=sapphirerapids -mattr=-avx512vnni").dot_products == ("vpdpbusd", 256)
    assert Target.parse("cpu -mcpu=sapphirerapids -mattr=-avx512vnni,-avxvnni").dot_products == ("pmaddwd", 512)
    assert Target.parse("cpu -mcpu=neoverse-v1").dot_products == ("usdot", 128)
    assert Target.parse("cpu -mcpu=neoverse-v1 -mattr=-i8mm").dot_products == ("sdot", 128)
    assert Target.parse("cpu -mcpu=cortex-a72").dot_products is None


@pytest.mark.parametrize("units", [16, 10, 48])
def test_the_loop_over_terms_is_contracted(units: int, tmp_path: Path) -> None:
    """Also if one block holds all units and leaves no remainder."""
    x = relay.var("x", shape=(32, 512), dtype="uint8")
    y = relay.nn.dense(x, relay.const(random((units, 512), "int8")), out_dtype="int32")
    xrelay.compile(relay.IRModule.from_expr(y), target="cpu -mcpu=cascadelake", dump_stages=tmp_path)
    assert "contracted" in (tmp_path / "07_scheduled.mlir").read_text()
