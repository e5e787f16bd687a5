"""Products of bytes by instructions on tiles are bit-equal to the program's products of 32-bit integers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.extreme_integers import extreme_integers as random
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import relay, transform
from xrelay.interpreters.relay import run_relay
from xrelay.target import Target

HOST = Target.host()
TILES = "-mattr=+amx-tile,+amx-int8"

on_tiles = pytest.mark.skipif(
    HOST.tile_product("i32") is None or HOST.lanes() < 16, reason="this process may not use AMX's tiles with AVX-512"
)


def dense(rows: int | None, depth: int, columns: int) -> ModuleOp:
    """A product with a weight, a bias and a change to floats after it; the number of rows may be dynamic."""
    x = relay.var("x", shape=(relay.Any() if rows is None else rows, depth), dtype="uint8")
    weight = relay.const(random((columns, depth), "int8", 2))
    y = relay.nn.dense(x, weight, out_dtype="int32") + relay.const(np.arange(columns, dtype=np.int32))
    return transform.InferType()(relay.IRModule.from_expr(relay.Function([x], relay.cast(y, "float32"))))


def check(module: ModuleOp, compiled: xrelay.CompiledModel, rows: int, depth: int) -> None:
    x = random((rows, depth), "uint8", rows)
    (expected,) = run_relay(module, [x])
    np.testing.assert_array_equal(compiled.run([x])[0], expected)


@on_tiles
@settings(max_examples=examples(12), deadline=None)
@given(
    rows=st.sampled_from([15, 16, 17, 31, 32, 40, 45, 64, 79]),
    depth=st.sampled_from([16, 48, 64, 68, 80, 96, 128, 200]),
    columns=st.sampled_from([8, 16, 32, 40, 80, 96]),
    threads=st.integers(1, 2),
)
def test_products(rows: int, depth: int, columns: int, threads: int) -> None:
    module = dense(rows, depth, columns)
    check(module, xrelay.compile(module, threads=threads), rows, depth)


@on_tiles
@pytest.mark.parametrize("opt_level", [0, 1, 3])
def test_levels_of_llvm(opt_level: int) -> None:
    module = dense(45, 96, 48)
    check(module, xrelay.compile(module, opt_level=opt_level), 45, 96)


@on_tiles
def test_rows_of_the_run() -> None:
    module = dense(None, 64, 80)
    compiled = xrelay.compile(module)
    for rows in (1, 5, 15, 16, 18, 33, 100):
        check(module, compiled, rows, 64)


def conv(channels: int, filters: int, size: tuple[int, ...], kernel: int, stride: int, dilation: int = 1) -> ModuleOp:
    """A convolution with "same" padding, a bias and a change to floats after it."""
    x = relay.var("x", shape=(2, channels, *size), dtype="uint8")
    weight = relay.const(random((filters, channels, *[kernel for _ in size]), "int8", 2))
    build = {1: relay.nn.conv1d, 2: relay.nn.conv2d, 3: relay.nn.conv3d}[len(size)]
    axes = [1 for _ in size]
    y = build(
        x,
        weight,
        strides=[stride * one for one in axes],
        padding=[kernel // 2 * dilation * one for one in axes * 2],
        dilation=[dilation * one for one in axes],
        out_dtype="int32",
    )
    y = y + relay.const(np.arange(filters, dtype=np.int32).reshape(-1, *axes))
    return transform.InferType()(relay.IRModule.from_expr(relay.Function([x], relay.cast(y, "float32"))))


def check_conv(module: ModuleOp, compiled: xrelay.CompiledModel, shape: tuple[int, ...]) -> None:
    x = random(shape, "uint8", 1)
    (expected,) = run_relay(module, [x])
    np.testing.assert_array_equal(compiled.run([x])[0], expected)


@on_tiles
@settings(max_examples=examples(12), deadline=None)
@given(
    channels=st.sampled_from([3, 16, 20, 48, 64, 80, 128]),
    filters=st.sampled_from([8, 16, 48, 64, 80, 96, 128]),
    height=st.integers(1, 9),
    width=st.sampled_from([3, 5, 7, 8, 14, 15, 16, 17, 28, 31, 37]),
    kernel=st.sampled_from([1, 3]),
    stride=st.integers(1, 2),
    dilation=st.integers(1, 2),
    threads=st.integers(1, 2),
)
def test_convolutions(
    channels: int, filters: int, height: int, width: int, kernel: int, stride: int, dilation: int, threads: int
) -> None:
    module = conv(channels, filters, (height, width), kernel, stride, dilation)
    check_conv(module, xrelay.compile(module, threads=threads), (2, channels, height, width))


@on_tiles
@pytest.mark.parametrize(("kernel", "stride"), [(5, 1), (7, 2)])
def test_image_of_few_channels(kernel: int, stride: int) -> None:
    module = conv(3, 64, (20, 32), kernel, stride)
    check_conv(module, xrelay.compile(module), (2, 3, 20, 32))


@on_tiles
@pytest.mark.parametrize("size", [(24,), (3, 4, 8)])
def test_sequences_and_volumes(size: tuple[int, ...]) -> None:
    module = conv(64, 32, size, 3, 1)
    check_conv(module, xrelay.compile(module), (2, 64, *size))


@on_tiles
@pytest.mark.parametrize("opt_level", [0, 1, 3])
def test_levels_of_llvm_on_convolutions(opt_level: int) -> None:
    module = conv(128, 64, (4, 14), 3, 1)
    check_conv(module, xrelay.compile(module, opt_level=opt_level), (2, 128, 4, 14))


@pytest.mark.parametrize(
    ("target", "is_tensorized"),
    [
        (f"cpu -mcpu=sapphirerapids {TILES}", True),
        ("cpu -mcpu=cascadelake", False),
        (f"cpu -mcpu=x86-64-v3 {TILES}", False),
    ],
)
def test_only_targets_with_tiles_use_them(target: str, is_tensorized: bool, tmp_path: Path) -> None:
    """Targets whose vectors have 8 columns read the weight in another layout."""
    for number, module in enumerate((dense(32, 64, 32), conv(64, 32, (4, 14), 3, 1))):
        stages = tmp_path / str(number)
        xrelay.compile(module, target=target, dump_stages=stages)
        assert ("tensorize(" in (stages / "06_loop.mlir").read_text()) == is_tensorized
        assert ("tdpbusd" in (stages / "11_native.s").read_text()) == is_tensorized


def test_few_rows_are_computed_by_vectors(tmp_path: Path) -> None:
    xrelay.compile(dense(8, 64, 32), target=f"cpu -mcpu=sapphirerapids {TILES}", dump_stages=tmp_path)
    assert "tensorize(" not in (tmp_path / "06_loop.mlir").read_text()
