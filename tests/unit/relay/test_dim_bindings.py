"""Named dimensions in the interpreter: bound once, compared at each use, with requirements checked at run time."""

from __future__ import annotations

import numpy as np
import pytest
from support.pass_checks import apply

from xrelay.errors import InputError, InterpreterError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

DENSE = """
!x = tensor<?x?xf32, #relay.dims<n, c>>
!w = tensor<?x?xf32, #relay.dims<m, k>>
func.func @main(%x: !x, %w: !w) -> !relay.incomplete {
  %y = relay.nn.dense(%x, %w) : (!x, !w) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
"""

BRANCH = """
!x = tensor<?x?xf32, #relay.dims<n, c>>
!w = tensor<?x?xf32, #relay.dims<m, k>>
func.func @main(%c: tensor<i1>, %x: !x, %w: !w) -> !relay.incomplete {
  %r = relay.if %c : tensor<i1> -> !relay.incomplete {
    %y = relay.nn.dense(%x, %w) : (!x, !w) -> !relay.incomplete
    relay.yield %y : !relay.incomplete
  } else {
    relay.yield %x : !x
  }
  func.return %r : !relay.incomplete
}
"""

ADD = """
!x = tensor<?xf32, #relay.dims<n>>
!y = tensor<?xf32, #relay.dims<m>>
func.func @main(%x: !x, %y: !y) -> !relay.incomplete {
  %z = relay.add(%x, %y) : (!x, !y) -> !relay.incomplete
  func.return %z : !relay.incomplete
}
"""

CALL = """
!x = tensor<?xf32, #relay.dims<n>>
!y = tensor<?xf32, #relay.dims<m>>
func.func @same(%a: tensor<?xf32, #relay.dims<k>>, %b: tensor<?xf32, #relay.dims<k>>) -> tensor<?xf32, #relay.dims<k>> {
  func.return %a : tensor<?xf32, #relay.dims<k>>
}
func.func @main(%x: !x, %y: !y) -> !relay.incomplete {
  %z = func.call @same(%x, %y) : (!x, !y) -> !relay.incomplete
  func.return %z : !relay.incomplete
}
"""

DOUBLE = """
!x = tensor<?xf32, #relay.dims<2 * n + 1>>
func.func @main(%x: !x) -> !relay.incomplete {
  %t = relay.split(%x) {indices_or_sections = 3} : (!x) -> !relay.incomplete
  %z = relay.tuple_get_item(%t) {index = 0} : (!relay.incomplete) -> !relay.incomplete
  func.return %z : !relay.incomplete
}
"""

LATE_BRANCH = """
func.func @main(%c: tensor<i1>, %x: tensor<3xf32>) -> !relay.incomplete {
  %r = relay.if %c : tensor<i1> -> !relay.incomplete {
    %y = relay.sum(%x) {axis = [0], keepdims = true} : (tensor<3xf32>) -> !relay.incomplete
    relay.yield %y : !relay.incomplete
  } else {
    relay.yield %x : tensor<3xf32>
  }
  func.return %r : !relay.incomplete
}
"""

CLAIMED = """
!x = tensor<?xf32, #relay.dims<n>>
!y = tensor<?xf32, #relay.dims<m>>
func.func @main(%x: !x, %y: !y) -> !x {
  %z = relay.add(%x, %y) : (!x, !y) -> !x
  func.return %z : !x
}
"""


def run(text: str, *inputs: np.ndarray, infer: bool = True) -> list[np.ndarray]:
    module = parse_module(full_context(), text, "test.mlir")
    if infer:
        infer_types(module)
    return run_relay(module, inputs)


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def test_a_requirement_that_holds_is_silent() -> None:
    assert run(DENSE, ones(2, 3), ones(5, 3))[0].shape == (2, 5)


def test_a_requirement_that_fails_names_op_constraint_and_both_values() -> None:
    with pytest.raises(InterpreterError, match=r"\[relay.nn.dense C2\].*c == k is 3 == 4 \(c = 3, k = 4\)") as refused:
        run(DENSE, ones(2, 3), ones(5, 4))
    assert refused.value.location is not None


def test_a_requirement_of_a_branch_is_checked_where_the_branch_runs() -> None:
    assert run(BRANCH, np.array(False), ones(2, 3), ones(5, 4))[0].shape == (2, 3)
    with pytest.raises(InterpreterError, match="c == k is 3 == 4"):
        run(BRANCH, np.array(True), ones(2, 3), ones(5, 4))


