"""Assumptions of Relay programs: parameters by name, unset inputs, identities of variables."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay import relay
from xrelay.contrib import graph_executor
from xrelay.errors import InputError

X, W = relay.var("x", shape=(2, 4)), relay.var("w", shape=(3, 4))
DATA, WEIGHT = np.full((2, 4), 2, np.float32), np.arange(12, dtype=np.float64).reshape(3, 4)
equal = xrelay.ir.structural_equal


def test_parameters_may_be_more_than_there_are_and_of_other_floats() -> None:
    lib = relay.build(relay.IRModule.from_expr(relay.nn.dense(X, W)), params={"w": WEIGHT, "other": WEIGHT})
    module = graph_executor.GraphModule(lib["default"](xrelay.cpu(0)))
    module.set_input("x", DATA, other=WEIGHT)
    module.run()
    np.testing.assert_allclose(module.get_output(0).numpy(), DATA @ WEIGHT.T, rtol=1e-6)
    bound = relay.build_module.bind_params_by_name(relay.Function([X, W], relay.nn.dense(X, W)), {"w": WEIGHT})
    assert bound.body.args[1].data.dtype == np.float32


def test_weights_of_other_floats_than_the_data_are_cast() -> None:
    assert relay.const(np.float64(1)).checked_type.dtype == "float32"
    dense = relay.Function([X], relay.nn.dense(X, relay.const(WEIGHT)))
    result = relay.create_executor("graph", mod=relay.IRModule.from_expr(dense)).evaluate()(DATA)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, DATA @ WEIGHT.T, rtol=1e-6)


def test_inputs_that_are_not_set_are_zeros() -> None:
    lib = relay.build(relay.IRModule.from_expr(X + relay.const(1.0)))
    module = graph_executor.GraphModule(lib["default"](xrelay.cpu(0)))
    module.run()
    np.testing.assert_array_equal(module.get_output(0).numpy(), np.ones((2, 4)))
    n = relay.var("n", shape=(relay.Any(), 4))
    module = graph_executor.GraphModule(relay.build(relay.IRModule.from_expr(relay.exp(n)))["default"](xrelay.cpu(0)))
    assert module.get_input("n") is None
    with pytest.raises(InputError, match="input 'n' has not been set; help: call set_input"):
        module.run()


def test_calls_with_several_results_are_tuple_wrappers() -> None:
    parts = relay.split(X, 2, axis=1)
    assert isinstance(parts, relay.expr.TupleWrapper)
    assert (parts.size, parts.astuple()) == (2, parts)
    assert not isinstance(X, relay.expr.TupleWrapper)
    assert not isinstance(relay.Tuple([X]), relay.TupleWrapper)


def test_two_variables_of_one_name() -> None:
    first, second = relay.var("x", shape=(2,)), relay.var("x", shape=(2,))
    module = relay.transform.InferType()(relay.IRModule.from_expr(relay.Function([first, second], first - second)))
    assert [param.name_hint for param in module["main"].params] == ["x", "x"]
    assert xrelay.compile(module).input_names == ["x", "x_1"]
    assert relay.create_executor("vm", module).evaluate()(np.ones(2, np.float32), np.zeros(2, np.float32)).tolist() == [
        1,
        1,
    ]
    with pytest.raises(InputError, match="2 parameters are called 'x'"):
        relay.build(module, params={"x": np.ones(2, np.float32)})


def test_variables_keep_their_identity_through_a_module() -> None:
    module = relay.IRModule.from_expr(relay.Function([X, W], relay.nn.dense(X, W)))
    other = relay.IRModule.from_expr(relay.Function([W, X], relay.nn.dense(X, W)))
    body = module["main"].body
    assert equal(body, module["main"].body)
    assert equal(body, relay.nn.dense(X, W))
    assert equal(body, other["main"].body)
    assert xrelay.ir.structural_hash(body) == xrelay.ir.structural_hash(module["main"].body)
    fresh = relay.nn.dense(relay.var("x", shape=(2, 4)), relay.var("w", shape=(3, 4)))
    assert not equal(body, fresh)
    assert equal(body, fresh, map_free_vars=True)


def test_resize_by_its_older_name() -> None:
    image = relay.var("image", shape=(1, 3, 4, 4))
    found = relay.image.resize(image, (8, 8), method="bicubic", coordinate_transformation_mode="align_corners")
    wanted = relay.image.resize2d(image, size=(8, 8), method="cubic", coordinate_transformation_mode="align_corners")
    assert equal(found, wanted)


def test_operators_describe_themselves() -> None:
    op = relay.op.get("nn.conv2d")
    assert op.description.startswith("Two-dimensional convolution")
    assert "Example" not in op.description
    assert [(argument.name, argument.type_info) for argument in op.arguments] == [
        ("data", "Tensor"),
        ("weight", "Tensor"),
    ]
    assert op.arguments[1].description == "Operand 1 of nn.conv2d: weight."
    assert (op.num_inputs, op.support_level) == (2, 2)


@pytest.mark.parametrize("kind", ["debug", "graph", "vm"])
def test_executors_evaluate_the_module(kind: str) -> None:
    module = relay.IRModule.from_expr(relay.Function([X], X + X))
    evaluate = relay.create_executor(kind, mod=module, device=xrelay.cpu(0), target="llvm").evaluate()
    np.testing.assert_array_equal(evaluate(DATA), DATA + DATA)
