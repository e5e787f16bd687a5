"""`structural_equal`: the same but for the names of variables."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay import relay, transform
from xrelay.ir import assert_structural_equal, structural_equal


def function(name: str = "x", shape: tuple[int, ...] = (3,), number: float = 2.0) -> relay.Function:
    x, y = relay.var(name, shape=shape), relay.var("y", shape=shape)
    return relay.Function([x, y], relay.nn.relu(x * relay.const(number)) - y)


def test_names_do_not_count() -> None:
    assert structural_equal(function("x"), function("a"))
    assert_structural_equal(function("x"), function("a"))


@pytest.mark.parametrize(
    "other",
    [
        function(number=3.0),
        function(shape=(4,)),
        function().with_attr("Compiler", "acme"),
    ],
)
def test_what_counts(other: relay.Function) -> None:
    assert not structural_equal(function(), other)
    with pytest.raises(ValueError, match="the programs differ:"):
        assert_structural_equal(function(), other)


def test_the_order_of_parameters_counts() -> None:
    f, g = function(), function()
    assert structural_equal(f, g)
    assert not structural_equal(f, relay.Function(g.params[::-1], g.body))


def test_types_that_inference_finds_do_not_count() -> None:
    typed = transform.InferType()(xrelay.IRModule.from_expr(function()))
    assert structural_equal(typed, xrelay.IRModule.from_expr(function("z")))
    assert structural_equal(typed["main"], xrelay.IRModule.from_expr(function("z"))["main"])


def test_free_variables() -> None:
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    assert structural_equal(x + x, x + x)
    assert not structural_equal(x + x, y + y)
    assert structural_equal(x + x, y + y, map_free_vars=True)
    assert not structural_equal(x + x, x + y, map_free_vars=True)
    assert not structural_equal(x + y, x + x, map_free_vars=True)
    assert not structural_equal(x, relay.Function([x], x))


def test_closures_and_modules() -> None:
    def module(name: str) -> xrelay.IRModule:
        x, z = relay.var(name, shape=(2,)), relay.var("z", shape=(2,))
        made = xrelay.IRModule({"f": relay.Function([x], relay.Function([z], z * x)(relay.exp(x)))})
        made["main"] = relay.Function([z], made.get_global_var("f")(z))
        return made

    assert structural_equal(module("x"), module("w"))
    less = module("x")
    less.remove("f")
    assert not structural_equal(module("x"), less)


def test_deep_programs() -> None:
    def deep() -> relay.Function:
        x = y = relay.var("x", shape=(2,))
        for _ in range(5_000):
            y = relay.exp(y)
        return relay.Function([x], y)

    assert structural_equal(deep(), deep())


def test_types_and_constants() -> None:
    assert structural_equal(relay.TensorType((2,), "float32"), relay.TensorType((2,), "float32"))
    assert not structural_equal(relay.TensorType((2,), "float32"), relay.TensorType((2,), "int32"))
    assert structural_equal(relay.const(np.ones(3)), relay.const(np.ones(3)))
    assert not structural_equal(relay.const(np.ones(3)), relay.const(np.zeros(3)))
