"""Sums of products in which a factor lacks an axis: each product counts, also infinite ones, at every level."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay import relay, transform
from xrelay.interpreters.relay import run_relay


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", ((4, 4), (1, 3))),
        ("ij,k->ik", ((4, 4), (3,))),
        ("ij,k->k", ((4, 4), (3,))),
        ("i,j->", ((4,), (3,))),
    ],
)
def test_infinite_factors_beside_a_sum(equation: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    arrays = [np.ones(shape, np.float32) for shape in shapes]
    arrays[0].reshape(-1)[1::2] = -2
    arrays[1].reshape(-1)[-1] = np.inf
    variables = [relay.var(f"x{number}", shape=shape) for number, shape in enumerate(shapes)]
    module = relay.IRModule.from_expr(relay.Function(variables, relay.einsum(variables, equation)))
    (found,) = run_relay(transform.InferType()(module), arrays)
    assert np.isnan(found.reshape(-1)[-1])
    for level in range(4):
        np.testing.assert_array_equal(xrelay.compile(module, opt_level=level, cache=False).run(arrays)[0], found)
