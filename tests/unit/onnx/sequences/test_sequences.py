"""Sequences and optionals: those known at import are resolved there, the others are interpreted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper
from support.onnx_models import model, value
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay.errors import ExecutionError, InputError, InterpreterError, ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay
from xrelay.passes.relay.dead_code_elimination import eliminate_dead_code

A, B = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((2, 3), np.float32)
X = np.arange(10, dtype=np.float32).reshape(5, 2)
PLACE = value("at", (), TensorProto.INT64)
SEQUENCE = helper.make_tensor_sequence_value_info("q", TensorProto.FLOAT, ("n", 3))
SCALARS = helper.make_tensor_sequence_value_info("q", TensorProto.FLOAT, ())
OPTIONAL = helper.make_value_info("o", helper.make_optional_type_proto(SEQUENCE.type))

node = helper.make_node
PAIR = node("SequenceConstruct", ["a", "b"], ["s"])


def imported(nodes: list[NodeProto], result: str, *inputs: Any, **constants: int | list[int]) -> ModuleOp:
    """Nodes on `a`, `b` and `x`, and on the given inputs."""
    read = {name for each in nodes for name in each.input}
    data = [value(name, array.shape) for name, array in (("a", A), ("b", B), ("x", X)) if name in read]
    arrays = {name: np.array(number, np.int64) for name, number in constants.items()}
    return import_onnx(model(nodes, [*data, *inputs], [result], initializers=arrays, opset=18))


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("nodes", "constants", "expected"),
    [
        ([PAIR, node("SequenceAt", ["s", "i"], ["y"])], {"i": -1}, [B]),
        ([PAIR, node("SequenceErase", ["s"], ["t"]), node("SequenceAt", ["t", "i"], ["y"])], {"i": 0}, [A]),
        ([PAIR, node("SequenceErase", ["s", "i"], ["t"]), node("SequenceAt", ["t", "i"], ["y"])], {"i": 0}, [B]),
        ([PAIR, node("SequenceInsert", ["s", "b", "i"], ["y"])], {"i": -2}, [B, A, B]),
        ([PAIR, node("SequenceInsert", ["s", "a"], ["y"])], {}, [A, B, A]),
        ([PAIR, node("SequenceLength", ["s"], ["y"])], {}, [np.array(2)]),
        ([PAIR, node("ConcatFromSequence", ["s"], ["y"], axis=1)], {}, [np.concatenate([A, B], 1)]),
        ([PAIR, node("ConcatFromSequence", ["s"], ["y"], axis=-1, new_axis=1)], {}, [np.stack([A, B], -1)]),
        ([node("SequenceEmpty", [], ["s"]), node("SequenceInsert", ["s", "a"], ["y"])], {}, [A]),
        ([node("SplitToSequence", ["x", "n"], ["y"])], {"n": 2}, [X[:2], X[2:4], X[4:]]),
        ([node("SplitToSequence", ["x", "n"], ["y"])], {"n": [4, 0, 1]}, [X[:4], X[4:4], X[4:]]),
        ([node("SplitToSequence", ["x"], ["y"], axis=1)], {}, [X[:, :1], X[:, 1:]]),
        ([node("SplitToSequence", ["x"], ["y"], axis=-1, keepdims=0)], {}, [X[:, 0], X[:, 1]]),
        ([node("Optional", ["a"], ["o"]), node("OptionalGetElement", ["o"], ["y"])], {}, [A]),
        ([node("Optional", ["a"], ["o"]), node("OptionalHasElement", ["o"], ["y"])], {}, [np.array(True)]),
        ([PAIR, node("Optional", ["s"], ["y"])], {}, [A, B]),
        ([node("OptionalHasElement", [""], ["y"])], {}, [np.array(False)]),
    ],
)
def test_what_is_known_needs_no_sequence(
    nodes: list[NodeProto], constants: dict[str, Any], expected: list[np.ndarray]
) -> None:
    module = imported(nodes, "y", **constants)
    eliminate_dead_code(module)
    assert "sequence" not in str(module)
    assert "optional" not in str(module)
    read = {name for each in nodes for name in each.input}
    found = run_relay(module, [array for name, array in (("a", A), ("b", B), ("x", X)) if name in read])
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs, strict=True)


def test_a_computed_place_among_values_of_one_shape_runs_natively() -> None:
    compiled = xrelay.compile(imported([PAIR, node("SequenceAt", ["s", "at"], ["y"])], "y", PLACE), cache=False)
    np.testing.assert_array_equal(compiled(A, B, np.array(-2))[0], A)
    with pytest.raises(ExecutionError, match="out of range"):
        compiled(A, B, np.array(2))


def test_what_is_not_known_runs_natively() -> None:
    nodes = [node("SequenceInsert", ["q", "a"], ["t"]), node("SequenceAt", ["t", "at"], ["y"])]
    module = imported(nodes, "y", SEQUENCE, PLACE)
    compiled = xrelay.compile(module.clone(), cache=False)
    assert str(compiled.inputs[1]) == "sequence(float32[?, 3])"
    for at, expected in ((-1, A), (0, B[:1])):
        for found in (run_relay(module, [A, [B[:1], B], np.array(at)]), compiled(A, [B[:1], B], np.array(at))):
            np.testing.assert_array_equal(found[0], expected)
    for at, said in ((1, "for a sequence of 1 values"), (-3, "the first one is -1")):
        message = f"^y: relay.sequence_at: position {at} is out of range"
        with pytest.raises(ExecutionError, match=f"{message}.*{said}$" if at < 0 else f"{message} {said}$"):
            compiled(A, [], np.array(at))
    with pytest.raises(InputError, match=r"input 'q': expected sequence\(float32\[\?, 3\]\), got ndarray"):
        compiled(A, B, np.array(1))
    with pytest.raises(InputError, match=r"input 'q': expected float32\[\?, 3\], got float32\[5, 2\]"):
        compiled(A, [X], np.array(1))


def test_optionals_as_inputs() -> None:
    has = imported([node("OptionalHasElement", ["o"], ["y"])], "y", OPTIONAL)
    assert [run_relay(has, [given])[0].item() for given in (None, [], [A])] == [False, True, True]
    take = imported([node("OptionalGetElement", ["o"], ["y"])], "y", OPTIONAL)
    assert [each.shape for each in run_relay(take, [[A, A[:1]]])] == [(2, 3), (1, 3)]
    with pytest.raises(InterpreterError, match="the optional has no value"):
        run_relay(take, [None])


def test_a_list_of_arrays_is_no_tensor() -> None:
    module = imported([node("Identity", ["a"], ["y"])], "y")
    with pytest.raises(InputError, match=r"input #0 of @main is \(float32\[2, 3\], float32\[1, 3\]\), must be tensor"):
        run_relay(module, [[A, A[:1]]])


@pytest.mark.parametrize(("given", "words"), [(A, r"float32\[2, 3\]"), ([A, X], r"\(float32"), (None, "nothing")])
def test_values_of_another_kind_are_refused(given: Any, words: str) -> None:
    module = imported([node("SequenceLength", ["q"], ["y"])], "y", SEQUENCE)
    with pytest.raises(InputError, match=f"input #0 of @main is {words}.*must be !relay.sequence"):
        run_relay(module, [given])


@pytest.mark.parametrize(
    ("nodes", "constants", "words"),
    [
        ([PAIR, node("SequenceAt", ["s", "i"], ["y"])], {"i": 2}, "position 2 is out of range for a sequence of 2"),
        ([PAIR, node("SequenceInsert", ["s", "a", "i"], ["y"])], {"i": -3}, "position -3 is out of range"),
        ([node("SequenceEmpty", [], ["s"]), node("SequenceErase", ["s"], ["y"])], {}, "position -1 is out of range"),
        ([node("SequenceEmpty", [], ["s"]), node("ConcatFromSequence", ["s"], ["y"], axis=0)], {}, "empty sequence"),
        ([node("SequenceLength", ["a"], ["y"])], {}, "input #0 must be a sequence, found tensor<2x3xf32>"),
        ([PAIR, node("Transpose", ["s"], ["y"])], {}, "input #0 must be a tensor, found !relay.sequence"),
        ([node("SplitToSequence", ["x", "n"], ["y"])], {"n": [4, 2]}, r"parts of \[4, 2\] do not make"),
        ([node("SequenceConstruct", ["a", "i"], ["y"])], {"i": 2}, "one element type"),
        ([node("Optional", [], ["y"])], {}, "needs the attribute 'type'"),
        (
            [node("Optional", [], ["o"], type=SEQUENCE.type), node("OptionalGetElement", ["o"], ["y"])],
            {},
            "the optional has no value",
        ),
    ],
)
def test_what_cannot_be_is_refused_at_import(nodes: list[NodeProto], constants: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelImportError, match=words):
        imported(nodes, "y", **constants)


def test_values_without_a_shape_have_any_rank_unless_the_caller_gives_it() -> None:
    open_input = helper.make_tensor_sequence_value_info("q", TensorProto.FLOAT, None)
    proto = model([node("SequenceAt", ["q", "at"], ["y"])], [open_input, PLACE], ["y"])
    with pytest.raises(ModelImportError, match=r"C4\] the values must have one rank, found tensor<\*xf32>"):
        import_onnx(proto)
    np.testing.assert_array_equal(run_relay(import_onnx(proto, shapes={"q": (2, 3)}), [[A, B], np.array(1)])[0], B)
    count = import_onnx(model([node("SequenceLength", ["q"], ["y"])], [open_input], ["y"]))
    assert xrelay.compile(count.clone(), cache=False)([A, np.float32(1)])[0] == run_relay(count, [[A, B]])[0] == 2


def test_a_sequence_and_an_optional_may_be_returned_as_they_come() -> None:
    compiled = xrelay.compile(imported([node("Identity", ["o"], ["y"])], "y", OPTIONAL), cache=False)
    assert str(compiled.outputs[0]) == "optional(sequence(float32[?, 3]))"
    assert [compiled(given)[0] for given in (None, [])] == [None, []]
    ((found,),) = compiled([A])
    np.testing.assert_array_equal(found, A)
    assert found is not A


def body_of_map() -> Any:
    """A sum with a tensor from outside of the body, and the rank of the value."""
    nodes = [node("Add", ["v", "t"], ["sum"]), node("Shape", ["v"], ["shape"])]
    shapes = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("v", "t")]
    results = [helper.make_empty_tensor_value_info(name) for name in ("sum", "shape")]
    return helper.make_graph(nodes, "body", shapes, results)


def test_a_map_of_known_values_needs_no_loop() -> None:
    one = node("SequenceMap", ["s", "a"], ["y", "z"], body=body_of_map())
    module = imported([PAIR, one], "y")
    eliminate_dead_code(module)
    assert "relay.sequence" not in str(module)
    np.testing.assert_array_equal(run_relay(module, [A, B]), [A + A, B + A])


@pytest.mark.parametrize("result", ["y", "z"])
def test_a_map_of_other_values_is_a_loop(result: str) -> None:
    one = node("SequenceMap", ["q", "a"], ["y", "z"], body=body_of_map())
    module = imported([one], result, SEQUENCE)
    values = [B, B[:1], A]
    found = run_relay(module, [A, values])
    expected = [each + A for each in values] if result == "y" else [np.array(each.shape) for each in values]
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert run_relay(module, [A, []]) == []


def test_a_loop_may_insert_values_of_another_rank() -> None:
    inserted = helper.make_graph(
        [node("Identity", ["c"], ["d"]), node("Range", ["i", "five", "one"], ["v"]),
         node("Cast", ["v"], ["w"], to=TensorProto.FLOAT), node("SequenceInsert", ["q", "w"], ["t"])],
        "body",
        [value("i", (), TensorProto.INT64), value("c", (), TensorProto.BOOL), SCALARS],
        [value("d", (), TensorProto.BOOL), helper.make_empty_tensor_value_info("t")],
    )  # fmt: skip
    module = imported([node("Loop", ["n", "", "q"], ["y"], body=inserted)], "y", SCALARS, n=2, five=5, one=1)
    assert "relay.sequence_insert" in str(module)
    for given in ([], [np.float32(7)]):
        found = run_relay(module, [given])
        assert [each.tolist() for each in found] == [*given, [0, 1, 2, 3, 4], [1, 2, 3, 4]]


def test_a_map_of_sequences_of_other_lengths_is_refused() -> None:
    nodes = [PAIR, node("SequenceErase", ["s"], ["t"]), node("SequenceMap", ["s", "t"], ["y", "z"], body=body_of_map())]
    with pytest.raises(ModelImportError, match="the sequences have 1, 2 values, must have one length"):
        imported(nodes, "y")
