"""Sequences and optionals in the interpreter and in native code."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

X = np.arange(12, dtype=np.float32).reshape(6, 2)
UNKNOWN = "!relay.incomplete"


def run(lines: list[str], results: str, *inputs: np.ndarray, types: str) -> list[np.ndarray]:
    """The values called `results`, after ops written without their types."""
    text = [f"func.func @main({types}) -> ({', '.join([UNKNOWN] * len(results.split(',')))}) {{"]
    text += lines
    text += [f"func.return {results} : {', '.join([UNKNOWN] * len(results.split(',')))}", "}"]
    module = parse_module(full_context(), "\n".join(text), "test.mlir")
    infer_types(module)
    module.verify()
    return run_relay(module, inputs)


SPLIT = f"%s = relay.split_to_sequence(%x) : (tensor<6x2xf32>) -> {UNKNOWN}"
INSERT = f"%t = relay.sequence_insert(%s, %x, %at) : ({UNKNOWN}, tensor<6x2xf32>, tensor<i64>) -> {UNKNOWN}"
JOIN = f"%y = relay.concat_from_sequence(%t) : ({UNKNOWN}) -> {UNKNOWN}"
TYPES = "%x: tensor<6x2xf32>, %at: tensor<i64>"


@pytest.mark.parametrize("at", [0, 1, 5, 6, -1, -6])
def test_a_value_is_inserted_before_a_place(at: int) -> None:
    (found,) = run([SPLIT, INSERT, JOIN], "%y", X, np.array(at), types=TYPES)
    place = at % 6 if at < 0 else at
    assert np.array_equal(found, np.concatenate([X[:place], X, X[place:]]))


@pytest.mark.parametrize("at", [7, -7])
def test_no_place_lies_outside(at: int) -> None:
    with pytest.raises(
        InterpreterError, match=f"relay.sequence_insert: position {at} is out of range for a sequence of 6"
    ):
        run([SPLIT, INSERT, JOIN], "%y", X, np.array(at), types=TYPES)


@pytest.mark.parametrize("at", [0, 3, 5, -1])
def test_a_value_is_taken_or_left_out(at: int) -> None:
    lines = [
        SPLIT,
        f"%v = relay.sequence_at(%s, %at) : ({UNKNOWN}, tensor<i64>) -> {UNKNOWN}",
        f"%t = relay.sequence_erase(%s, %at) : ({UNKNOWN}, tensor<i64>) -> {UNKNOWN}",
        f"%n = relay.sequence_length(%t) : ({UNKNOWN}) -> {UNKNOWN}",
        JOIN,
    ]
    value, count, rest = run(lines, "%v, %n, %y", X, np.array(at), types=TYPES)
    assert np.array_equal(value, X[[at]])
    assert count == 5
    assert np.array_equal(rest, np.delete(X, at, 0))


@pytest.mark.parametrize(
    ("split", "sizes"), [(np.array(4), [4, 2]), (np.array([1, 0, 5]), [1, 0, 5]), (np.array(6), [6])]
)
def test_parts_have_the_extents_that_are_asked_for(split: np.ndarray, sizes: list[int]) -> None:
    type = "tensor<i64>" if split.ndim == 0 else f"tensor<{split.size}xi64>"
    lines = [
        f"%s = relay.split_to_sequence(%x, %n) : (tensor<6x2xf32>, {type}) -> {UNKNOWN}",
        f"%v = relay.sequence_at(%s, %at) : ({UNKNOWN}, tensor<i64>) -> {UNKNOWN}",
    ]
    types = f"{TYPES}, %n: {type}"
    found = [run(lines, "%v", X, np.array(at), split, types=types)[0] for at in range(len(sizes))]
    assert [part.shape for part in found] == [(size, 2) for size in sizes]
    assert np.array_equal(np.concatenate(found), X)


@pytest.mark.parametrize("split", [np.array(0), np.array([1, 2]), np.array([7, -1])])
def test_parts_make_the_whole(split: np.ndarray) -> None:
    type = "tensor<i64>" if split.ndim == 0 else f"tensor<{split.size}xi64>"
    line = f"%s = relay.split_to_sequence(%x, %n) : (tensor<6x2xf32>, {type}) -> {UNKNOWN}"
    length = f"%y = relay.sequence_length(%s) : ({UNKNOWN}) -> {UNKNOWN}"
    with pytest.raises(InterpreterError, match=r"\[relay.split_to_sequence C2\] slices of"):
        run([line, length], "%y", X, split, types=f"%x: tensor<6x2xf32>, %n: {type}")


def test_an_axis_of_their_own() -> None:
    lines = [
        f"%s = relay.split_to_sequence(%x) {{axis = 1, keepdims = false}} : (tensor<6x2xf32>) -> {UNKNOWN}",
        f"%y = relay.concat_from_sequence(%s) {{axis = -1, new_axis = true}} : ({UNKNOWN}) -> {UNKNOWN}",
    ]
    assert np.array_equal(run(lines, "%y", X, types="%x: tensor<6x2xf32>")[0], X)


def test_an_empty_sequence_has_nothing_to_concatenate() -> None:
    lines = [f"%t = relay.sequence_empty() {{of = tensor<?xf32>}} : () -> {UNKNOWN}", JOIN]
    with pytest.raises(InterpreterError, match="the sequence is empty"):
        run(lines, "%y", types="")


OPTIONAL = [
    f"%o = relay.optional_construct({{}} : ({{}}) -> {UNKNOWN}",
    f"%c = relay.optional_has_element(%o) : ({UNKNOWN}) -> {UNKNOWN}",
    f"%y = relay.optional_get_element(%o) : ({UNKNOWN}) -> {UNKNOWN}",
]


def test_an_optional_has_a_value_or_none() -> None:
    some = [OPTIONAL[0].format("%x)", "tensor<6x2xf32>"), *OPTIONAL[1:]]
    has, value = run(some, "%c, %y", X, types="%x: tensor<6x2xf32>")
    assert has
    assert np.array_equal(value, X)
    none = [OPTIONAL[0].format(") {of = tensor<6x2xf32>}", ""), *OPTIONAL[1:]]
    assert not run(none[:2], "%c", types="")[0]
    with pytest.raises(InterpreterError, match=r"relay.optional_get_element: the optional has no value"):
        run(none, "%y", types="")


EMPTY = f"%s = relay.sequence_empty() {{of = tensor<6x2xf32>}} : () -> {UNKNOWN}"


@pytest.mark.parametrize("first", [SPLIT, EMPTY])
def test_native_code_has_sequences(first: str) -> None:
    text = "\n".join(
        [f"func.func @main({TYPES}) -> {UNKNOWN} {{", first, INSERT, JOIN, f"func.return %y : {UNKNOWN}", "}"]
    )
    compiled = xrelay.compile(parse_module(full_context(), text, "test.mlir"), cache=False)
    for at in (0, -1 if first is SPLIT else 0):
        (expected,) = run([first, INSERT, JOIN], "%y", X, np.array(at), types=TYPES)
        assert np.array_equal(compiled(X, np.array(at))[0], expected)
    with pytest.raises(ExecutionError, match=r"relay.sequence_insert: position 7 is out of range"):
        compiled(X, np.array(7))
