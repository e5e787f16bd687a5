"""The fast functions approximate the exact ones, in native code and the interpreter, and are used only on request."""

from __future__ import annotations

from collections.abc import Callable
from math import erf
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import xrelay
from xrelay import relay, transform
from xrelay.interpreters.relay import run_relay

FUNCTIONS: dict[str, tuple[Callable[[NDArray[Any]], Any], float, float]] = {
    "fast_exp": (np.exp, 5e-6, 0),
    "fast_erf": (np.frompyfunc(erf, 1, 1), 0, 1e-6),
    "fast_tanh": (np.tanh, 0, 1e-6),
}
"""Name → the exact function, and the tolerances of the fast one."""

EXTREME = np.array([-np.inf, -6e4, -88, -0.0, 0.0, np.inf, np.nan])


def both(expr: relay.Expr, data: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The results of native code and of the interpreter."""
    module = relay.Module.from_expr(expr)
    (native,) = xrelay.compile(module, cache=False, threads=1).run([data])
    (meant,) = run_relay(module, [data])
    return native, meant


@pytest.mark.grid(3)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_near_the_exact_function(name: str, dtype: str) -> None:
    exact, rtol, atol = FUNCTIONS[name]
    ends = (-9, 11) if dtype == "float16" else (-87, 88)
    data = np.concatenate([np.linspace(*ends, 1009), np.linspace(-5, 5, 1013)]).astype(dtype)
    step = float(np.finfo(dtype).eps)
    for found in both(getattr(relay, name)(relay.var("x", shape=data.shape, dtype=dtype)), data):
        assert found.dtype == data.dtype
        expected = np.asarray(exact(data.astype(np.float64)), np.float64)
        np.testing.assert_allclose(
            found.astype(np.float64), expected, rtol=rtol + step, atol=atol + (step if atol else 0)
        )


@pytest.mark.parametrize(("name", "ends"), [("fast_exp", [0, np.inf]), ("fast_erf", [-1, 1]), ("fast_tanh", [-1, 1])])
def test_at_the_ends(name: str, ends: list[float]) -> None:
    data = EXTREME.astype(np.float32)
    middle = 1.0 if name == "fast_exp" else 0.0
    least, greatest = ends
    for found in both(getattr(relay, name)(relay.var("x", shape=data.shape)), data):
        np.testing.assert_allclose(found, [least, least, least, middle, middle, greatest, np.nan], atol=1e-6)


@pytest.mark.parametrize(("shape", "axis"), [((3, 7), -1), ((3, 7, 2), 1), ((2, 1), 1)])
def test_softmax(shape: tuple[int, ...], axis: int) -> None:
    data = np.random.default_rng(5).normal(0, 30, shape).astype(np.float32)
    x = relay.var("x", shape=shape)
    exact, _ = both(relay.nn.softmax(x, axis=axis), data)
    for found in both(relay.nn.relu(relay.nn.fast_softmax(x, axis=axis)), data):
        np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-7)


@pytest.mark.grid(2)
@pytest.mark.parametrize("name", ["exp", "erf", "tanh", "nn.softmax"])
def test_no_level_runs_the_pass_and_a_name_does(name: str) -> None:
    x = relay.var("x", shape=(4, 5))
    function = relay.nn.softmax if name == "nn.softmax" else getattr(relay, name)
    module = relay.Module.from_expr(function(x))
    data = np.random.default_rng(6).normal(0, 4, (4, 5)).astype(np.float32)
    fast = transform.FastMath()(module)
    assert "fast_" in str(fast)
    with transform.PassContext(opt_level=4):
        (exact,) = xrelay.compile(module, cache=False, threads=1).run([data])
    with transform.PassContext(required_pass=["FastMath"]):
        (asked,) = xrelay.compile(module, cache=False, threads=1).run([data])
    (same,) = xrelay.compile(fast, cache=False, threads=1).run([data])
    np.testing.assert_array_equal(asked, same)
    assert (asked != exact).any()
    np.testing.assert_allclose(asked, exact, rtol=1e-5, atol=1e-6)
