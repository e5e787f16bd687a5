"""A let fixes the block in which its value is computed, for the builder, passes, interpreter and compiled code."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import relay
from xrelay.errors import InputError, XRelayError
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.relay import transform
from xrelay.relay.transform.functions import replace_each

X, C = relay.var("x", shape=(4,)), relay.var("c", shape=(), dtype="bool")
V, W = relay.var("v", shape=(4,)), relay.var("w", shape=(4,))


def blocks_of_lets(module: ModuleOp) -> list[str]:
    """The kind of op around each let."""
    around = [op.parent_op() for op in module.walk() if op.name == "relay.let"]
    return [op.name for op in around if op is not None]


@pytest.mark.parametrize("change", [transform.ToBasicBlockNormalForm(), transform.ToANormalForm()])
def test_a_let_around_a_branch_stays_outside(change: transform.Pass) -> None:
    body = relay.Let(V, relay.log(X), relay.If(C, V + V, X))
    module = change(relay.IRModule.from_expr(relay.Function([C, X], body)))
    first = module["main"].body
    assert (first.var.name, first.value.op.name) == ("v", "log")
    assert blocks_of_lets(module)[0] == "func.func"


@pytest.mark.parametrize("change", [None, transform.ToBasicBlockNormalForm(), transform.ToANormalForm()])
def test_a_let_in_a_branch_stays_inside(change: transform.Pass | None) -> None:
    inner = relay.Let(W, relay.exp(V), W * V)
    body = relay.If(C, relay.Let(V, relay.log(X), relay.If(C, inner, V)), X)
    module = relay.IRModule.from_expr(relay.Function([C, X], body))
    module = module if change is None else change(module)
    branch = module["main"].body.true_branch if change is None else None
    assert branch is None or (branch.var.name, branch.body.true_branch.var.name) == ("v", "w")
    lets = [op for op in module.walk() if op.name == "relay.let" and op.results[0].name_hint in ("v", "w")]
    assert [op.parent_op().name for op in lets] == ["relay.if", "relay.if"]
    for condition in (True, False):
        arguments = [np.array(condition), np.full(4, 2, np.float32)]
        expected = np.log(2) * 2 if condition else 2
        np.testing.assert_allclose(xrelay.compile(module).run(arguments)[0], expected, rtol=1e-6)
        np.testing.assert_allclose(xrelay.interpret(module, arguments)[0], expected, rtol=1e-6)


def test_a_let_in_both_branches_is_around_them() -> None:
    shared = relay.Let(V, relay.log(X), V + V)
    module = relay.IRModule.from_expr(relay.Function([C, X], relay.If(C, shared, relay.exp(shared))))
    assert blocks_of_lets(module) == ["func.func"]


def test_a_variable_that_is_used_outside_of_its_let_is_bound_around() -> None:
    inner = relay.If(C, relay.Let(V, relay.log(X), V), X)
    module = relay.IRModule.from_expr(relay.Function([C, X], inner + V))
    assert blocks_of_lets(module) == ["func.func"]


def test_a_replacement_with_a_let_in_a_branch_is_refused() -> None:
    func = relay.Function([C, X], relay.exp(X)).to_func("main")
    (op,) = [op for op in func.walk() if op.name == "relay.exp"]
    let = relay.If(relay.const(True), relay.Let(V, relay.log(X), V), X)
    with pytest.raises(InputError, match="binds a variable in a branch; help: bind it outside"):
        replace_each(func, type(op), lambda result: let)


QUOTIENT = """
  %q = relay.floor_divide(%n, %d) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %v = relay.let "v" = %q : tensor<i32>
"""
LET_AROUND = f"""
func.func @main(%c: tensor<i1>, %n: tensor<i32>, %d: tensor<i32>) -> tensor<i32> {{{QUOTIENT}
  %r = relay.if %c : tensor<i1> -> tensor<i32> {{
    relay.yield %v : tensor<i32>
  }} else {{
    relay.yield %n : tensor<i32>
  }}
  func.return %r : tensor<i32>
}}
"""
LET_IN_A_CALLEE = f"""
func.func private @divide(%n: tensor<i32>, %d: tensor<i32>) -> tensor<i32> {{{QUOTIENT}
  func.return %v : tensor<i32>
}}
func.func @main(%c: tensor<i1>, %n: tensor<i32>, %d: tensor<i32>) -> tensor<i32> {{
  %m = func.call @divide(%n, %d) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %r = relay.if %c : tensor<i1> -> tensor<i32> {{
    relay.yield %m : tensor<i32>
  }} else {{
    relay.yield %n : tensor<i32>
  }}
  func.return %r : tensor<i32>
}}
"""


@pytest.mark.parametrize("level", [0, 3, None])
@pytest.mark.parametrize(("text", "fails"), [(LET_AROUND, True), (LET_IN_A_CALLEE, False)])
def test_a_let_fails_in_its_own_block(text: str, fails: bool, level: int | None) -> None:
    """Division by zero, in a let whose value the branch taken does not need; interpreted if `level` is None."""
    module = parse_module(full_context(), text, "let.mlir")
    arguments = [np.array(False), np.array(3, np.int32), np.array(0, np.int32)]

    def run() -> list[np.ndarray]:
        return (
            xrelay.interpret(module, arguments)
            if level is None
            else xrelay.compile(module, opt_level=level).run(arguments)
        )

    if fails:
        with pytest.raises(XRelayError, match="division by zero"):
            run()
    else:
        assert run() == [3]
