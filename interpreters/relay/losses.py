"""Losses in double precision."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.meaning.in_double import in_double
from xrelay.dialects.relay.ops.nn_losses import CrossEntropyOp, CrossEntropyWithLogitsOp, NLLLossOp, class_axis
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.numerics.rounding import cast_once
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import evaluates


@evaluates(CrossEntropyOp)
@in_double
def evaluate_cross_entropy(op: CrossEntropyOp, predictions: Array, targets: Array) -> Array:
    """Computes the mean over rows."""
    return np.asarray(-np.sum(np.log(predictions) * targets) / np.float64(len(predictions)))


@evaluates(CrossEntropyWithLogitsOp)
@in_double
def evaluate_cross_entropy_with_logits(op: CrossEntropyWithLogitsOp, predictions: Array, targets: Array) -> Array:
    """Computes the mean over rows."""
    return np.asarray(-np.sum(predictions * targets) / np.float64(len(predictions)))


@evaluates(NLLLossOp)
def evaluate_nll_loss(op: NLLLossOp, predictions: Array, targets: Array, weights: Array) -> Array:
    """Gathers elements by class."""
    axis = class_axis(predictions.ndim)
    named = targets.astype(np.int64)
    is_used = named != op.ignore_index.value.data
    classes, count = np.where(is_used, named, 0), predictions.shape[axis]
    if np.any((classes >= count) | (classes < -count)):
        raise InterpreterError(f"a class lies outside of [-{count}, {count - 1}]")
    places = np.expand_dims(np.where(classes < 0, classes + count, classes), axis)
    taken = np.take_along_axis(predictions.astype(np.float64), places, axis).squeeze(axis)
    factors = np.where(is_used, weights.astype(np.float64)[classes], 0)
    result: Array = np.where(is_used, -taken * factors, 0)
    if op.reduction.data != "none":
        result = np.asarray(result.sum() / (np.float64(factors.sum()) if op.reduction.data == "mean" else 1.0))
    return cast_once(result, predictions.dtype)
