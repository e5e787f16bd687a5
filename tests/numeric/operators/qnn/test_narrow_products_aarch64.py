"""Products of bytes on aarch64: with I8MM, with DotProd, and without either."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from support.aarch64 import needs_aarch64, run_on_aarch64
from support.extreme_integers import extreme_integers as random

import xrelay
from xrelay import relay, transform
from xrelay.interpreters.relay import run_relay

Product: TypeAlias = "Callable[[str], tuple[relay.Expr, np.ndarray]]"

CPUS = {
    "cpu -mcpu=neoverse-v1": "llvm.aarch64.neon.usdot.v4i32.v16i8",
    "cpu -mcpu=neoverse-n1": "llvm.aarch64.neon.sdot.v4i32.v16i8",
    "cpu -mcpu=cortex-a72": "mul <4 x i32>",
}
"""Target → the instruction that accumulates its products."""


def dense(dtype: str) -> tuple[relay.Expr, np.ndarray]:
    weight = relay.const(random((48, 64), "int8", 2))
    return relay.nn.dense(relay.var("x", shape=(5, 64), dtype=dtype), weight, out_dtype="int32"), random(
        (5, 64), dtype, 1
    )


def convolution(dtype: str) -> tuple[relay.Expr, np.ndarray]:
    weight = relay.const(random((32, 12, 3, 3), "int8", 2))
    x = relay.var("x", shape=(1, 12, 7, 9), dtype=dtype)
    y = relay.nn.conv2d(x, weight, channels=32, kernel_size=(3, 3), padding=(1, 1), out_dtype="int32")
    return y, random((1, 12, 7, 9), dtype, 1)


@pytest.mark.grid(2)
@pytest.mark.parametrize("target", CPUS)
@pytest.mark.parametrize("product", [dense, convolution])
def test_the_instruction_is_used(product: Product, target: str, tmp_path: Path) -> None:
    xrelay.compile(relay.IRModule.from_expr(product("uint8")[0]), target=target, dump_stages=tmp_path)
    assert CPUS[target] in (tmp_path / "10_native.ll").read_text()


@needs_aarch64
@pytest.mark.parametrize("target", CPUS)
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("product", [dense, convolution])
def test_every_bit_is_the_meaning(product: Product, dtype: str, target: str, tmp_path: Path) -> None:
    result, x = product(dtype)
    module = relay.IRModule.from_expr(result)
    (expected,) = run_relay(transform.InferType()(module), [x])
    found = run_on_aarch64(xrelay.compile(module, target=target), x, tmp_path, "max")
    np.testing.assert_array_equal(found, expected)
