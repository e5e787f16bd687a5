"""RemoveUnusedFunctions, ToBasicBlockNormalForm and EliminateCommonSubexpr on the programs of their documentation."""

from __future__ import annotations

from textwrap import dedent, indent

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelay import relay, transform
from xrelay.errors import PassError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module

HEAD = "func.func @{}(%x: tensor<4xf32>) -> tensor<4xf32> {{"
CALLS = """
  %y = func.call @{}(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}}
"""
LEAF = """
  %y = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""


def calling(name: str, callee: str) -> str:
    return HEAD.format(name) + CALLS.format(callee)


def leaf(name: str) -> str:
    return HEAD.format(name) + LEAF


MAIN, USED = calling("main", "used"), leaf("used")
UNUSED, AGAIN = calling("unused", "again"), calling("again", "unused")


def module_of(*functions: str) -> str:
    return "builtin.module {\n" + indent("".join(functions), "  ") + "}"


def parsed(text: str) -> ModuleOp:
    return parse_module(full_context(), text, "seed.mlir")


@pytest.mark.parametrize(
    ("entry", "kept"),
    [
        (["main"], (MAIN, USED)),
        (["used"], (USED,)),
        (["unused"], (UNUSED, AGAIN)),
        (["main", "again"], (MAIN, USED, UNUSED, AGAIN)),
        ([], ()),
    ],
)
def test_functions_that_no_entry_reaches_go(entry: list[str], kept: tuple[str, ...]) -> None:
    before = parsed(module_of(MAIN, USED, UNUSED, AGAIN))
    after = transform.RemoveUnusedFunctions(entry)(before)
    assert str(after) == (module_of(*kept) if kept else "builtin.module {\n}")
    assert str(before) == module_of(MAIN, USED, UNUSED, AGAIN)


def test_without_entry_functions_it_is_main_and_one_that_is_missing_is_named() -> None:
    library = parsed(module_of(MAIN, USED, UNUSED, AGAIN))
    assert str(transform.RemoveUnusedFunctions()(library)) == module_of(MAIN, USED)
    with pytest.raises(PassError, match=r"^\[RemoveUnusedFunctions\] no function is called @unsed; help: did"):
        transform.RemoveUnusedFunctions(["main", "unsed"])(library)


def branches() -> ModuleOp:
    """`exp` is used in both branches, `tanh` and its sum in the first, `relu` in the second."""
    x, c = relay.var("x", shape=(4,)), relay.var("c", shape=(), dtype="bool")
    shared = relay.exp(x)
    first = relay.tanh(shared)
    return relay.Module.from_expr(
        relay.Function([c, x], relay.If(c, relay.add(first, first), relay.nn.relu(shared))),
    )


def test_every_op_moves_to_the_least_common_ancestor_of_its_uses() -> None:
    after = transform.ToBasicBlockNormalForm()(transform.InferType()(branches()))
    lines = str(after).splitlines()[2:-2]
    assert dedent("\n".join(lines)) == dedent("""\
        %0 = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
        %1 = relay.let "x" = %0 : tensor<4xf32>
        %2 = relay.if %c : tensor<i1> -> tensor<4xf32> {
          %3 = relay.tanh(%1) : (tensor<4xf32>) -> tensor<4xf32>
          %4 = relay.add(%3, %3) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          relay.yield %4 : tensor<4xf32>
        } else {
          %5 = relay.nn.relu(%1) : (tensor<4xf32>) -> tensor<4xf32>
          relay.yield %5 : tensor<4xf32>
        }
        func.return %2 : tensor<4xf32>""")
    x = np.array([-1, 0, 1, 2], np.float32)
    for chosen in (True, False):
        inputs = [np.array(chosen), x]
        assert np.array_equal(run_relay(branches(), inputs)[0], run_relay(after, inputs)[0])


def test_the_checker_names_what_should_be_lifted_and_is_content_afterwards() -> None:
    before = transform.InferType()(branches())
    check = transform.create_pass("relay-check-basic-block-normal-form")
    with pytest.raises(PassError) as caught:
        check(before)
    assert "relay.add is in the body of @main, its uses meet in the first branch" in str(caught.value)
    assert "relay.nn.relu is in the body of @main, its uses meet in the second branch" in str(caught.value)
    check(transform.ToBasicBlockNormalForm()(before))


def test_shared_values_do_not_explode() -> None:
    """`b = a + a; c = b + b; d = c + c`: three additions, however often a value is used."""
    a = relay.var("a", shape=(4,))
    b = relay.add(a, a)
    c = relay.add(b, b)
    module = relay.Module.from_expr(relay.Function([a], relay.add(c, c)))
    additions = """\
        %0 = relay.add(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %1 = relay.add(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %2 = relay.add(%1, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        func.return %2 : tensor<4xf32>"""
    after = transform.ToBasicBlockNormalForm()(module)
    assert dedent("\n".join(str(after).splitlines()[2:-2])) == dedent(additions)
    assert str(after).splitlines()[1].endswith('attributes {relay.form = "bbnf"} {')
    bound = transform.ToANormalForm()(module)
    assert dedent("\n".join(str(bound).splitlines()[2:-2])) == dedent("""\
        %0 = relay.add(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %1 = relay.let "x" = %0 : tensor<4xf32>
        %2 = relay.add(%1, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %3 = relay.let "x_1" = %2 : tensor<4xf32>
        %4 = relay.add(%3, %3) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %5 = relay.let "x_2" = %4 : tensor<4xf32>
        func.return %5 : tensor<4xf32>""")


def test_equal_expressions_become_one_unless_skipped() -> None:
    """`a = b + c; d = b + c`."""
    b, c = relay.var("b", shape=(4,)), relay.var("c", shape=(4,))
    module = relay.Module.from_expr(relay.Function([b, c], relay.multiply(relay.add(b, c), relay.add(b, c))))
    after = transform.EliminateCommonSubexpr()(module)
    assert dedent("\n".join(str(after).splitlines()[2:-2])) == dedent("""\
        %0 = relay.add(%b, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %1 = relay.multiply(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        func.return %1 : tensor<4xf32>""")
    skipped = transform.EliminateCommonSubexpr(fskip=lambda expr: expr.op.name == "add")(module)
    assert str(skipped).count("relay.add") == 2
