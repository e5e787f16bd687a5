"""DynamicQuantizeLSTM against onnxruntime, and against the LSTM with the dequantised weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.microsoft_nodes import DOMAIN, check
from support.one_node import Array, both, node_model

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(31)
STATES = ("y", "y_h", "y_c")
SEQUENCE, BATCH, INPUT, HIDDEN = 5, 2, 3, 4


def parameters(directions: int, dtype: type[Any], *, by_gate: bool, peepholes: bool = False) -> list[Array | None]:
    """The inputs of a node: x, weights, biases, no lengths, states, scales and zero points.

    Weights have 7 bits: without VNNI onnxruntime adds two byte products in 16 bits, which would saturate for 8 bits.
    """
    gates = 4 * HIDDEN
    low, high = np.iinfo(dtype).min // 2, np.iinfo(dtype).max // 2
    weights = [RNG.integers(low, high, (directions, rows, gates), dtype, endpoint=True) for rows in (INPUT, HIDDEN)]
    of = (directions, gates) if by_gate else (directions,)
    scales = [RNG.uniform(0.002, 0.006, of).astype(np.float32) for _ in range(2)]
    points = [np.full(of, 0 if dtype is np.int8 else 120, dtype) for _ in range(2)]
    seen = RNG.normal(size=(directions, 3 * HIDDEN)).astype(np.float32) if peepholes else None
    return [
        RNG.normal(size=(SEQUENCE, BATCH, INPUT)).astype(np.float32),
        *weights,
        RNG.normal(size=(directions, 2 * gates)).astype(np.float32),
        None,
        RNG.normal(size=(directions, BATCH, HIDDEN)).astype(np.float32),
        RNG.normal(size=(directions, BATCH, HIDDEN)).astype(np.float32),
        seen,
        scales[0],
        points[0],
        scales[1],
        points[1],
    ]


@pytest.mark.grid(2)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize(("dtype", "by_gate"), [(np.uint8, False), (np.int8, True)])
def test_an_lstm_of_bytes(direction: str, dtype: type[Any], by_gate: bool) -> None:
    directions = 2 if direction == "bidirectional" else 1
    check(
        "DynamicQuantizeLSTM",
        parameters(directions, dtype, by_gate=by_gate),
        direction=direction,
        hidden_size=HIDDEN,
        outputs=STATES,
    )


@pytest.mark.parametrize("lengths", [(5, 2), (4, 4), (1, 3)])
def test_lengths_and_peepholes(lengths: tuple[int, int]) -> None:
    """Steps after the end of a sequence do not affect any quantisation range."""
    inputs = parameters(2, np.int8, by_gate=False, peepholes=True)
    inputs[4] = np.array(lengths, np.int32)
    check("DynamicQuantizeLSTM", inputs, direction="bidirectional", hidden_size=HIDDEN, outputs=STATES)


def test_products_are_sums_of_integers() -> None:
    """Products cancel exactly: the second half of the input repeats the first, with negated weights."""
    half, gates = 300, 4 * HIDDEN
    order = RNG.permutation(half)
    x, w = RNG.normal(size=(1, BATCH, half)).astype(np.float32), RNG.integers(-127, 127, (1, half, gates), np.int8)
    inputs = parameters(1, np.int8, by_gate=False)
    inputs[1], inputs[5] = np.concatenate([w, -w[:, order]], axis=1), np.zeros((1, BATCH, HIDDEN), np.float32)
    given = np.concatenate([x, x[..., order]], axis=2)
    for values, nothing in zip(*(_states_of([each, *inputs[1:]]) for each in (given, 0 * given)), strict=True):
        np.testing.assert_array_equal(values, nothing)


def _states_of(inputs: list[Array | None]) -> list[Array]:
    """The results of the interpreter and of native code in one list."""
    proto = node_model("DynamicQuantizeLSTM", inputs, 17, domain=DOMAIN, outputs=STATES, hidden_size=HIDDEN)
    return [array for results in both(proto, inputs) for array in results]


def test_scales_of_another_shape_are_refused() -> None:
    inputs = parameters(1, np.int8, by_gate=False)
    inputs[10] = np.ones((1, 3), np.float32)
    proto = node_model("DynamicQuantizeLSTM", inputs, 17, domain=DOMAIN, outputs=STATES, hidden_size=HIDDEN)
    with pytest.raises(ModelImportError, match=r"input #10 has the shape \(1, 3\): \(1\) or \(1, 16\) is expected"):
        import_onnx(proto)
