"""Ops that move elements: the interpreter, and native code for some forms, against numpy; wrong lengths are errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.examples import examples
from support.levels import check_levels, graph_of, outputs
from support.op_cases import OpCase

from xrelay import relay
from xrelay.api.compile import compile
from xrelay.errors import ExecutionError, InterpreterError

Array = NDArray[Any]


def values(*shape: int) -> Array:
    return np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)


def interpreted(op: str, *inputs: Array, **attributes: Any) -> Array:
    case = OpCase(op, [array.shape for array in inputs], attributes, dtype="int64")
    (found,) = outputs(graph_of(case), list(inputs))
    return found


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 7), st.integers(-9, 9), st.integers(-9, 9), st.integers(-3, 3).filter(bool))
def test_slices(extent: int, begin: int, end: int, step: int) -> None:
    x = values(2, extent)
    found = interpreted("strided_slice", x, begin=(begin,), end=(end,), strides=(step,), axes=(-1,))
    np.testing.assert_array_equal(found, x[:, begin:end:step])


@pytest.mark.parametrize(
    ("begin", "size", "wanted"),
    [(1, 2, slice(1, 3)), (-3, -1, slice(-3, None)), (-2, 2, slice(-2, None)), (3, 0, slice(3, 3))],
)
def test_slices_by_size(begin: int, size: int, wanted: slice) -> None:
    x = values(7)
    found = interpreted("strided_slice", x, begin=(begin,), end=(size,), slice_mode="size")
    np.testing.assert_array_equal(found, x[wanted])


def test_the_others_are_numpys() -> None:
    x = values(3, 4)
    np.testing.assert_array_equal(interpreted("reverse", x, axis=-1), x[:, ::-1])
    np.testing.assert_array_equal(interpreted("tile", x, reps=(2,)), np.tile(x, 2))
    np.testing.assert_array_equal(interpreted("tile", x, reps=(2, 0, 3)), np.tile(x, (2, 0, 3)))
    np.testing.assert_array_equal(interpreted("repeat", x, repeats=2, axis=1), np.repeat(x, 2, 1))
    np.testing.assert_array_equal(interpreted("broadcast_to", x, shape=(2, 3, 4)), np.broadcast_to(x, (2, 3, 4)))
    for k in (-9, -1, 0, 2, 9):
        number = np.array(k)
        np.testing.assert_array_equal(interpreted("trilu", x, number), np.triu(x, k))
        np.testing.assert_array_equal(interpreted("trilu", x, number, upper=False), np.tril(x, k))


@pytest.mark.grid(3)
@pytest.mark.parametrize(
    ("op", "shapes", "attributes"),
    [
        ("strided_slice", [(5, 9)], {"begin": (4, 7), "end": (-9, 0), "strides": (-1, -3)}),
        ("strided_slice", [(5, 9)], {"begin": (1, 1), "end": (4, 9), "strides": (2, 1)}),
        ("strided_slice", [(3, 0)], {"begin": (0,), "end": (2,)}),
        ("reverse", [(3, 17)], {"axis": 1}),
        ("tile", [(3, 5)], {"reps": (2, 2, 3)}),
        ("tile", [(3, 5)], {"reps": (0, 1)}),
        ("tile", [()], {"reps": (3,)}),
        ("repeat", [(3, 5)], {"repeats": 3, "axis": 0}),
        ("repeat", [(3, 5)], {"repeats": 0, "axis": 1}),
        ("broadcast_to", [(3, 1)], {"shape": (2, 3, 17)}),
        ("trilu", [(2, 5, 7), ()], {}),
        ("reverse_sequence", [(3, 9, 2), (2,)], {"seq_axis": 1, "batch_axis": 2}),
    ],
)
def test_levels_and_native_code(op: str, shapes: list[tuple[int, ...]], attributes: dict[str, Any]) -> None:
    case = OpCase(op, shapes, attributes, dtype="int64")
    inputs = case.inputs()
    check_levels(graph_of(case), inputs)
    for found, wanted in zip(
        compile(graph_of(case), cache=False).run(inputs), outputs(graph_of(case), inputs), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("length", [-1, 5])
def test_a_sequence_longer_than_the_axis(length: int) -> None:
    case = OpCase("reverse_sequence", [(2, 4), (2,)], dtype="int64")
    inputs = [values(2, 4), np.array([1, length])]
    with pytest.raises(InterpreterError, match="seq_lengths has"):
        outputs(graph_of(case), inputs)
    with pytest.raises(ExecutionError, match=str(length)):
        compile(graph_of(case), cache=False).run(inputs)


@pytest.mark.parametrize(
    ("begin", "end", "strides", "wanted"),
    [
        ((1, 1), (4, 4, 3), (1,), np.s_[1:4, 1:4, :3]),
        ((1, 1, 0), (3,), (2,), np.s_[1:3:2, 1:, 0:]),
        ((), (3, 2), None, np.s_[:3, :2]),
        ((0, -1), (3,), (1, -1), np.s_[:3, -1:0:-1]),
        ((), (), (1, -2, 2), np.s_[:, :0:-2, ::2]),
        ((), (), (1,), np.s_[:]),
    ],
)
def test_slices_whose_lists_are_short(begin: tuple[int, ...], end: tuple[int, ...], strides: Any, wanted: Any) -> None:
    """Missing entries have Relay's defaults: the end of a negative stride is position 0."""
    data = values(3, 4, 3)
    for kind in ("debug", "graph"):
        found = relay.create_executor(kind).evaluate(relay.strided_slice(relay.const(data), begin, end, strides))
        np.testing.assert_array_equal(found, data[wanted])


@pytest.mark.parametrize(
    ("begin", "size", "wanted"), [((1, -3), (-1, 2), np.s_[1:, -3:-1]), ((1,), (1, 2), np.s_[1:2, :2])]
)
def test_strides_mean_nothing_by_size(begin: tuple[int, ...], size: tuple[int, ...], wanted: Any) -> None:
    data = values(3, 4, 3)
    sliced = relay.strided_slice(relay.const(data), begin, size, strides=(1, -1, 2), slice_mode="size")
    np.testing.assert_array_equal(relay.create_executor("debug").evaluate(sliced), data[wanted])
