"""Programs as JSON: loading restores a saved program with its constants, and rejects anything else."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

import xrelay
from xrelay import ir, relay
from xrelay.errors import InputError, ParseError

X = relay.var("x", shape=(2, 20))
Y = relay.var("y", shape=("n", 20), dtype="float64")
F = relay.var("f")
WEIGHT = np.arange(60, dtype=np.float32).reshape(3, 20)
NESTED = relay.Function([X], relay.Tuple([X, relay.Tuple([relay.nn.relu(X), relay.const(1, "int8")])]))

EXPRESSIONS: dict[str, Callable[[], relay.Expr]] = {
    "variable": lambda: X,
    "variable without a type": lambda: F,
    "constant": lambda: relay.const(2.5),
    "constant of many elements": lambda: relay.const(WEIGHT),
    "constant of bfloat16": lambda: relay.const(WEIGHT, "bfloat16"),
    "operator": lambda: relay.nn.dense(X, relay.const(WEIGHT), out_dtype="float32"),
    "without types": lambda: relay.add(F, relay.multiply(F, relay.const(2.0))),
    "call of a variable": lambda: F(X, X),
    "tuple": lambda: relay.Tuple([X, X]),
    "empty tuple": lambda: relay.Tuple([]),
    "field": lambda: relay.split(X, 2, axis=1)[1],
    "let": lambda: relay.Let(F, relay.const(1.0), relay.add(X, F)),
    "if": lambda: relay.If(relay.var("c", shape=(), dtype="bool"), relay.exp(X), X),
    "function": lambda: relay.Function([X], relay.exp(X)).with_attr("test_attribute", "value"),
    "function of a tuple": lambda: NESTED,
    "function of free variables": lambda: relay.Function([X], relay.add(X, relay.var("z", shape=(20,)))),
    "call of a function": lambda: NESTED(relay.const(WEIGHT[:2])),
    "named extents": lambda: relay.Function([Y], relay.concatenate([Y, Y], 0)),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_an_expression_is_what_it_was(name: str) -> None:
    expression = EXPRESSIONS[name]()
    found = ir.load_json(ir.save_json(expression))
    assert type(found) is type(expression)
    ir.assert_structural_equal(found, expression, map_free_vars=True)


def test_a_module_is_what_it_was_and_computes_the_same() -> None:
    mod = relay.IRModule({"twice": relay.Function([X], X + X).with_attr("Inline", 1)})
    twice = mod.get_global_var("twice")
    mod["main"] = relay.Function([X], relay.nn.dense(twice(X), relay.const(WEIGHT)))
    mod = mod.with_attr("note", "kept")
    found = ir.load_json(ir.save_json(mod))
    assert isinstance(found, relay.IRModule)
    ir.assert_structural_equal(found, mod)
    assert str(found) == str(mod)
    assert found.attrs == mod.attrs
    data = np.linspace(-1, 1, 40, dtype=np.float32).reshape(2, 20)
    (result,) = xrelay.compile(found, cache=False).run([data])
    np.testing.assert_allclose(result, 2 * data @ WEIGHT.T, rtol=1e-5)


def test_what_stands_beside_programs() -> None:
    name = relay.GlobalVar("g")
    found = ir.load_json(ir.save_json({"types": [relay.TensorType((1, 3), "int8"), NESTED.checked_type], name: None}))
    assert isinstance(found, dict)
    assert found["types"] == [relay.TensorType((1, 3), "int8"), NESTED.checked_type]
    assert found[name] is None
    assert ir.load_json(ir.save_json(relay.op.get("nn.conv2d"))) == relay.op.get("nn.conv2d")
    typed = relay.IRModule.from_expr(NESTED).get_global_var("main")
    again = ir.load_json(ir.save_json(typed))
    assert isinstance(again, relay.GlobalVar)
    assert again.type == typed.type
    array = ir.load_json(ir.save_json((WEIGHT, 3, 0.5, "text", True)))
    assert isinstance(array, list)
    np.testing.assert_array_equal(array[0], WEIGHT, strict=True)
    assert array[1:] == [3, 0.5, "text", True]


def test_anything_else_has_no_json() -> None:
    with pytest.raises(InputError, match="an object cannot be saved"):
        ir.save_json([object()])


def changed(**parts: object) -> str:
    return json.dumps({**json.loads(ir.save_json(relay.const(WEIGHT))), **parts})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[1]", "not written by save_json of this version"),
        (changed(xrelay=7), "not written by save_json of this version"),
        (changed(kind="class"), "there is no kind 'class'"),
        (changed(weights={}), "damaged: KeyError"),
        (changed(weights=3), "damaged: TypeError"),
        (changed(text="func.func @main("), "JSON:1:17: Expected argument"),
        (changed(text="func.func @f() { func.return }"), "main"),
    ],
)
def test_a_text_of_another_form_is_refused(text: str, message: str) -> None:
    with pytest.raises((ParseError, InputError), match=message):
        ir.load_json(text)


def test_a_constant_of_another_shape_is_refused() -> None:
    text = json.loads(ir.save_json(relay.const(WEIGHT)))
    (weight,) = text["weights"].values()
    weight["shape"] = [20, 3]
    with pytest.raises(ParseError, match="C3"):
        ir.load_json(json.dumps(text))
