"""`to_cps` and `un_cps` under Relay's names."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay import relay, transform
from xrelay.errors import InputError
from xrelay.interpreters.relay import run_relay

SCALAR = relay.TensorType(())


def halving() -> relay.IRModule:
    """A recursive function, and two calls of it."""
    module = relay.IRModule()
    n, x = relay.var("n", shape=(), dtype="int32"), relay.var("x", shape=(3,))
    halve = relay.GlobalVar("halve")
    less = halve(n - relay.const(1), x * relay.const(0.5))
    module[halve] = relay.Function([n, x], relay.If(n < relay.const(1), x, less), relay.TensorType((3,)))
    m, y = relay.var("m", shape=(), dtype="int32"), relay.var("y", shape=(3,))
    module["main"] = relay.Function([m, y], halve(m, y) + halve(m, y))
    return relay.IRModule.of(transform.InferType()(module))


def test_a_function_gets_a_continuation() -> None:
    x = relay.var("x", shape=())
    identity = relay.transform.to_cps(relay.Function([x], x))
    assert [str(param.type) for param in identity.params] == ["tensor<f32>", "(tensor<f32>) -> tensor<f32>"]
    f = relay.var("f", relay.FuncType([SCALAR], SCALAR))
    double = relay.transform.to_cps(relay.Function([f, x], f(f(x))))
    assert str(double.params[0].type) == "(tensor<f32>, (tensor<f32>) -> tensor<f32>) -> tensor<f32>"
    assert str(transform.InferType()(relay.IRModule.from_expr(double))).count("relay.fn") == 1


def test_what_it_calls_is_added_to_the_module() -> None:
    before = halving()
    module = relay.IRModule.of(before)
    module["main"] = transform.to_cps(module["main"], mod=module)
    assert [var.name_hint for var in module.get_global_vars()] == ["halve", "main", "halve_cps"]
    module = relay.IRModule.of(transform.InferType()(module))
    module["main"] = transform.un_cps(module["main"])
    inputs = [np.array(3, np.int32), np.array([8, 4, -2], np.float32)]
    expected = run_relay(before, inputs)
    np.testing.assert_array_equal(run_relay(module, inputs), expected)
    np.testing.assert_array_equal(xrelay.compile(module, cache=False).run(inputs), expected)


def test_the_passes_take_whole_modules() -> None:
    before = halving()
    assert transform.ToCPS().info == transform.PassInfo(1, "ToCPS")
    after = transform.UnCPS()(transform.ToCPS()(before))
    inputs = [np.array(2, np.int32), np.array([8, 4, -2], np.float32)]
    np.testing.assert_array_equal(run_relay(after, inputs), run_relay(before, inputs))


def test_only_what_has_a_continuation_loses_it() -> None:
    x = relay.var("x", shape=())
    with pytest.raises(InputError, match="the last parameter is not a continuation"):
        relay.transform.un_cps(relay.Function([x], x))
