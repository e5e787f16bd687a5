"""A small classifier keeps its accuracy when quantised: random features, and a fitted last layer."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.float_networks import Weights

import xrelay
from xrelay import relay

Array = NDArray[Any]
CLASSES, SIZE, TRAINING, TESTING = 10, 12, 1500, 500


@cache
def pictures() -> tuple[Array, Array]:
    """Noisy pictures of ten kinds with random shifts, and their kinds."""
    rng = np.random.default_rng(0)
    kinds = rng.normal(size=(CLASSES, 1, SIZE, SIZE))
    kinds = kinds + np.roll(kinds, 1, axis=2) + np.roll(kinds, 1, axis=3)
    labels = rng.integers(0, CLASSES, TRAINING + TESTING)
    shifts = rng.integers(-1, 2, (len(labels), 2))
    moved = np.stack([np.roll(kinds[k], tuple(s), axis=(1, 2)) for k, s in zip(labels, shifts, strict=True)])
    return (moved + rng.normal(size=moved.shape) * 1.5).astype(np.float32), labels


def features(batch: int) -> tuple[relay.Var, relay.Expr]:
    """Two convolutions with random weights and a pool between them."""
    weights, x = Weights(3), relay.var("data", shape=(batch, 1, SIZE, SIZE))
    y = relay.nn.relu(relay.nn.bias_add(weights.conv(x, 1, 16), weights.constant(16)))
    y = relay.nn.max_pool2d(y, (2, 2), (2, 2))
    return x, relay.nn.batch_flatten(relay.nn.relu(weights.conv(y, 16, 16)))


@cache
def classifier() -> relay.IRModule:
    """The features with a dense layer, fitted to the kinds of the training pictures by least squares."""
    images, labels = pictures()
    x, found = features(TRAINING)
    model = xrelay.compile(relay.IRModule.from_expr(relay.Function([x], found)), cache=False)
    inputs = model.run([images[:TRAINING]])[0].astype(np.float64)
    targets = np.eye(CLASSES)[labels[:TRAINING]]
    gram = inputs.T @ inputs + 100.0 * np.eye(inputs.shape[1])
    weight = np.linalg.solve(gram, inputs.T @ targets).T.astype(np.float32)
    x, found = features(TESTING)
    return relay.IRModule.from_expr(relay.Function([x], relay.nn.dense(found, relay.const(weight))))


def accuracy(module: relay.IRModule) -> float:
    """The share of test pictures that are classified correctly."""
    images, labels = pictures()
    scores = xrelay.compile(module, cache=False).run([images[TRAINING:]])[0]
    return float(np.mean(scores.argmax(axis=1) == labels[TRAINING:]))


@cache
def accuracy_of_floats() -> float:
    """The accuracy of the classifier before it is quantised."""
    return accuracy(classifier())


@pytest.mark.grid(3)
@pytest.mark.parametrize("mode", ["percentile", "kl_divergence", "max"])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_accuracy(mode: str, dtype: str) -> None:
    images, _ = pictures()
    dataset = [{"data": images[:TESTING]}]
    config = relay.quantize.model_config(calibrate_mode=mode, dtype_input=dtype)
    before, after = accuracy_of_floats(), accuracy(xrelay.quantize(classifier(), dataset, config=config))
    assert before > 0.85
    # One picture in a hundred is the statistical uncertainty of an accuracy over 500 pictures.
    assert after > before - 0.01
