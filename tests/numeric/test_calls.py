"""Calls of functions with named dimensions: interpreted, inlined, specialised and native, all the same."""

from __future__ import annotations

import re

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

import xrelay
from xrelay.dialects.relay.structure.call import NamedCallOp
from xrelay.dialects.relay.structure.function import InvokeOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InterpreterError, PassError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.fusion.fuse_ops import RelayFuseOpsPass
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.relay.inline import inline_calls
from xrelay.passes.relay.specialize_functions import specialize_functions
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


def typed(text: str) -> ModuleOp:
    module = parse_module(full_context(), text, "test.mlir")
    infer_types(module)
    return module


def calls_in_main(module: ModuleOp) -> int:
    """How many `relay.call` are in @main."""
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
    specialized, inlined = module.clone(), module.clone()
    specialize_functions(specialized)
    assert calls_in_main(specialized) == (rows != "6x3xf32")
    specialized.verify()
    check(run_relay(specialized, inputs(6)), expected(inputs(6)))
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
def test_what_calls_demand_is_checked_where_they_ran(branch: bool, extents: tuple[int, int], refused: str) -> None:
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


@pytest.mark.parametrize("disabled", [[], ["relay-inline"]], ids=["inlined", "specialised"])
def test_native_code_is_made_for_the_sizes_of_calls(disabled: list[str]) -> None:
    with xrelay.transform.PassContext(disabled_pass=disabled):
        model = xrelay.compile(typed(PROGRAM.replace("ROWS", "6x3xf32")), opt_level=1, cache=False, threads=1)
    check(model.run(inputs(6)), expected(inputs(6)))


def test_a_recursion_whose_sizes_grow_is_for_the_interpreter() -> None:
    module = typed(RECURSIVE)
    (found,) = run_relay(module, [np.array(True), np.ones(3, np.float32)])
    assert found.shape == (3,)
    assert specialize_functions(module) == 0
    with pytest.raises(PassError, match=r"relay\.call @grow has no native form"):
        xrelay.compile(module, opt_level=0, cache=False)
