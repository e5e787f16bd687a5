"""`relay.loop` in the interpreter: iterations, carried and stacked values, and requirements."""

from __future__ import annotations

import numpy as np
import pytest

from xrelay.errors import InterpreterError, TypeInferenceError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

UNKNOWN = "!relay.incomplete"
X = np.arange(4, dtype=np.float32)


def run(signature: str, head: str, body: list[str], *inputs: np.ndarray, before: str = "") -> list[np.ndarray]:
    """The result of a loop whose ops are written without types; `head` is the loop up to its type."""
    lines = [f"{line} -> {UNKNOWN}" if line.startswith("%") else line for line in body]
    text = f"""func.func @main({signature}) -> {UNKNOWN} {{
      {before}
      %g = relay.loop{head} -> {UNKNOWN} {{
        {chr(10).join(lines)}
      }}
      func.return %g : {UNKNOWN}
    }}"""
    module = parse_module(full_context(), text, "loop.mlir")
    infer_types(module)
    module.verify()
    return run_relay(module, inputs)


END = f"relay.yield %y : {UNKNOWN}"
NAMED = "tensor<?xf32, #relay.dims<m>>"


def growing(carried: str, end: str) -> list[str]:
    """A body that appends `%x` to its carried value of the type `carried`."""
    join = f"%c = relay.concatenate(%p) {{axis = 0}} : ({UNKNOWN})"
    return [f"%p = relay.tuple(%s, %x) : ({carried}, tensor<4xf32>)", join, f"%y = relay.tuple{end}", END]


DOUBLING = [
    f"%a = relay.add(%s, %s) : ({UNKNOWN}, {UNKNOWN})",
    f"%m = relay.max(%a) : ({UNKNOWN})",
    f"%c = relay.less(%m, %limit) : ({UNKNOWN}, tensor<f32>)",
    f"%y = relay.tuple(%c, %a, %a) : ({UNKNOWN}, {UNKNOWN}, {UNKNOWN})",
    END,
]
STRETCHED = f"(%i, %s : {NAMED} = %x : tensor<4xf32>) to %n : tensor<i64>"


@pytest.mark.parametrize("times", [-1, 0, 1, 3])
def test_a_carried_value_may_change_its_extents(times: int) -> None:
    body = growing(NAMED, f"(%c, %i) : ({UNKNOWN}, tensor<i64>)")
    value, numbers = run("%n: tensor<i64>, %x: tensor<4xf32>", STRETCHED, body, np.array(times), X)
    assert np.array_equal(value, np.tile(X, max(times, 0) + 1))
    assert np.array_equal(numbers, np.arange(max(times, 0)))


@pytest.mark.parametrize(("limit", "times"), [(20.0, 3), (0.0, 1), (1e9, 5)])
def test_it_ends_where_the_condition_fails_or_the_count_is_reached(limit: float, times: int) -> None:
    head = "(%i, %s : !relay.incomplete = %x : tensor<4xf32>) to %n : tensor<i64> while %go : tensor<i1>"
    before = f"%n = relay.constant dense<5> : tensor<i64>\n%limit = relay.constant dense<{limit}> : tensor<f32>"
    value, stack = run("%go: tensor<i1>, %x: tensor<4xf32>", head, DOUBLING, np.array(True), X, before=before)
    assert np.array_equal(value, X * 2**times)
    assert np.array_equal(stack, [X * 2 ** (number + 1) for number in range(times)])
    value, stack = run("%go: tensor<i1>, %x: tensor<4xf32>", head, DOUBLING, np.array(False), X, before=before)
    assert np.array_equal(value, X)
    assert stack.shape == (0, 4)


def test_many_iterations_take_no_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XRELAY_CALL_LIMIT", "2000")
    body = ["%y = relay.tuple(%i) : (tensor<i64>)", END]
    (last,) = run("%n: tensor<i64>", "(%i, %s = %n : tensor<i64>) to %n : tensor<i64>", body, np.array(5_000))
    assert last == 4_999


def test_what_the_body_uses_from_outside_is_computed_before_the_loop() -> None:
    """A division by zero fails also if the loop ends before its first iteration, as in native code."""
    body = [f"%a = relay.add(%s, %q) : (tensor<i64>, {UNKNOWN})", f"%y = relay.tuple(%a) : ({UNKNOWN})", END]
    head = "(%i, %s = %n : tensor<i64>) to %n : tensor<i64>"
    before = f"%q = relay.divide(%n, %d) : (tensor<i64>, tensor<i64>) -> {UNKNOWN}"
    signature = "%n: tensor<i64>, %d: tensor<i64>"
    assert run(signature, head, body, np.array(2), np.array(1), before=before)[0] == 6
    with pytest.raises(InterpreterError, match=r"relay\.divide"):
        run(signature, head, body, np.array(0), np.array(0), before=before)


