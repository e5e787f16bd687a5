"""Calls of functions with named dimensions agree if interpreted, inlined, specialised and native."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest
from support.levels import check_levels
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

import xrelay
from xrelay.dialects.relay.structure.call import NamedCallOp
from xrelay.dialects.relay.structure.function import InvokeOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import ExecutionError, InterpreterError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.functions.inline import inline_calls
from xrelay.passes.fusion.fuse_ops import RelayFuseOpsPass
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.types.infer_type import infer_types

PROGRAM = """
!rows = tensor<ROWS>
!even = tensor<?x3xf32, #relay.dims<2 * n>>
!any = tensor<?x?xf32, #relay.dims<n, c>>
!w = tensor<?x3xf32, #relay.dims<k>>
!v = tensor<?x?xf32, #relay.dims<m, c>>
!q = !relay.incomplete
func.func @main(%x: !rows, %y: tensor<4x3xf32>, %w: tensor<3x3xf32>) -> (!q, !q) {
  %0 = relay.call @layers(%x, %w) : (!rows, tensor<3x3xf32>) -> !q
  %1 = relay.call @layers(%y, %w) : (tensor<4x3xf32>, tensor<3x3xf32>) -> !q
  func.return %0, %1 : !q, !q
}
func.func private @layers(%x: !even, %w: !w) -> !q {
  %0 = relay.call @layer(%x, %w) : (!even, !w) -> !q
  %1 = relay.call @layer(%0, %w) : (!q, !w) -> !q
  func.return %1 : !q
}
func.func private @layer(%x: !any, %w: !v) -> !q {
  %0 = relay.nn.dense(%x, %w) : (!any, !v) -> !q
  %1 = relay.nn.relu(%0) : (!q) -> !q
  func.return %1 : !q
}
"""

DEMANDS = """
!m = tensor<?xf32, #relay.dims<m>>
!p = tensor<?xf32, #relay.dims<p>>
!n = tensor<?xf32, #relay.dims<n>>
!longer = tensor<?xf32, #relay.dims<n + 2>>
!q = !relay.incomplete
func.func @main(%c: tensor<i1>, %x: !m, %y: !p) -> (!q, !q) {
  %0 = relay.call @total(%x, %y) : (!m, !p) -> !q
  %1 = relay.if %c : tensor<i1> -> !q {
    %2 = relay.call @rest(%x) : (!m) -> !q
    relay.yield %2 : !q
  } else {
    relay.yield %x : !m
  }
  func.return %0, %1 : !q, !q
}
func.func private @total(%x: !n, %y: !n) -> !q {
  %0 = relay.sum(%x) : (!n) -> !q
  %1 = relay.sum(%y) : (!n) -> !q
  %2 = relay.add(%0, %1) : (!q, !q) -> !q
  func.return %2 : !q
}
func.func private @rest(%x: !longer) -> !q {
  %0 = relay.negative(%x) : (!longer) -> !q
  func.return %0 : !q
}
"""

CLOSURE = """
!m = tensor<?xf32, #relay.dims<m>>
!p = tensor<?xf32, #relay.dims<p>>
!k = tensor<?xf32, #relay.dims<k>>
!q = !relay.incomplete
func.func @main(%x: !m, %y: !p) -> (!q, !q) {
  %f = relay.fn(%a : !k) -> !q {
    %t = relay.tuple(%a, %a) : (!k, !k) -> !q
    %b = relay.concatenate(%t) {axis = 0} : (!q) -> !q
    relay.yield %b : !q
  }
  %0 = relay.invoke %f(%x) : (!m) -> !q of (!k) -> !q
  %1 = relay.invoke %f(%y) : (!p) -> !q of (!k) -> !q
  func.return %0, %1 : !q, !q
}
"""

RECURSIVE = """
!n = tensor<?xf32, #relay.dims<n>>
!r = tensor<?xf32, #relay.dims<r>>
!q = !relay.incomplete
func.func @main(%c: tensor<i1>, %x: tensor<3xf32>) -> !r {
  %0 = relay.call @grow<n = 3, r = r>(%c, %x) {relay.binds = #relay.bounds<r>} : (tensor<i1>, tensor<3xf32>) -> !r
  func.return %0 : !r
}
func.func private @grow(%c: tensor<i1>, %x: !n) -> !r {
  %0 = relay.if %c : tensor<i1> -> !r attributes {relay.binds = #relay.bounds<r>} {
    relay.yield %x : !n
  } else {
    %t = relay.tuple(%x, %x) : (!n, !n) -> !q
    %1 = relay.concatenate(%t) {axis = 0} : (!q) -> !q
    %2 = relay.call @grow(%c, %1) : (tensor<i1>, !q) -> !q
    relay.yield %2 : !q
  }
  func.return %0 : !r
}
"""

NAMES = """
!n = tensor<?xf32, #relay.dims<n>>
!m = tensor<?xf32, #relay.dims<m>>
!r = tensor<?xf32, #relay.dims<r>>
!q = !relay.incomplete
!t = tensor<i64>
"""

GROWING = (
    NAMES
    + """
func.func @main(%k: !t, %x: tensor<3xf32>, %y: !m) -> (!q, !q) {
  %0 = relay.call @grow(%k, %x) : (!t, tensor<3xf32>) -> !q
  %1 = relay.call @grow(%k, %y) : (!t, !m) -> !q
  func.return %0, %1 : !q, !q
}
func.func private @grow(%k: !t, %x: !n) -> !r {
  %zero = relay.constant dense<0> : !t
  %one = relay.constant dense<1> : !t
  %c = relay.less_equal(%k, %zero) : (!t, !t) -> !q
  %0 = relay.if %c : !q -> !r attributes {relay.binds = #relay.bounds<r>} {
    relay.yield %x : !n
  } else {
    %t = relay.tuple(%x, %x) : (!n, !n) -> !q
    %1 = relay.concatenate(%t) {axis = 0} : (!q) -> !q
    %d = relay.subtract(%k, %one) : (!t, !t) -> !q
    %2 = relay.call @grow(%d, %1) : (!q, !q) -> !q
    %3 = relay.negative(%2) : (!q) -> !q
    relay.yield %3 : !q
  }
  func.return %0 : !r
}
"""
)

SUMMED = (
    NAMES
    + """
func.func @main(%k: !t, %y: !m) -> !q {
  %1 = relay.call @total(%k, %y) : (!t, !m) -> !q
  func.return %1 : !q
}
func.func private @total(%k: !t, %x: !n) -> tensor<f32> {
  %zero = relay.constant dense<0> : !t
  %one = relay.constant dense<1> : !t
  %c = relay.less_equal(%k, %zero) : (!t, !t) -> !q
  %0 = relay.if %c : !q -> tensor<f32> {
    %s = relay.sum(%x) : (!n) -> !q
    relay.yield %s : !q
  } else {
    %t = relay.tuple(%x, %x) : (!n, !n) -> !q
    %1 = relay.concatenate(%t) {axis = 0} : (!q) -> !q
    %d = relay.subtract(%k, %one) : (!t, !t) -> !q
    %2 = relay.call @total(%d, %1) : (!q, !q) -> !q
    %3 = relay.call @total(%d, %x) : (!q, !n) -> !q
    %4 = relay.add(%2, %3) : (!q, !q) -> !q
    relay.yield %4 : !q
  }
  func.return %0 : tensor<f32>
}
"""
)

MADE = (
    NAMES
    + """
func.func @main(%b: tensor<i1>, %k: !t, %y: !m) -> (!q, !q, !q) {
  %w = relay.call @found(%y) : (!m) -> !q
  %u:2 = relay.call @twice(%y) : (!m) -> (!q, !q)
  %0 = relay.if %b : tensor<i1> -> !q {
    %3 = relay.call @found(%u#0) : (!q) -> !q
    relay.yield %3 : !q
  } else {
    relay.yield %w : !q
  }
  %l = relay.loop(%i, %s = %y : !m) to %k : !t -> !q {
    %v:2 = relay.call @twice(%s) : (!m) -> (!q, !q)
    %a = relay.add(%v#0, %v#1) : (!q, !q) -> !q
    %p = relay.tuple(%a) : (!q) -> !q
    relay.yield %p : !q
  }
  %z = relay.tuple_get_item(%l) {index = 0} : (!q) -> !q
  func.return %z, %w, %0 : !q, !q, !q
}
func.func private @found(%x: !n) -> tensor<?xf32, #relay.dims<p>> {
  %zero = relay.constant dense<0> : !t
  %h = relay.constant dense<2.5> : tensor<f32>
  %i = relay.cast(%x) {dtype = i64} : (!n) -> !q
  %e = relay.take(%i, %zero) {axis = 0} : (!q, !t) -> !q
  %j = relay.abs(%e) : (!q) -> !q
  %v = relay.extents(%j) {relay.binds = #relay.bounds<p>} : (!q) -> !q
  %g = relay.reshape(%v) {newshape = [1]} : (!q) -> !q
  %0 = relay.dyn.full(%h, %g) : (tensor<f32>, !q) -> tensor<?xf32, #relay.dims<p>>
  func.return %0 : tensor<?xf32, #relay.dims<p>>
}
func.func private @twice(%x: !n) -> (!q, !q) {
  %0 = relay.negative(%x) : (!n) -> !q
  func.return %x, %0 : !n, !q
}
"""
)


def typed(text: str) -> ModuleOp:
    module = parse_module(full_context(), text, "test.mlir")
    infer_types(module)
    return module


def calls_in_main(module: ModuleOp) -> int:
    """The number of `relay.call` ops in @main."""
    main = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    return sum(isinstance(op, NamedCallOp) for op in main.walk())


def inputs(rows: int) -> list[Array]:
    rng = np.random.default_rng(rows)
    return [rng.integers(-4, 5, size=shape).astype(np.float32) for shape in ((rows, 3), (4, 3), (3, 3))]


def expected(arrays: list[Array]) -> list[Array]:
    *rows, weight = arrays
    return [np.maximum(np.maximum(data @ weight.T, 0) @ weight.T, 0) for data in rows]


def check(found: list[Array], wanted: list[Array]) -> None:
    for array, want in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(array, want)


@pytest.mark.parametrize("rows", ["6x3xf32", "?x3xf32, #relay.dims<m>", "?x3xf32, #relay.dims<2 * m>"])
def test_callees_have_the_sizes_of_their_calls(rows: str) -> None:
    module = typed(PROGRAM.replace("ROWS", rows))
    module.verify()
    check(run_relay(module, inputs(6)), expected(inputs(6)))
    inlined = module.clone()
    inline_calls(inlined)
    inlined.verify()
    assert calls_in_main(inlined) == 0
    check(run_relay(inlined, inputs(6)), expected(inputs(6)))


@pytest.mark.parametrize(
    ("branch", "extents", "refused"),
    [
        (True, (3, 3), None),
        (True, (3, 4), "argument extent: p == m is 4 == 3"),
        (True, (1, 1), "n of @rest: m - 2 >= 0 is -1 >= 0"),
        (False, (1, 1), None),
    ],
)
def test_what_calls_demand_is_checked_where_they_ran(
    branch: bool, extents: tuple[int, int], refused: str | None
) -> None:
    module = typed(DEMANDS)
    inlined = module.clone()
    inline_calls(inlined)
    inlined.verify()
    assert not any(isinstance(op, NamedCallOp) for op in inlined.walk())
    fused = inlined.clone()
    RelayFuseOpsPass().apply(full_context(), fused)
    arrays: list[Array] = [np.array(branch), *(np.ones(extent, np.float32) for extent in extents)]
    for each in (module, inlined, fused):
        if refused is not None:
            with pytest.raises(InterpreterError, match=re.escape(refused)):
                run_relay(each, arrays)
        else:
            total, rest = run_relay(each, arrays)
            assert total == sum(extents)
            np.testing.assert_array_equal(rest, -arrays[1] if branch else arrays[1])


def test_closures_have_the_sizes_of_their_calls() -> None:
    module = typed(CLOSURE)
    inlined = module.clone()
    inline_calls(inlined)
    inlined.verify()
    assert not any(isinstance(op, InvokeOp) for op in inlined.walk())
    x, y = np.arange(3, dtype=np.float32), np.arange(5, dtype=np.float32)
    for each in (module, inlined):
        check(run_relay(each, [x, y]), [np.tile(x, 2), np.tile(y, 2)])


@pytest.mark.parametrize("disabled", [[], ["relay-inline"]], ids=["inlined", "called"])
def test_native_code_is_made_for_the_sizes_of_calls(disabled: list[str]) -> None:
    with xrelay.transform.PassContext(disabled_pass=disabled):
        model = xrelay.compile(typed(PROGRAM.replace("ROWS", "6x3xf32")), opt_level=1, cache=False, threads=1)
    check(model.run(inputs(6)), expected(inputs(6)))


def ramp(extent: int) -> Array:
    return np.arange(extent, dtype=np.float32)


def check_native(text: str, cases: list[list[Array]]) -> None:
    """Compares native code without inlining with the interpreter."""
    module = typed(text)
    with xrelay.transform.PassContext(disabled_pass=["relay-inline"]):
        model = xrelay.compile(module, opt_level=1, cache=False, threads=1)
    for case in cases:
        check(model.run(case), run_relay(module, case))


def test_functions_with_names_are_called_natively() -> None:
    check_native(PROGRAM.replace("ROWS", "?x3xf32, #relay.dims<m>"), [inputs(6), inputs(0)])


def test_a_call_demands_natively_where_it_runs() -> None:
    module = typed(DEMANDS)
    with xrelay.transform.PassContext(disabled_pass=["relay-inline"]):
        model = xrelay.compile(module, opt_level=1, cache=False, threads=1)
    for branch, extents, refused in ((True, (3, 4), "p == m is 4 == 3"), (True, (1, 1), "m - 2 >= 0 is -1 >= 0")):
        with pytest.raises(ExecutionError, match=refused):
            model(np.array(branch), *map(ramp, extents))
    assert model(np.array(False), ramp(1), ramp(1))[0] == 0


def test_a_recursion_whose_sizes_grow_is_native() -> None:
    module = typed(RECURSIVE)
    (found,) = run_relay(module, [np.array(True), np.ones(3, np.float32)])
    assert found.shape == (3,)
    check_native(GROWING, [[np.array(k), ramp(3), ramp(m)] for k, m in ((0, 2), (3, 2), (2, 0))])
    check_native(SUMMED, [[np.array(k), ramp(m)] for k, m in ((0, 2), (4, 3), (2, 0))])


def test_extents_that_a_function_makes_are_returned() -> None:
    rows = [[np.array(branch), np.array(k), ramp(m) + 2] for branch in (True, False) for k, m in ((0, 2), (4, 3))]
    check_native(MADE, rows)


def test_calls_with_names_are_the_same_at_all_levels() -> None:
    check_levels(typed(SUMMED), [np.array(2), ramp(3)])


# One branch is invalid at the extents of the only call, whatever the callee.
WRONG_BRANCH = """
!a = tensor<?xf32, #relay.dims<p>>
!b = tensor<?xf32, #relay.dims<q>>
func.func @main(%c: tensor<i1>, %x: tensor<2xf32>, %y: tensor<3xf32>) -> !relay.incomplete {
  %g = relay.fn(%a : !a, %b : !b) -> tensor<f32> {
    %r = relay.call @sum(%c, %a, %b) : (tensor<i1>, !a, !b) -> tensor<f32>
    relay.yield %r : tensor<f32>
  }
  CALL
  func.return %r : !relay.incomplete
}
func.func private @sum(%c: tensor<i1>, %a: !a, %b: !b) -> tensor<f32> {
  %r = relay.if %c : tensor<i1> -> tensor<f32> {
    %s = relay.add(%a, %b) : (!a, !b) -> !relay.incomplete
    %t = relay.sum(%s) : (!relay.incomplete) -> tensor<f32>
    relay.yield %t : tensor<f32>
  } else {
    %t = relay.sum(%a) : (!a) -> tensor<f32>
    relay.yield %t : tensor<f32>
  }
  func.return %r : tensor<f32>
}
"""


@pytest.mark.parametrize("disabled", [[], ["relay-inline"]], ids=["inlined", "called"])
@pytest.mark.parametrize(
    "call",
    [
        "%r = relay.call @sum(%c, %x, %y) : (tensor<i1>, tensor<2xf32>, tensor<3xf32>) -> !relay.incomplete",
        "%r = relay.invoke %g(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> !relay.incomplete of (!a, !b) -> tensor<f32>",
    ],
    ids=["function", "closure"],
)
def test_what_is_wrong_in_a_branch_is_an_error_there_alone(call: str, disabled: list[str]) -> None:
    module = typed(WRONG_BRANCH.replace("CALL", call))
    with xrelay.PassContext(disabled_pass=disabled):
        model = xrelay.compile(module, cache=False, threads=1)
    x, y = np.ones(2, np.float32), np.ones(3, np.float32)
    (found,), (wanted,) = model.run([np.array(False), x, y]), run_relay(module, [np.array(False), x, y])
    assert found == wanted == 2
    for run in (model.run, partial(run_relay, module)):
        with pytest.raises(
            (ExecutionError, InterpreterError), match=re.escape("[relay.add C2] extents: broadcastable")
        ):
            run([np.array(True), x, y])