@pytest.mark.parametrize("infer", [True, False])
def test_an_extent_that_a_text_claims_is_compared(infer: bool) -> None:
    assert run(CLAIMED, ones(5), ones(1), infer=infer)[0].shape == (5,)
    with pytest.raises(InterpreterError, match="n = 1"):
        run(CLAIMED, ones(1), ones(5), infer=infer)


def test_extents_that_broadcast_only_for_some_sizes_are_typed_so_and_checked() -> None:
    assert [result.shape for result in run(ADD, ones(1), ones(5))] == [(5,)]
    assert [result.shape for result in run(ADD, ones(5), ones(1))] == [(5,)]
    assert run(ADD, ones(0), ones(1))[0].shape == (0,)
    message = r"\[relay.add C2\] extents: broadcastable\(n, m\) is broadcastable\(3, 5\) \(m = 5, n = 3\)"
    with pytest.raises(InterpreterError, match=message) as refused:
        run(ADD, ones(3), ones(5))
    assert refused.value.location is not None


def test_a_requirement_of_a_call_is_checked_before_it() -> None:
    assert run(CALL, ones(5), ones(5))[0].shape == (5,)
    with pytest.raises(InterpreterError, match=r"\[relay.call C0\].*is 3 == 5"):
        run(CALL, ones(5), ones(3))


def test_a_name_is_found_out_from_a_multiple_of_it() -> None:
    assert run(DOUBLE, ones(9))[0].shape == (3,)
    with pytest.raises(InterpreterError, match=r"\[relay.split C2\].*\(n = 3\)"):
        run(DOUBLE, ones(7))
    with pytest.raises(InputError, match="input #0"):
        run(DOUBLE, ones(8))


def test_a_branch_that_passes_a_value_on_says_nothing_of_the_other() -> None:
    assert run(LATE_BRANCH, np.array(True), ones(3))[0].shape == (1,)
    assert run(LATE_BRANCH, np.array(False), ones(3))[0].shape == (3,)


CALLED = """
!m = tensor<?xf32, #relay.dims<m>>
func.func private @pairs(%x: tensor<?xf32, #relay.dims<2 * n>>) -> (!relay.incomplete, !relay.incomplete) {
  %0 = relay.reshape(%x) {newshape = [-1, 2]} : (tensor<?xf32, #relay.dims<2 * n>>) -> !relay.incomplete
  %1 = relay.argwhere(%x) : (tensor<?xf32, #relay.dims<2 * n>>) -> !relay.incomplete
  func.return %0, %1 : !relay.incomplete, !relay.incomplete
}
func.func @main(%x: ARGUMENT) -> (!relay.incomplete, !relay.incomplete) {
  %0, %1 = relay.call @pairs(%x) : (ARGUMENT) -> (!relay.incomplete, !relay.incomplete)
  func.return %0, %1 : !relay.incomplete, !relay.incomplete
}
"""

GROWS = """
func.func @main(%x: tensor<?xf32, #relay.dims<n>>, %c: tensor<i32>) -> tensor<?xf32, #relay.dims<r>> {
  %one = relay.constant dense<1> : tensor<i32>
  %done = relay.less(%c, %one) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %0 = relay.if %done : tensor<i1> -> tensor<?xf32, #relay.dims<r>> attributes {relay.binds = #relay.bounds<r>} {
    relay.yield %x : tensor<?xf32, #relay.dims<n>>
  } else {
    %t = relay.tuple(%x, %x) : (tensor<?xf32, #relay.dims<n>>, tensor<?xf32, #relay.dims<n>>) -> !relay.incomplete
    %d = relay.concatenate(%t) {axis = 0} : (!relay.incomplete) -> !relay.incomplete
    %c1 = relay.subtract(%c, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = relay.call @main(%d, %c1) : (!relay.incomplete, tensor<i32>) -> !relay.incomplete
    relay.yield %2 : !relay.incomplete
  }
  func.return %0 : tensor<?xf32, #relay.dims<r>>
}
"""

