"""If, Loop and Scan: their conversion, and the results."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper
from support.onnx_models import model, value

import xrelay
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.errors import ExecutionError, ModelImportError
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay
from xrelay.passes.types.infer_type import infer_types

X = np.arange(6, dtype=np.float32).reshape(2, 3)
I64, BOOL = TensorProto.INT64, TensorProto.BOOL


def body(nodes: list[NodeProto], inputs: list[str], outputs: list[str]) -> GraphProto:
    """A graph whose declared types are ignored."""
    return helper.make_graph(nodes, "body", [value(name, ()) for name in inputs], [value(name, ()) for name in outputs])


def constant(name: str, array: Any) -> NodeProto:
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(array)))


def run(proto: onnx.ModelProto, *inputs: Any) -> list[np.ndarray]:
    """The results of the model, before and after type inference."""
    module = import_onnx(proto)
    module.verify()
    first = run_relay(module, [np.asarray(array) for array in inputs])
    infer_types(module)
    module.verify()
    second = run_relay(module, [np.asarray(array) for array in inputs])
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)
    return first


def kinds(proto: onnx.ModelProto) -> list[type]:
    return [type(op) for op in import_onnx(proto).walk() if isinstance(op, LoopOp | IfOp)]


def choice(then: list[NodeProto], otherwise: list[NodeProto], before: list[NodeProto] | None = None) -> onnx.ModelProto:
    """An If whose branches compute `t` and `e` from `x`."""
    node = helper.make_node(
        "If", ["c"], ["y"], then_branch=body(then, [], ["t"]), else_branch=body(otherwise, [], ["e"])
    )
    inputs = [value("x", (2, 3)), *([] if before else [value("c", (), BOOL)])]
    return model([*(before or []), node], inputs, ["y"])


def test_branches_see_what_is_around_them() -> None:
    proto = choice([helper.make_node("Neg", ["x"], ["t"])], [helper.make_node("Abs", ["x"], ["e"])])
    assert kinds(proto) == [IfOp]
    np.testing.assert_array_equal(run(proto, X - 3, True)[0], 3 - X)
    np.testing.assert_array_equal(run(proto, X - 3, False)[0], np.abs(X - 3))


def test_branches_may_differ_in_extents() -> None:
    wide = [helper.make_node("Concat", ["x", "x"], ["t"], axis=0)]
    proto = choice(wide, [helper.make_node("Identity", ["x"], ["e"])])
    assert run(proto, X, True)[0].shape == (4, 3)
    assert run(proto, X, False)[0].shape == (2, 3)


def test_a_known_condition_chooses_while_importing() -> None:
    before = [constant("c", [True])]
    proto = choice([helper.make_node("Neg", ["x"], ["t"])], [helper.make_node("Nothing", ["x"], ["e"])], before)
    assert kinds(proto) == []
    np.testing.assert_array_equal(run(proto, X)[0], -X)


@pytest.mark.parametrize(
    ("then", "words"),
    [
        (
            [helper.make_node("Shape", ["x"], ["t"])],
            "tensor<2xi64> and tensor<2x3xf32>",
        ),
        ([helper.make_node("Nothing", ["x"], ["t"])], "no converter for this op"),
        ([helper.make_node("Neg", ["gone"], ["t"])], "input 'gone' "),
        ([helper.make_node("Neg", ["x"], ["u"])], "output 't' of attribute 'then_branch' "),
    ],
)
def test_what_is_wrong_in_a_branch_is_said(then: list[NodeProto], words: str) -> None:
    with pytest.raises(ModelImportError) as caught:
        import_onnx(choice(then, [helper.make_node("Identity", ["x"], ["e"])]))
    assert words in str(caught.value)


def loop(
    nodes: list[NodeProto], inputs: list[str], outputs: list[str], names: list[str], *given: str
) -> onnx.ModelProto:
    """A Loop over `given` whose body carries and stacks; `n`, `go` and `x` are inputs of the model."""
    node = helper.make_node("Loop", list(given), names, body=body(nodes, ["i", "going", *inputs], outputs))
    return model([node], [value("n", (), I64), value("go", (), BOOL), value("x", (2, 3))], names)


STEP = [
    helper.make_node("Identity", ["going"], ["on"]),
    helper.make_node("Add", ["s", "x"], ["next"]),
    helper.make_node("Neg", ["s"], ["out"]),
]


def test_values_are_carried_and_stacked() -> None:
    proto = loop(STEP, ["s"], ["on", "next", "out"], ["final", "stack"], "n", "", "x")
    final, stack = run(proto, 3, True, X)
    np.testing.assert_array_equal(final, 4 * X)
    np.testing.assert_array_equal(stack, [-X, -2 * X, -3 * X])
    final, stack = run(proto, 0, True, X)
    np.testing.assert_array_equal(final, X)
    assert stack.shape == (0, 2, 3)


@pytest.mark.parametrize(("count", "expected"), [("n", 4), ("", 8)])
def test_a_condition_ends_it(count: str, expected: int) -> None:
    nodes = [*STEP[1:], helper.make_node("ReduceMax", ["next"], ["most"], keepdims=0),
             constant("limit", np.float32(36)), helper.make_node("Less", ["most", "limit"], ["on"])]  # fmt: skip
    proto = loop(nodes, ["s"], ["on", "next"], ["final"], count, "go", "x")
    np.testing.assert_array_equal(run(proto, 3, True, X)[0], expected * X)
    np.testing.assert_array_equal(run(proto, 3, False, X)[0], X)


def test_a_carried_value_may_grow() -> None:
    nodes = [STEP[0], helper.make_node("Concat", ["s", "x"], ["next"], axis=0)]
    proto = loop(nodes, ["s"], ["on", "next"], ["final"], "n", "", "x")
    np.testing.assert_array_equal(run(proto, 2, True, X)[0], np.concatenate([X, X, X]))


def test_a_loop_in_a_loop_in_a_branch() -> None:
    inner = helper.make_node("Loop", ["n", "", "s"], ["next"], body=body(
        [helper.make_node("Identity", ["more"], ["again"]), helper.make_node("Add", ["t", "x"], ["u"])],
        ["j", "more", "t"], ["again", "u"]))  # fmt: skip
    outer = helper.make_node(
        "Loop", ["n", "", "x"], ["t"], body=body([STEP[0], inner], ["i", "going", "s"], ["on", "next"])
    )
    branches = {"then_branch": body([outer], [], ["t"]), "else_branch": body([constant("e", X)], [], ["e"])}
    node = helper.make_node("If", ["go"], ["y"], **branches)
    proto = model([node], [value("n", (), I64), value("go", (), BOOL), value("x", (2, 3))], ["y"])
    np.testing.assert_array_equal(run(proto, 3, True, X)[0], 10 * X)
    np.testing.assert_array_equal(run(proto, 3, False, X)[0], X)


@pytest.mark.parametrize(
    ("nodes", "outputs", "given", "words"),
    [
        (STEP, ["on", "next"], ("", "", "x"), "neither a trip count nor a condition"),
        (STEP, ["on"], ("n", "", "x"), "yields 0 "),
        ([STEP[0], helper.make_node("ReduceSum", ["s"], ["next"], keepdims=0)], ["on", "next"], ("n", "", "x"),
         "carried value #0 is tensor<2x3xf32>, and tensor<f32> after an iteration: only extents may change"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_loop_is_said(
    nodes: list[NodeProto], outputs: list[str], given: tuple[str, ...], words: str
) -> None:
    with pytest.raises(ModelImportError) as caught:
        import_onnx(loop(nodes, ["s"], outputs, ["final"], *given))
    assert words in str(caught.value)


def scan(length: str | int = "length", batch: bool = False, **attributes: Any) -> onnx.ModelProto:
    """A Scan that accumulates slices of `x` and outputs each sum; opset 8 has a leading batch axis."""
    nodes = [helper.make_node("Add", ["s", "v"], ["next"]), helper.make_node("Neg", ["next"], ["out"])]
    graph = body(nodes, ["s", "v"], ["next", "out"])
    given = ["", "z", "x"] if batch else ["z", "x"]
    node = helper.make_node("Scan", given, ["final", "stack"], num_scan_inputs=1, body=graph, **attributes)
    shapes = ((2, 3), (2, 4, 3)) if batch else ((2,), (2, length))
    inputs = [value("z", shapes[0]), value("x", shapes[1])]
    return model([node], inputs, ["final", "stack"], opset=8 if batch else 11)


def test_a_scan_over_named_extents_along_any_axis() -> None:
    proto = scan(scan_input_axes=[1], scan_output_axes=[-1])
    final, stack = run(proto, np.zeros(2, np.float32), X)
    np.testing.assert_array_equal(final, X.sum(axis=1))
    np.testing.assert_array_equal(stack, -X.cumsum(axis=1))
    module = import_onnx(proto)
    infer_types(module)
    assert "func.return %final, %stack : tensor<2xf32>, tensor<2x?xf32, #relay.dims<length>>" in str(module)


def test_a_scan_backwards() -> None:
    proto = scan(scan_input_axes=[1], scan_output_axes=[1], scan_input_directions=[1], scan_output_directions=[1])
    final, stack = run(proto, np.zeros(2, np.float32), X)
    np.testing.assert_array_equal(final, X.sum(axis=1))
    np.testing.assert_array_equal(stack, -X[:, ::-1].cumsum(axis=1)[:, ::-1])


@pytest.mark.parametrize("length", ["length", 0])
def test_a_scan_over_nothing_gives_what_it_got(length: str | int) -> None:
    proto = scan(length, scan_input_axes=[1])
    nothing = np.zeros((2, 0), np.float32)
    for results in (
        run(proto, np.ones(2, np.float32), nothing),
        xrelay.compile(proto)(np.ones(2, np.float32), nothing),
    ):
        final, stack = results
        assert final.tolist() == [1, 1]
        assert stack.shape == (0, 2)


def test_scanned_inputs_are_equally_long() -> None:
    nodes = [helper.make_node("Add", ["v", "w"], ["both"]), helper.make_node("Add", ["s", "both"], ["next"])]
    graph = body(nodes, ["s", "v", "w"], ["next"])
    node = helper.make_node("Scan", ["z", "x", "y"], ["final"], num_scan_inputs=2, scan_input_axes=[0, 1], body=graph)
    inputs = [value("z", (2,)), value("x", ("n", 2)), value("y", (2, "m"))]
    compiled = xrelay.compile(model([node], inputs, ["final"]), cache=False)
    zeros, rows = np.zeros(2, np.float32), np.ones((3, 2), np.float32)
    np.testing.assert_array_equal(compiled(zeros, rows, rows.T)[0], [6, 6])
    for columns in (2, 4):
        with pytest.raises(ExecutionError, match=f"final: .*m == n is {columns} == 3"):
            compiled(zeros, rows, np.ones((2, columns), np.float32))


def test_a_scan_of_each_entry_of_a_batch() -> None:
    data = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
    final, stack = run(scan(batch=True, directions=[1]), np.ones((2, 3), np.float32), data)
    sums = data[:, ::-1].cumsum(axis=1) + 1
    np.testing.assert_array_equal(final, sums[:, -1])
    np.testing.assert_array_equal(stack, -sums)


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"scan_input_axes": [2]}, "'axis' has the illegal value 2"),
        ({"scan_input_axes": [0, 1]}, "'scan_input_axes' has the illegal value [0, 1]"),
        ({"scan_output_directions": [2]}, "'scan_output_directions' has the illegal value [2]"),
    ],
)
def test_what_is_wrong_with_a_scan_is_said(attributes: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelImportError) as caught:
        import_onnx(scan(**attributes))
    assert words in str(caught.value)
