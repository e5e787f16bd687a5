"""`relay.op.register`: user-defined operators in types, texts, fusion, gradients and native code."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from xdsl.ir import Operation

import xrelay
from xrelay import relay, topi, transform
from xrelay.dialects.relay.core import registry
from xrelay.errors import ConstraintError, InputError
from xrelay.extend.interpreter import evaluates
from xrelay.interpreters.relay import run_relay
from xrelay.passes.infra.source import full_context, parse_module

X, Y = relay.var("x", shape=(2, 3)), relay.var("y", shape=(3,))
DATA = np.arange(6, dtype=np.float32).reshape(2, 3)
ROW = np.float32([1, 2, 3])


@pytest.fixture
def name() -> Iterator[str]:
    """The name of an operator, which is unregistered afterwards."""
    before = set(registry.relay_ops())
    yield "mine.custom_op"
    for added in set(registry._OPS) - before:
        kind: type[Operation] = registry._OPS.pop(added)
        registry.DIALECT_OPS.remove(kind)


def made(name: str, relation: str | None = "Broadcast") -> relay.Op:
    relay.op.register(name, "The sum of two tensors.")
    op = relay.op.get(name)
    op.set_num_inputs(2)
    if relation is not None:
        op.add_type_rel(relation)
    return op


def test_what_is_said_of_it(name: str) -> None:
    op = made(name)
    op.add_argument("data_0", "Tensor", "The first.")
    op.add_argument("data_1", "Tensor", "The second.")
    op.set_support_level(1)
    relay.op.register_pattern(name, relay.op.OpPattern.ELEMWISE)
    relay.op.register_stateful(name, False)
    assert (op.name, op.num_inputs, op.support_level) == (name, 2, 1)
    assert op.get_attr("TOpPattern") == relay.op.OpPattern.ELEMWISE == 0
    assert op.get_attr("TOpIsStateful") is False
    op.set_num_inputs(-1)
    assert op.num_inputs == -1
    assert relay.op.get("nn.conv2d").support_level == 2
    assert [relay.op.get(each).support_level for each in ("exp", "qnn.add", "sort", "nn.mish")] == [1, 11, 6, 10]


def test_it_has_a_type_a_text_and_native_code(name: str) -> None:
    op = made(name)
    relay.op.register_pattern(name, relay.op.OpPattern.BROADCAST)
    relay.op.register_compute(name, lambda attrs, inputs, out_type: [topi.add(*inputs)])
    evaluates(op.kind)(lambda op, lhs, rhs: lhs + rhs)
    call = relay.Call(op, [X, Y])
    assert str(call.checked_type) == "tensor<2x3xf32>"
    module = relay.IRModule.from_expr(relay.Function([X, Y], relay.exp(call)))
    assert f"relay.{name}(%x, %y) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>" in str(module)
    read = parse_module(full_context(), str(module), "text")
    read.verify()
    (found,) = xrelay.compile(module, cache=False).run([DATA, ROW])
    np.testing.assert_allclose(found, np.exp(DATA + ROW), rtol=1e-6)
    np.testing.assert_allclose(run_relay(read, [DATA, ROW])[0], found, rtol=1e-6)
    fused = str(transform.FuseOps(2)(transform.InferType()(module)))
    assert fused.count("relay.fused") == 1


def test_it_is_differentiated_and_legalised(name: str) -> None:
    op = made(name, "Identity")
    relay.op.register_gradient(name, lambda call, gradient: [gradient, gradient * relay.const(2.0)])
    relay.op.register_legalize(name, lambda attrs, inputs, types: relay.add(*inputs))
    function = relay.Function([X], relay.Call(op, [X, X]))
    module = relay.IRModule.from_expr(relay.transform.gradient(function, mode="first_order"))
    forward, gradient = run_relay(transform.Legalize()(transform.InferType()(module)), [DATA])
    np.testing.assert_array_equal(forward, 2 * DATA)
    np.testing.assert_array_equal(gradient, np.full_like(DATA, 3))


def test_relations(name: str) -> None:
    op = made(name, "BroadcastComp")
    assert str(relay.Call(op, [X, Y]).checked_type) == "tensor<2x3xi1>"
    op.add_type_rel("Rows", lambda args, attrs: relay.TensorType((args[0].concrete_shape[0],), args[1].dtype))
    assert str(relay.Call(op, [X, Y]).checked_type) == "tensor<2xf32>"
    op.add_type_rel("Identity")
    with pytest.raises(ConstraintError, match=r"custom_op C2\] operands of types tensor<2x3xf32> and tensor<3xf32>"):
        relay.Call(op, [X, Y])
    with pytest.raises(ConstraintError, match=r"custom_op C1\] it takes 2 operands, found 1"):
        relay.Call(op, [X])
    op.add_type_rel("Nothing", lambda args, attrs: None)
    with pytest.raises(ConstraintError, match=r"custom_op C2\] the type relation returned None"):
        relay.Call(op, [X, Y])
    op.add_type_rel("Wrong", lambda args, attrs: args[7])
    with pytest.raises(ConstraintError, match=r"custom_op C2\] the type relation .*IndexError"):
        relay.Call(op, [X, Y])


def test_what_is_refused(name: str) -> None:
    op = made(name, None)
    with pytest.raises(ConstraintError, match=r"C2\]"):
        relay.Call(op, [X, Y])
    with pytest.raises(InputError, match="'Conv2D'"):
        op.add_type_rel("Conv2D")
    with pytest.raises(InputError, match="exists already"):
        relay.op.register(name)
    with pytest.raises(InputError, match="is not a valid operator name"):
        relay.op.register("my op")
    with pytest.raises(InputError, match="is not a kind of operators"):
        relay.op.register_pattern(name, 5)
    with pytest.raises(InputError, match="cannot be registered"):
        relay.op.register_pattern("nn.conv2d", 0)
    with pytest.raises(InputError, match="has state"):
        relay.op.register_stateful(name, True)
    with pytest.raises(InputError, match=r"nn\.conv2d is declared by its class"):
        relay.op.get("nn.conv2d").set_num_inputs(3)
