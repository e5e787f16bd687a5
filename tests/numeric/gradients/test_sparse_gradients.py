"""Gradients of products and sums with sparse matrices: differences, duplicates, and values outside of all rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.gradients import Array, check_gradient

from xrelay import relay
from xrelay.api.compile import compile
from xrelay.errors import PassError
from xrelay.interpreters.relay import run_relay

RNG = np.random.default_rng(4)
COLUMNS, BEGINS = np.array([2, 0, 0, 1], np.int32), np.array([0, 1, 3], np.int32)
"""Two of the values have one position, and the last belongs to no row."""

CASES: dict[str, tuple[Callable[..., relay.Expr], list[Array]]] = {
    "list": (lambda x, *parts: relay.nn.sparse_dense(x, parts), [RNG.normal(size=(2, 3)), RNG.normal(size=4)]),
    "list on the left": (
        lambda x, *parts: relay.nn.sparse_dense(x, parts, sparse_lhs=True),
        [RNG.normal(size=(2, 3)), RNG.normal(size=4)],
    ),
    "blocks": (
        lambda x, *parts: relay.nn.sparse_dense(x, parts),
        [RNG.normal(size=(5, 6)), RNG.normal(size=(4, 3, 2))],
    ),
    "blocks on the left": (
        lambda x, *parts: relay.nn.sparse_dense(x, parts, sparse_lhs=True),
        [RNG.normal(size=(5, 6)), RNG.normal(size=(4, 3, 2))],
    ),
}


def program(name: str) -> tuple[relay.Function, list[Array]]:
    build, floats = CASES[name]
    inputs = [*floats, COLUMNS, BEGINS]
    params = [relay.var(f"x{n}", shape=each.shape, dtype=str(each.dtype)) for n, each in enumerate(inputs)]
    return relay.Function(params, build(*params)), inputs


@pytest.mark.grid(2)
@pytest.mark.parametrize("name", CASES)
def test_products(name: str) -> None:
    function, inputs = program(name)
    check_gradient(function, inputs)
    module = relay.IRModule.from_expr(relay.transform.gradient(function))
    for own, wanted in zip(compile(module, cache=False).run(inputs), run_relay(module, inputs), strict=True):
        np.testing.assert_allclose(own, wanted, rtol=1e-12, atol=1e-12)
    assert not run_relay(module, inputs)[2][-1].any()


def test_sums_and_transposes() -> None:
    values, columns, begins = RNG.normal(size=3), np.array([1, 0, 1], np.int32), np.array([0, 1, 3], np.int32)
    arrays = [RNG.normal(size=(2, 2)), values, columns, begins]
    params = [relay.var(f"x{n}", shape=each.shape, dtype=str(each.dtype)) for n, each in enumerate(arrays)]
    total = relay.nn.sparse_add(params[0], params[1:])
    check_gradient(relay.Function(params, relay.multiply(total, total)), arrays)
    turned = relay.nn.sparse_transpose(params[1:])[0]
    check_gradient(relay.Function(params[1:], relay.multiply(turned, turned)), arrays[1:])


def test_a_depth_that_only_the_run_tells_is_refused() -> None:
    shapes = [((2, "k"), "float32"), ((4,), "float32"), ((4,), "int32"), ((3,), "int32")]
    params = [relay.var(f"x{n}", shape=shape, dtype=dtype) for n, (shape, dtype) in enumerate(shapes)]
    with pytest.raises(PassError, match="sparse_dense cannot be differentiated: the extent k of its data"):
        relay.transform.gradient(relay.Function(params, relay.nn.sparse_dense(params[0], params[1:])))
