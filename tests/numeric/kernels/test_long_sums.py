"""Sums of more than a hundred thousand floats of one sign keep their precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from xrelay import relay
from xrelay.api.compile import compile

TERMS = 131_101
"""A prime, so the last part of every sum is shorter than the others."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """An expression of parameters of these shapes, and its value in f64."""

    shapes: list[tuple[int, ...]]
    build: Callable[[Sequence[relay.Expr]], relay.Expr]
    reference: Callable[[list[Array]], Array]


def values(*shape: int) -> NDArray[np.float32]:
    return np.random.default_rng(sum(shape)).random(shape, np.float32)


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(0))
    return powers / powers.sum(0)


BIAS, WEIGHT = values(20), values(TERMS, 20)
CASES = {
    "matmul": Case([(5, TERMS), (TERMS, 8)], lambda v: relay.nn.matmul(v[0], v[1]), lambda x: x[0] @ x[1]),
    "stack": Case(
        [(2, 3, TERMS), (2, TERMS, 5)],
        lambda v: relay.nn.batch_matmul(v[0], v[1], transpose_b=False),
        lambda x: x[0] @ x[1],
    ),
    "packed weight and epilogue": Case(
        [(7, TERMS)],
        lambda v: relay.nn.relu(relay.nn.matmul(v[0], relay.const(WEIGHT)) + relay.const(BIAS)),
        lambda x: np.maximum(x[0] @ WEIGHT.astype(np.float64) + BIAS, 0),
    ),
    "convolution": Case(
        [(1, TERMS, 1, 4), (3, TERMS, 1, 1)],
        lambda v: relay.nn.conv2d(v[0], v[1]),
        lambda x: np.einsum("nchw,oc->nohw", x[0], x[1][:, :, 0, 0]),
    ),
    "outer axis": Case([(TERMS, 16)], lambda v: relay.sum(v[0], axis=0), lambda x: x[0].sum(0)),
    "inner axes": Case([(2, 3, TERMS)], lambda v: relay.sum(v[0], axis=[1, 2]), lambda x: x[0].sum((1, 2))),
    "softmax": Case([(TERMS, 4)], lambda v: relay.nn.softmax(v[0], axis=0), lambda x: softmax(x[0])),
}


@pytest.mark.grid(2)
@pytest.mark.parametrize("target", ["cpu -mcpu=x86-64", None])
@pytest.mark.parametrize("name", CASES)
def test_sums_of_many_terms(name: str, target: str | None) -> None:
    check(CASES[name], target)


def check(case: Case, target: str | None) -> None:
    variables = [relay.var(f"x{number}", shape=shape) for number, shape in enumerate(case.shapes)]
    inputs = [values(*shape) for shape in case.shapes]
    module = relay.Module.from_expr(relay.Function(variables, case.build(variables)))
    (found,) = compile(module, target=target, cache=False, threads=2).run(inputs)
    np.testing.assert_allclose(found, case.reference([x.astype(np.float64) for x in inputs]), rtol=3e-6)


SHARED = 1 << 20
SHARED_CASES = {
    "sum": Case([(SHARED,)], lambda v: relay.sum(v[0]), lambda x: x[0].sum()),
    "maximum": Case([(SHARED,)], lambda v: relay.max(v[0]), lambda x: x[0].max()),
    "mean": Case([(1024, 1024)], lambda v: relay.mean(v[0]), lambda x: x[0].mean()),
    "rows": Case([(5, SHARED)], lambda v: relay.sum(v[0], axis=1), lambda x: x[0].sum(1)),
    "columns": Case([(SHARED, 5)], lambda v: relay.sum(v[0], axis=0), lambda x: x[0].sum(0)),
    "epilogue": Case(
        [(2, SHARED)], lambda v: relay.sqrt(relay.sum(v[0] * v[0], axis=1)), lambda x: np.sqrt((x[0] ** 2).sum(1))
    ),
    "matmul": Case(
        [(3, 1 << 18), (1 << 18, 8)], lambda v: relay.nn.matmul(v[0], v[1]), lambda x: x[0] @ x[1]
    ),
    "single element": Case(
        [(1, SHARED), (SHARED, 1)], lambda v: relay.nn.matmul(v[0], v[1]), lambda x: x[0] @ x[1]
    ),
    "stack": Case(
        [(2, 1, 1 << 18), (2, 1 << 18, 8)],
        lambda v: relay.nn.batch_matmul(v[0], v[1], transpose_b=False),
        lambda x: x[0] @ x[1],
    ),
    "packed weight and epilogue": Case(
        [(7, TERMS - 29)],
        lambda v: relay.nn.relu(relay.nn.matmul(v[0], relay.const(WEIGHT[: TERMS - 29])) + relay.const(BIAS)),
        lambda x: np.maximum(x[0] @ WEIGHT[: TERMS - 29].astype(np.float64) + BIAS, 0),
    ),
}  # fmt: skip


@pytest.mark.grid(2)
@pytest.mark.parametrize("target", ["cpu -mcpu=x86-64", None])
@pytest.mark.parametrize("name", SHARED_CASES)
def test_threads_share_the_terms_of_few_results(name: str, target: str | None) -> None:
    check(SHARED_CASES[name], target)
