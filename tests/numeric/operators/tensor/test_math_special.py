"""Functions at zeros, infinities, NaNs, denormals and the ends of their ranges, in every float type on three CPUs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import xrelay
from xrelay import relay

Wide = NDArray[np.longdouble]
TARGETS = ["cpu -mcpu=x86-64", "cpu -mcpu=haswell", "cpu"]
BF16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = {name: np.dtype(name) for name in ("float16", "float32", "float64")} | {"bfloat16": BF16}
ERF = np.vectorize(math.erf, otypes=[np.float64])


def sigmoid(x: Wide) -> Wide:
    return 1 / (1 + np.exp(-x))


FUNCTIONS: dict[str, tuple[Callable[..., relay.Expr], Callable[[Wide], Wide], dict[str, float]]] = {
    "exp": (relay.exp, np.exp, {"float32": 1.5, "float64": 1.0}),
    "log": (relay.log, np.log, {"float32": 1.5, "float64": 1.0}),
    "tanh": (relay.tanh, np.tanh, {"float32": 2.0, "float64": 2.5}),
    "erf": (relay.erf, lambda x: ERF(x.astype(np.float64)).astype(np.longdouble), {"float32": 2.0, "float64": 1.0}),
    "sin": (relay.sin, np.sin, {"float32": 2.0, "float64": 2.0}),
    "cos": (relay.cos, np.cos, {"float32": 2.0, "float64": 2.0}),
    "sqrt": (relay.sqrt, np.sqrt, {"float32": 0.5, "float64": 0.5}),
    "rsqrt": (relay.rsqrt, lambda x: 1 / np.sqrt(x), dict.fromkeys(DTYPES, 1.5)),
    "sigmoid": (relay.sigmoid, sigmoid, {"float32": 3.0, "float64": 3.0}),
}
"""The operator, its reference, and its maximum error in ulps; slightly above one half for 16-bit types."""
HALF_ULP = 0.51


def values(dtype: np.dtype[Any]) -> NDArray[Any]:
    """Every number of 16 bits; for wider types special values, the ends of ranges, and numbers of all magnitudes."""
    if dtype.itemsize == 2:
        return np.arange(1 << 16, dtype=np.uint16).view(dtype)
    info, rng = np.finfo(dtype), np.random.default_rng(5)
    special = [0, 1, 2, np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal, 1 - info.epsneg, 1 + info.eps]
    edges = [
        87.3,
        88.72,
        88.73,
        89,
        103.9,
        104,
        105,
        709.7,
        709.8,
        745.1,
        746,
        0.625,
        0.91,
        4.0,
        9.0,
        20.0,
        999999,
        1e6,
    ]
    sizes = np.exp2(rng.uniform(np.log2(info.tiny) - 20, np.log2(info.max), 20_000).astype(np.longdouble))
    usual = np.concatenate([rng.uniform(0, 100, 20_000), rng.uniform(0, 2, 20_000)])
    positive = np.concatenate([special, edges, sizes, usual]).astype(dtype)
    return np.concatenate([positive, -positive])


def error(found: NDArray[Any], exact: Wide) -> float:
    """The maximum error in units of the last place; NaNs, infinities and signs of zeros must agree."""
    dtype = found.dtype
    result = found.astype(np.float64).astype(np.longdouble)
    np.testing.assert_array_equal(np.isnan(result), np.isnan(exact))
    info = ml_dtypes.finfo(dtype)
    known = ~np.isnan(exact)
    result, exact = result[known], exact[known]
    top, unit_at_top = np.longdouble(float(info.max)), np.longdouble(2.0) ** (info.maxexp - 1 - info.nmant)
    overflows = np.abs(exact) >= top + unit_at_top / 2
    np.testing.assert_array_equal(result[overflows], np.copysign(np.inf, exact[overflows]))
    finite = ~overflows
    result, exact = result[finite], exact[finite]
    np.testing.assert_array_equal(np.signbit(result[exact == 0]), np.signbit(exact[exact == 0]))
    size = np.maximum(np.abs(exact), np.longdouble(float(info.tiny)))
    unit = np.exp2(np.floor(np.log2(size)) - info.nmant)
    return float((np.abs(np.where(np.isinf(result), top + unit_at_top, result) - exact) / unit).max(initial=0.0))


@pytest.mark.grid(14)
@pytest.mark.parametrize("cpu", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_unary_functions(name: str, dtype: str, cpu: str):
    op, meaning, bounds = FUNCTIONS[name]
    x = values(DTYPES[dtype])
    module = relay.Module.from_expr(op(relay.var("x", shape=x.shape, dtype=dtype)))
    (found,) = xrelay.compile(module, target=cpu, cache=False, threads=1).run([x])
    with np.errstate(all="ignore"):
        exact = meaning(x.astype(np.float64).astype(np.longdouble))
        if name == "sigmoid":
            # If the result is less than any normal number, exp overflows, and 0 is accepted.
            tiny = float(ml_dtypes.finfo(DTYPES[dtype]).tiny)
            assert (found[exact < tiny].astype(np.float64) <= tiny).all()
            found, exact = found[~(exact < tiny)], exact[~(exact < tiny)]
        assert error(found, exact) <= bounds.get(dtype, HALF_ULP)


@pytest.mark.grid(5)
@pytest.mark.parametrize("cpu", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_power(dtype: str, cpu: str):
    info = ml_dtypes.finfo(DTYPES[dtype])
    sizes = [0, 1, 2, 3, 0.5, 0.75, 7, 8, np.inf, np.nan, float(info.max), float(info.tiny)]
    numbers = np.array([*sizes, *(-size for size in sizes)]).astype(DTYPES[dtype])
    x, y = (grid.reshape(-1).copy() for grid in np.meshgrid(numbers, numbers))
    operands = [relay.var(name, shape=x.shape, dtype=dtype) for name in "xy"]
    module = relay.Module.from_expr(relay.power(*operands))
    (found,) = xrelay.compile(module, target=cpu, cache=False, threads=1).run([x, y])
    with np.errstate(all="ignore"):
        exact = np.power(*(each.astype(np.float64).astype(np.longdouble) for each in (x, y)))
        assert error(found, exact) <= (HALF_ULP if DTYPES[dtype].itemsize == 2 else 1.0)
