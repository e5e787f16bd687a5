"""Tables of patterns by name, and their rows in `MergeComposite`."""

from __future__ import annotations

from typing import Any

import pytest

from xrelay import relay, transform
from xrelay.errors import InputError, PassError
from xrelay.passes.infra.pass_info import PassTypeError
from xrelay.passes.patterns import composites as patterns
from xrelay.relay.dataflow_pattern import is_constant, is_op, wildcard
from xrelay.relay.op.contrib import register
from xrelay.relay.op.contrib.register import PatternTable, get_pattern_table, register_pattern_table

X, Y = relay.var("x", shape=(4,)), relay.var("y", shape=(4,))
EXP_RELU = is_op("nn.relu")(is_op("exp")(wildcard()))
EXP = is_op("exp")(wildcard())


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes the tables that a test registers."""
    monkeypatch.setattr(patterns, "_TABLES", {})
    monkeypatch.setattr(register, "_TABLES", {})


def module(expr: relay.Expr) -> relay.IRModule:
    return relay.IRModule.from_expr(relay.Function([X, Y], expr))


def composites(mod: Any) -> list[str]:
    """The names of the composites of @main, in program order."""
    return [line.split('Composite = "')[1].split('"')[0] for line in str(mod).splitlines() if "Composite =" in line]


def test_rows_are_tried_in_their_order() -> None:
    expr = relay.nn.relu(relay.exp(X)) + relay.exp(Y)
    whole, part = ("whole", EXP_RELU), ("part", EXP)
    assert composites(transform.MergeComposite([whole, part])(module(expr))) == ["whole", "part"]
    assert composites(transform.MergeComposite([part, whole])(module(expr))) == ["part", "part"]
    assert composites(transform.MergeComposite([])(module(expr))) == []
    assert composites(transform.MergeComposite(pattern_table=[whole])(module(expr))) == ["whole"]


def test_the_module_that_is_given_is_left_alone() -> None:
    mod = module(relay.exp(X))
    before = str(mod)
    transform.MergeComposite([("part", EXP)])(mod)
    assert str(mod) == before


def test_checks_see_expressions_with_types() -> None:
    seen: list[str] = []

    def check(root: relay.Expr) -> bool:
        assert isinstance(root, relay.Call)
        seen.append(f"{root.op} {root.checked_type} {root.args[0].shape}")
        return False

    mod = module(relay.nn.relu(relay.exp(X)))
    assert composites(transform.MergeComposite([("whole", EXP_RELU, check)])(mod)) == []
    assert seen == ["Op(nn.relu) tensor<4xf32> (4,)"]


def test_parts_of_the_ir_are_expressions_of_the_module() -> None:
    mod = transform.MergeComposite([("c", is_op("multiply")(wildcard(), is_constant()))])(module(X * relay.const(2.0)))
    call = mod["main"].body
    assert isinstance(call, relay.Call)
    assert isinstance(call.op, relay.Function)
    assert call.op.attrs == {"Composite": "c", "PartitionedFromPattern": "multiply_"}
    assert [str(arg.type) for arg in call.args] == ["tensor<4xf32>"]


def table_of_acme() -> PatternTable:
    return [("acme.er", EXP_RELU), ("acme.e", EXP, lambda root: isinstance(root, relay.Call))]


@pytest.fixture
def acme() -> None:
    """The table `acme`, registered by a decorator."""
    assert register_pattern_table("acme")(table_of_acme) is table_of_acme


@pytest.mark.usefixtures("acme")
def test_a_registered_table_is_found_by_its_name() -> None:
    rows = get_pattern_table("acme")
    assert rows is not None
    assert [row[0] for row in rows] == ["acme.er", "acme.e"]
    assert get_pattern_table("nobody") is None
    named = transform.create_pass("relay-merge-composite{table=acme}")
    assert composites(named(module(relay.nn.relu(relay.exp(X)) + relay.exp(Y)))) == ["acme.er", "acme.e"]
    with pytest.raises(PassError, match=r"there is no table of patterns 'acmo'.*did you mean 'acme'"):
        transform.create_pass("relay-merge-composite{table=acmo}")(module(X))


def test_a_table_may_be_registered_without_a_function() -> None:
    register_pattern_table("plain", [("p", EXP)])
    assert get_pattern_table("plain") == [("p", EXP)]
    assert relay.op.contrib.get_pattern_table("plain") == [("p", EXP)]


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(PassTypeError, match="'pattern_table' must be a list of"):
        transform.MergeComposite([EXP])
    wrong: list[Any] = [("p", "exp"), (EXP, "p"), ("p", EXP, 3)]
    for row in wrong:
        with pytest.raises((InputError, PassError), match=r"not a row of a table|not a function"):
            transform.MergeComposite([row])(module(X))


CHAINS = {
    "": "is not a chain",
    "a": "is not a chain",
    "a:": "is not a chain",
    ":exp": "is not a chain",
    "a:exp::tanh": "is not a chain",
    "a:exp?:tanh": "is optional",
    "a:expp": "relay op 'expp'",
    "a:concatenate:exp|tuple": "relay op 'tuple'",
}


@pytest.mark.parametrize("chain", CHAINS)
def test_what_is_no_chain_is_refused(chain: str) -> None:
    with pytest.raises(PassError, match=CHAINS[chain]):
        transform.create_pass(f'relay-merge-composite{{chains="{chain}"}}')(module(relay.exp(X)))