SHORTER = """
func.func private @rest(%x: tensor<?xf32, #relay.dims<n + 4>>) -> tensor<?xf32, #relay.dims<n + 4>> {
  func.return %x : tensor<?xf32, #relay.dims<n + 4>>
}
func.func @main(%x: tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete {
  %0 = relay.call @rest(%x) : (tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete
  func.return %0 : !relay.incomplete
}
"""


@pytest.mark.parametrize("argument", ["tensor<6xf32>", "!m", "tensor<?xf32, #relay.dims<2 * m>>"])
def test_a_callee_has_the_sizes_that_its_call_says(argument: str) -> None:
    pairs, places = run(CALLED.replace("ARGUMENT", argument), np.array([1, 0, 2, 0, 0, 3], np.float32))
    assert pairs.tolist() == [[1, 0], [2, 0], [0, 3]]
    assert places.tolist() == [[0], [2], [5]]


def test_an_argument_that_the_callee_has_no_sizes_for_is_reported() -> None:
    message = r"\[relay.call C0\] argument extent: m == 2 \* \(m floordiv 2\) is 5 == 4 \(m = 5\)"
    with pytest.raises(InterpreterError, match=message):
        run(CALLED.replace("ARGUMENT", "!m"), ones(5))
    with pytest.raises(InterpreterError, match=r"\[relay.call C2\] n of @rest: m - 4 >= 0 is -1 >= 0 \(m = 3\)"):
        run(SHORTER, ones(3))


def test_a_recursion_has_sizes_of_its_own_at_each_level() -> None:
    assert run(GROWS, ones(3), np.array(0, np.int32))[0].shape == (3,)
    assert run(GROWS, ones(3), np.array(4, np.int32))[0].shape == (48,)


def test_what_a_call_says_is_compared_with_the_arrays() -> None:
    text = CALLED.replace("ARGUMENT", "!m").replace("call @pairs(", "call @pairs<n = 3>(")
    module = parse_module(full_context(), text, "test.mlir")
    with pytest.raises(
        InterpreterError, match=r"relay.call: an extent is 8, in its type .* it is 2 \* n = 6 \(n = 3\)"
    ):
        run_relay(module, [ones(8)])
    text = SHORTER.replace("@rest(%x) :", "@rest<n = m - 4>(%x) :")
    with pytest.raises(InterpreterError, match=r"\[relay.call C2\] the dimension n = m - 4 of @rest is -1"):
        run_relay(parse_module(full_context(), text, "test.mlir"), [ones(3)])


MADE = """
!x = tensor<4xf32>
!y = tensor<?xf32, #relay.dims<n>>
func.func @main(%c: tensor<i1>, %x: !x, %y: !y) -> !relay.incomplete {
  %a = relay.argwhere(%x) : (!x) -> !relay.incomplete
  %r = relay.if %c : tensor<i1> -> !relay.incomplete {
    %f = relay.fn(%b: tensor<f32>) -> !relay.incomplete {
      %z = func.call @second(%a, %y) : (!relay.incomplete, !y) -> !relay.incomplete
      %s = relay.multiply(%z, %b) : (!relay.incomplete, tensor<f32>) -> !relay.incomplete
      relay.yield %s : !relay.incomplete
    }
    %one = relay.constant dense<1.0> : tensor<f32>
    %i = relay.invoke %f(%one) : (tensor<f32>) -> !relay.incomplete
    relay.yield %i : !relay.incomplete
  } else {
    relay.yield %y : !y
  }
  func.return %r : !relay.incomplete
}
func.func private @second(%a: tensor<?x1xi32, #relay.dims<m>>, %y: tensor<?xf32, #relay.dims<m>>) -> !relay.incomplete {
  func.return %y : tensor<?xf32, #relay.dims<m>>
}
"""


@pytest.mark.parametrize("pipeline", ["relay-infer-type", "relay-inline", "relay-inline,relay-fuse-ops"])
def test_an_extent_that_a_requirement_says_is_made_though_nothing_uses_the_value_of_its_maker(pipeline: str) -> None:
    module = parse_module(full_context(), MADE, "made.mlir")
    infer_types(module)
    changed = apply(module, pipeline)
    given = [np.ones(4, np.float32), np.ones(3, np.float32)]
    np.testing.assert_array_equal(run_relay(changed, [np.array(False), *given])[0], given[1])
    with pytest.raises(InterpreterError, match="is 3 == 4"):
        run_relay(changed, [np.array(True), *given])
