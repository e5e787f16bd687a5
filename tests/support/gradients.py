"""Compares gradients of small functions with central differences, in the interpreter and in double precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TensorType, TupleType

from xrelay import relay
from xrelay.interpreters.relay import run_relay

Array = NDArray[Any]
STEP = 1e-6


def weighted_sum(value: relay.Expr, rng: np.random.Generator) -> relay.Expr:
    """The sum of the elements of `value`, or of the tensors in a tuple, each multiplied by its own random weight."""
    total, pending = None, [value]
    while pending:
        current = pending.pop()
        type = current.checked_type.plain
        if isinstance(type, TupleType):
            pending += [relay.TupleGetItem(current, index) for index in range(len(type.types))]
            continue
        assert isinstance(type, TensorType)
        weights = relay.const(rng.uniform(0.5, 1.5, [int(extent) for extent in type.get_shape()]), "float64")
        part = relay.sum(relay.multiply(relay.cast(current, dtype="float64"), weights))
        total = part if total is None else relay.add(total, part)
    assert total is not None
    return total


def check_gradient(
    function: relay.Function, inputs: Sequence[Array], *, only: Sequence[int] | None = None, rtol: float = 1e-5
) -> None:
    """Compares the gradients of a function of tensors with differences along random directions.

    Each element of the result has its own weight. `only` selects the parameters whose gradients are compared, by
    default those of floats; the gradients of the others must be zeros of their type.
    """
    rng = np.random.default_rng(5)
    loss = relay.Function(function.params, weighted_sum(function.body, rng))
    plain = relay.IRModule.from_expr(loss)
    _, *gradients = run_relay(relay.IRModule.from_expr(relay.transform.gradient(loss)), list(inputs))
    chosen = [number for number, each in enumerate(inputs) if each.dtype.kind == "f"] if only is None else only
    assert len(gradients) == len(inputs)
    for number, (given, found) in enumerate(zip(inputs, gradients, strict=True)):
        assert isinstance(found, np.ndarray)
        assert (found.shape, found.dtype) == (given.shape, given.dtype)
        if number not in chosen:
            assert not found.any()
            continue
        for _ in range(2):
            direction = rng.uniform(-1, 1, given.shape)
            ends = [_value(plain, inputs, number, given + sign * STEP * direction) for sign in (1, -1)]
            wanted = (ends[0] - ends[1]) / (2 * STEP)
            np.testing.assert_allclose((found * direction).sum(), wanted, rtol=rtol, atol=1e-7)


def _value(module: relay.IRModule, inputs: Sequence[Array], number: int, value: Array) -> float:
    (found,) = run_relay(module, [value if index == number else each for index, each in enumerate(inputs)])
    assert isinstance(found, np.ndarray)
    return float(found)