def test_what_is_stacked_has_one_shape() -> None:
    body = growing(NAMED, f"(%c, %c) : ({UNKNOWN}, {UNKNOWN})")
    with pytest.raises(InterpreterError, match=r"values of float32\[12\], float32\[8\] cannot be stacked"):
        run("%n: tensor<i64>, %x: tensor<4xf32>", STRETCHED, body, np.array(2), X)


def test_an_extent_that_does_not_vary_may_not_change() -> None:
    head = "(%i, %s : !relay.incomplete = %x : tensor<4xf32>) to %n : tensor<i64>"
    body = growing(UNKNOWN, f"(%c) : ({UNKNOWN})")
    with pytest.raises(TypeInferenceError, match=r"8 == 4 \(yielded extent\) cannot hold here"):
        run("%n: tensor<i64>, %x: tensor<4xf32>", head, body, np.array(2), X)


def test_two_extents_of_one_name_are_equal_in_each_iteration() -> None:
    head = f"(%i, %s : {NAMED} = %x : tensor<4xf32>, %t : {NAMED} = %x : tensor<4xf32>) to %n : tensor<i64>"
    body = growing(NAMED, f"(%c, %t) : ({UNKNOWN}, {NAMED})")
    with pytest.raises(TypeInferenceError, match=r"cannot hold here"):
        run("%n: tensor<i64>, %x: tensor<4xf32>", head, body, np.array(2), X)
    body = growing(NAMED, f"(%c, %c) : ({UNKNOWN}, {UNKNOWN})")
    first, second = run("%n: tensor<i64>, %x: tensor<4xf32>", head, body, np.array(2), X)
    assert first.shape == second.shape == (12,)


def test_a_loop_that_never_ends_can_be_ended() -> None:
    text = """
    func.func @main(%go: tensor<i1>) -> tensor<i1> {
      %l = relay.loop(%i, %s = %go : tensor<i1>) while %go : tensor<i1> -> tuple<tensor<i1>> {
        %y = relay.tuple(%s, %s) : (tensor<i1>, tensor<i1>) -> tuple<tensor<i1>, tensor<i1>>
        relay.yield %y : tuple<tensor<i1>, tensor<i1>>
      }
      %r = relay.tuple_get_item(%l) {index = 0} : (tuple<tensor<i1>>) -> tensor<i1>
      func.return %r : tensor<i1>
    }"""
    module = parse_module(full_context(), text, "endless.mlir")
    assert not run_relay(module, [np.array(False)], timeout=60)[0]
    with pytest.raises(InterpreterError, match=r"endless.mlir:.* the run took longer than 0.05 s"):
        run_relay(module, [np.array(True)], timeout=0.05)


def test_a_loop_stacks_before_its_type_is_known() -> None:
    text = f"""
    func.func @main(%n: tensor<i64>, %x: tensor<4xf32>) -> {UNKNOWN} {{
      %g = relay.loop(%i, %s : {UNKNOWN} = %x : tensor<4xf32>) to %n : tensor<i64> -> {UNKNOWN} {{
        %a = relay.exp(%s) : ({UNKNOWN}) -> {UNKNOWN}
        %y = relay.tuple(%a, STACKED) : ({UNKNOWN}, TYPE) -> {UNKNOWN}
        relay.yield %y : {UNKNOWN}
      }}
      func.return %g : {UNKNOWN}
    }}"""
    known = parse_module(full_context(), text.replace("STACKED", "%x").replace("TYPE", "tensor<4xf32>"), "loop.mlir")
    for times in (0, 2):
        assert np.array_equal(run_relay(known, [np.array(times), X])[1], np.tile(X, (times, 1)))
    unknown = parse_module(full_context(), text.replace("STACKED", "%a").replace("TYPE", UNKNOWN), "loop.mlir")
    assert run_relay(unknown, [np.array(2), X])[1].shape == (2, 4)
    with pytest.raises(InterpreterError, match=r"relay.loop cannot stack 0 values of type !relay.incomplete"):
        run_relay(unknown, [np.array(0), X])
