"""Sums of f16 and bf16 accumulate in f32 and round once: compared with rounded sums in double precision."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from support.levels import check_levels, outputs
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import relay

Shape = tuple[int, ...]
Build = Callable[..., relay.Expr]

DTYPES = {"bfloat16": np.dtype(ml_dtypes.bfloat16), "float16": np.dtype(np.float16)}
NHWC = partial(relay.nn.conv2d, kernel_size=(3, 3), channels=5, data_layout="NHWC", kernel_layout="HWIO")
CASES: dict[str, tuple[Build, list[Shape]]] = {
    "dense": (relay.nn.dense, [(3, 300), (48, 300)]),
    "conv2d": (partial(relay.nn.conv2d, kernel_size=(3, 3), padding=(1, 1)), [(1, 32, 5, 5), (32, 32, 3, 3)]),
    "conv2d_nhwc": (NHWC, [(1, 5, 5, 32), (3, 3, 32, 5)]),
    "sum": (partial(relay.sum, axis=1), [(4, 3000)]),
    "mean": (partial(relay.mean, axis=1), [(4, 3000)]),
    "prod": (partial(relay.prod, axis=1), [(4, 30)]),
    "softmax": (relay.nn.softmax, [(2, 1000)]),
    "avg_pool2d": (partial(relay.nn.avg_pool2d, pool_size=(7, 7)), [(1, 16, 14, 14)]),
    "global_avg_pool2d": (relay.nn.global_avg_pool2d, [(1, 16, 30, 30)]),
}


def module(build: Build, shapes: list[Shape], dtype: str) -> ModuleOp:
    return relay.Module.from_expr(
        build(*(relay.var(f"v{i}", shape=shape, dtype=dtype) for i, shape in enumerate(shapes)))
    )


def ulps(found: NDArray[Any], exact: NDArray[Any]) -> int:
    """The maximum distance in representable numbers; all values are positive."""
    rounded = exact.astype(found.dtype)
    return int(np.abs(found.view(np.int16).astype(np.int32) - rounded.view(np.int16)).max())


@pytest.mark.grid(3)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_sums_are_rounded_once(name: str, dtype: str):
    build, shapes = CASES[name]
    rng = np.random.default_rng(7)
    inputs = [rng.uniform(0.5, 1.5, shape).astype(DTYPES[dtype]) for shape in shapes]
    (exact,) = outputs(module(build, shapes, "float64"), [array.astype(np.float64) for array in inputs])
    narrow = module(build, shapes, dtype)
    # 1 if f32 and f64 are on different sides of a midpoint; accumulation in half precision would be off by hundreds.
    assert ulps(outputs(narrow, inputs)[0], exact) <= 1
    assert ulps(xrelay.compile(narrow, cache=False).run(inputs)[0], exact) <= 1


@pytest.mark.grid(2)
@pytest.mark.parametrize("name", ["dense", "mean"])
def test_every_level_agrees(name: str):
    build, shapes = CASES[name]
    rng = np.random.default_rng(8)
    inputs = [rng.uniform(0.5, 1.5, shape).astype(DTYPES["bfloat16"]) for shape in shapes]
    check_levels(module(build, shapes, "bfloat16"), inputs, rtol=2**-7)
