"""Losses against numpy, at all levels."""

from __future__ import annotations

import numpy as np
import pytest
from support.one_op import Array, applied, program

import xrelay
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.interpreters.relay import run_relay

RTOL = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-12}


def rows(dtype: str, *shape: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(len(shape))
    return rng.uniform(0.1, 1, shape).astype(dtype), rng.uniform(0, 1, shape).astype(dtype)


@pytest.mark.grid(2)
@pytest.mark.parametrize("dtype", RTOL)
@pytest.mark.parametrize("op", ["nn.cross_entropy", "nn.cross_entropy_with_logits"])
def test_cross_entropy(op: str, dtype: str) -> None:
    predictions, targets = rows(dtype, 5, 7)
    found = applied(op, predictions, targets, rtol=RTOL[dtype])
    own = predictions.astype(np.float64)
    wanted = -(targets.astype(np.float64) * (np.log(own) if op == "nn.cross_entropy" else own)).sum() / 5
    assert found.dtype == np.dtype(dtype)
    np.testing.assert_allclose(found, wanted, rtol=4 * RTOL[dtype])


def test_cross_entropy_of_nothing() -> None:
    assert np.isnan(applied("nn.cross_entropy", *rows("float32", 0, 3)))
    assert applied("nn.cross_entropy", *rows("float32", 3, 0)) == 0


def losses(predictions: Array, targets: Array, weights: Array, ignored: int) -> tuple[Array, float]:
    result, total = np.zeros(targets.shape), 0.0
    for place in np.ndindex(*targets.shape):
        kind = int(targets[place])
        if kind != ignored:
            result[place] = -float(predictions[(*place[:1], kind, *place[1:])]) * float(weights[kind])
            total += float(weights[kind])
    return result, total


@pytest.mark.grid(14)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("shape", [(), (5,), (3, 4, 2)])
@pytest.mark.parametrize(("targets", "ignored"), [("int64", -100), ("uint8", 1), ("int8", 3)])
def test_nll_loss(shape: tuple[int, ...], targets: str, ignored: int, reduction: str) -> None:
    rng = np.random.default_rng(7)
    predictions = rng.standard_normal((*shape[:1], 4, *shape[1:])).astype(np.float32)
    classes, weights = rng.integers(0, 4, shape).astype(targets), rng.uniform(0.5, 1, 4).astype(np.float32)
    found = applied(
        "nn.nll_loss", predictions, classes, weights, reduction=reduction, ignore_index=ignored, rtol=1e-5, atol=1e-6
    )
    result, total = losses(predictions, classes, weights, ignored)
    if reduction != "none":
        with np.errstate(invalid="ignore"):
            result = result.sum() / (np.float64(total) if reduction == "mean" else 1)
    np.testing.assert_allclose(found, result, rtol=1e-4, atol=1e-6)


def test_what_is_ignored_is_not_looked_at() -> None:
    predictions = np.array([[np.inf, 1.0], [np.nan, 2.0]], np.float32)
    weights, classes = np.array([0.0, 1.0], np.float32), np.array([77, 1], np.int32)
    assert applied("nn.nll_loss", predictions, classes, weights, ignore_index=77) == -2


def test_a_class_that_is_not_there() -> None:
    arrays = [np.zeros((2, 3), np.float32), np.array([0, 3], np.int32), np.ones(3, np.float32)]
    module = program("nn.nll_loss", *arrays)
    with pytest.raises(InterpreterError):
        run_relay(module, arrays)
    with pytest.raises(ExecutionError):
        xrelay.compile(module, cache=False).run(arrays)
