"""Functions of operators whose parameters differ from the definition: Relay's order, names and defaults."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from xrelay import relay
from xrelay.errors import ConstraintError, InputError
from xrelay.interpreters.relay import run_relay
from xrelay.relay.expr import Expr

DATA = np.arange(12, dtype=np.float32).reshape(3, 4)
PLACES = np.array([[0, 2, 1, 0]])


def value(expr: Expr) -> list[NDArray[Any]]:
    return run_relay(relay.Module.from_expr(relay.Function([], expr)), [])


X, NINES = relay.const(DATA), np.full((2, 3), 9, np.float32)
BAND = DATA.copy()
BAND[[0, 1, 2, 1, 2], [0, 1, 2, 0, 1]] = 9
RIGHT = DATA.copy()
RIGHT[[0, 1, 2], [1, 2, 3]] = 9
SET = DATA.copy()
SET[1] = 9
ROW = relay.const(np.full((1, 4), 9, np.float32))

CASES: dict[str, tuple[Expr, NDArray[Any]]] = {
    "take": (relay.take(X, relay.const([1, 0]), 1), DATA[:, [1, 0]]),
    "gather": (relay.gather(X, 0, relay.const(PLACES)), np.take_along_axis(DATA, PLACES, 0)),
    "arange": (relay.arange(4), np.arange(4, dtype=np.float32)),
    "arange of a type": (relay.arange(relay.const(1), 7, 2, "int32"), np.arange(1, 7, 2, dtype=np.int32)),
    "arange in steps": (relay.arange(0.5, 2.5, dtype="float64"), np.array([0.5, 1.5])),
    "full": (relay.full(relay.const(1.5)), np.array(1.5, np.float32)),
    "matrix_set_diag": (relay.matrix_set_diag(X, relay.const(NINES), (-1, 0)), BAND),
    "matrix_set_diag at one": (relay.matrix_set_diag(X, relay.const(NINES[0]), k=[1]), RIGHT),
    "strided_set": (relay.strided_set(X, ROW, [1], [2]), SET),
    "strided_set of short lists": (relay.strided_set(X, ROW, [1], [2, 9]), SET),
    "strided_set of short constants": (
        relay.strided_set(X, ROW, relay.const(np.array([1], np.int32)), relay.const([2, 9])),
        SET,
    ),
    "strided_set in part": (relay.strided_set(X, ROW, relay.const(np.array([1], np.int32)), [2]), SET),
    "unravel_index": (relay.unravel_index(indices=relay.const([5]), shape=relay.const([3, 4])), np.array([[1], [1]])),
}


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    expr, expected = CASES[name]
    (found,) = value(expr)
    np.testing.assert_array_equal(found, expected.astype(found.dtype))
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype or name == "unravel_index"


def test_operands_first_and_attributes_by_name() -> None:
    by_name, in_order = relay.gather(X, relay.const(PLACES), axis=0), relay.gather(X, 0, relay.const(PLACES))
    np.testing.assert_array_equal(value(by_name)[0], value(in_order)[0])
    with pytest.raises(ConstraintError, match="takes 3 arguments, got 4"):
        relay.op_function("gather")(X, 0, relay.const(PLACES), 1)


def test_a_short_time_fourier_transform_has_a_window_of_ones() -> None:
    signal = np.arange(8, dtype=np.float32)
    frames = np.stack([signal[k : k + 4] for k in range(5)])
    (found,) = value(relay.stft(relay.const(signal), 4))
    np.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], np.fft.rfft(frames).T, rtol=1e-5, atol=1e-5)


def test_a_window_is_cast_to_the_type_of_the_data() -> None:
    signal, window = relay.const(np.arange(8, dtype=np.float32)), [0, 1, 2, 1]
    whole, real = (value(relay.stft(signal, 4, window=relay.const(np.array(window, kind))))[0] for kind in "if")
    np.testing.assert_array_equal(whole, real)


def test_integers_are_finite() -> None:
    numbers = relay.const(np.array([0, -(2**63), 2**63 - 1]))
    assert value(relay.isfinite(numbers))[0].tolist() == [True] * 3
    assert value(relay.isinf(numbers))[0].tolist() == value(relay.isnan(numbers))[0].tolist() == [False] * 3
    assert value(relay.isinf(relay.const([1.0, np.inf])))[0].tolist() == [False, True]


BOXES = np.array([[[0, 0, 1, 1], [0, 0, 0.9, 1], [2, 2, 3, 3], [4, 4, 5, 5]]], np.float32)


@pytest.mark.parametrize(("most", "kept"), [((), [2, 1, 3]), ((1,), [2])])
def test_suppression_in_all_classes_takes_numbers(most: tuple[int, ...], kept: list[int]) -> None:
    scores = np.array([[[0.1, 0.5, 0.6, 0.2]]], np.float32)
    rows, count = value(relay.vision.all_class_non_max_suppression(relay.const(BOXES), relay.const(scores), *most))
    assert (rows[: count[0], 2].tolist(), count[0]) == (kept, len(kept))


def test_suppression_in_all_classes_has_one_format() -> None:
    boxes, scores = relay.const(BOXES), relay.const(np.ones((1, 1, 4), np.float32))
    rows, _ = value(relay.vision.all_class_non_max_suppression(boxes, scores, output_format="onnx"))
    assert rows.shape == (4, 3)
    with pytest.raises(
        ConstraintError, match="output_format is 'tensorflow', must be 'onnx'; help: the result has rows of batch"
    ):
        relay.vision.all_class_non_max_suppression(boxes, scores, output_format="tensorflow")


def test_suppression_has_relays_defaults() -> None:
    rows = np.concatenate([np.zeros((1, 4, 1)), [[[0.9], [0.8], [0.7], [0.6]]], BOXES], -1).astype(np.float32)
    operands = relay.const(rows), relay.const(np.array([4], np.int32)), relay.const(np.array([[0, 1, 2, 3]], np.int32))
    kept, count = value(relay.vision.non_max_suppression(*operands))
    assert (kept.tolist(), count.tolist()) == ([[0, 2, 3, -1]], [[3]])
    data, counts, indices = operands
    boxes = [relay.vision.non_max_suppression(data, counts, each, return_indices=False) for each in (indices, data)]
    np.testing.assert_array_equal(value(boxes[0])[0], value(boxes[1])[0])


def test_unknown_alignments_are_refused() -> None:
    with pytest.raises(ConstraintError, match="align must be one of RIGHT_LEFT"):
        relay.matrix_set_diag(X, relay.const(NINES[0]), align="LEFT")


def test_pad_with_widths_below_0_cuts_elements_off() -> None:
    data = np.arange(72, dtype=np.float32).reshape(4, 6, 3)
    cut = relay.nn.pad(relay.const(data), ((-1, -1), (2, -2), (0, -2)), pad_value=2.0)
    assert isinstance(cut, relay.Call)
    assert cut.op == relay.op.get("nn.pad")
    wanted = np.pad(data[1:-1, :-2, :-2], ((0, 0), (2, 0), (0, 0)), constant_values=2)
    np.testing.assert_array_equal(value(cut)[0], wanted)


@pytest.mark.parametrize("mode", ["reflect", "edge"])
def test_pad_repeats_what_is_cut_off_behind(mode: Literal["reflect", "edge"]) -> None:
    """Elements are mirrored before others are removed: those of the end appear at the front."""
    found = value(relay.nn.pad(X, ((2, -2), (0, -3)), pad_mode=mode))[0]
    np.testing.assert_array_equal(found, np.pad(DATA, ((2, 0), (0, 0)), mode=mode)[:-2, :-3])


def test_pad_refuses_to_cut_off_more_than_there_is() -> None:
    with pytest.raises(ConstraintError, match=r"\[relay.nn.pad C1\] 5 elements are removed from an axis of extent 3"):
        relay.nn.pad(X, ((-3, -2), (0, 0)))


def test_pad_value_may_be_a_vector_of_one_number() -> None:
    found = value(relay.nn.pad(X, ((1, 0), (0, 0)), relay.const(np.array([7], np.float32))))[0]
    np.testing.assert_array_equal(found, np.pad(DATA, ((1, 0), (0, 0)), constant_values=7), strict=True)


def test_pad_takes_widths_that_are_a_constant() -> None:
    widths = relay.const(np.array([[0, -1], [1, 0]]))
    np.testing.assert_array_equal(value(relay.nn.pad(X, widths))[0], np.pad(DATA[:2], ((0, 0), (1, 0))))


def test_pad_takes_numbers_for_tensors_of_integers() -> None:
    data = relay.const(np.array([[3, 4]], np.int8))
    found = value(relay.nn.pad(data, ((1, 0), (0, 0)), 2.0))[0]
    np.testing.assert_array_equal(found, np.array([[2, 2], [3, 4]], np.int8), strict=True)
    assert value(relay.nn.pad(data, ((1, 0), (0, 0))))[0].tolist() == [[0, 0], [3, 4]]
    with pytest.raises(InputError, match=r"the number 2\.5 is not of the tensor's dtype int8"):
        relay.nn.pad(data, ((1, 0), (0, 0)), 2.5)


@pytest.mark.parametrize("k", [-1, 0, 2])
def test_trilu_takes_a_number(k: int) -> None:
    np.testing.assert_array_equal(value(relay.trilu(X, k))[0], np.triu(DATA, k), strict=True)
    np.testing.assert_array_equal(value(relay.trilu(X, k, upper=False))[0], np.tril(DATA, k), strict=True)


def test_lengths_of_sequences_outside_of_the_extent_are_the_nearest() -> None:
    lengths = relay.const(np.array([-1, 3, 9]))
    found = value(relay.reverse_sequence(X, lengths, 1, 0))[0]
    np.testing.assert_array_equal(found, [DATA[0], [*DATA[1, 2::-1], DATA[1, 3]], DATA[2, ::-1]])
