"""`relay.bind` and `bind_params_by_name`: replace variables by values."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay import relay
from xrelay.errors import InputError


def test_a_bound_parameter_goes() -> None:
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    bound = relay.bind(relay.Function([x, y], x - y), {x: relay.const(np.float32([5, 7]))})
    assert bound.params == [y]
    (found,) = xrelay.compile(relay.Module.from_expr(bound), cache=False).run([np.float32([1, 2])])
    assert found.tolist() == [4, 5]


def test_a_variable_may_stand_for_another() -> None:
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    bound = relay.bind(x + y, {y: x})
    assert relay.analysis.free_vars(bound) == [x]


def test_variables_of_the_values_become_parameters() -> None:
    x, y, z = (relay.var(name, shape=(2,)) for name in "xyz")
    inner = relay.Function([z], z * x)
    bound = relay.bind(relay.Function([x], inner(x)), {x: relay.exp(y)})
    assert bound.params == [y]
    data = np.float32([0, 1])
    (found,) = xrelay.compile(relay.Module.from_expr(bound), cache=False).run([data])
    np.testing.assert_allclose(found, np.exp(data) ** 2, rtol=1e-6)


def test_only_variables_are_bound() -> None:
    x = relay.var("x", shape=(2,))
    with pytest.raises(InputError, match="a Call cannot be bound; help: "):
        relay.bind(x + x, {x + x: x})


def test_binding_by_name() -> None:
    x, w = relay.var("x", shape=(2,)), relay.var("w", shape=(2,), dtype="float64")
    function = relay.Function([x, w], x + relay.cast(w, "float32"))
    bound = relay.build_module.bind_params_by_name(function, {"w": np.array([1.0, 2.0]), "other": np.zeros(1)})
    assert [param.name for param in bound.params] == ["x"]
    (found,) = xrelay.compile(relay.Module.from_expr(bound), cache=False).run([np.float32([1, 1])])
    assert found.tolist() == [2, 3]
    twice = relay.Function([x, relay.var("x", shape=(2,))], x + x)
    with pytest.raises(InputError, match="2 parameters are called 'x'; help: bind the variables"):
        relay.build_module.bind_params_by_name(twice, {"x": [1.0, 2.0]})
    with pytest.raises(InputError, match="parameter 'x' is a str"):
        relay.build_module.bind_params_by_name(function, {"x": "one"})


def test_numbers_take_the_dtype_of_their_parameter() -> None:
    n, row, free = relay.var("n", shape=(), dtype="int64"), relay.var("row", shape=(2,)), relay.var("free")
    function = relay.Function([n, row, free], relay.Tuple([n, row, free]))
    bound = relay.build_module.bind_params_by_name(function, {"n": 3.0, "row": [1, 2], "free": 2})
    assert bound.params == []
    found = relay.create_executor().evaluate(bound)()
    assert [(str(each.dtype), each.tolist()) for each in found] == [("int64", 3), ("float32", [1, 2]), ("int32", 2)]
    with pytest.raises(InputError, match=r"parameter 'n' is tensor<i64>, its value 3\.5; help: "):
        relay.build_module.bind_params_by_name(function, {"n": 3.5})
