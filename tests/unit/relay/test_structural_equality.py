"""`structural_equal` and `structural_hash`: equality up to the names of variables."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import relay, transform
from xrelay.ir import assert_structural_equal, structural_equal, structural_hash
from xrelay.passes.infra.source import full_context, parse_module


def function(name: str = "x", shape: tuple[int, ...] = (3,), number: float = 2.0) -> relay.Function:
    x, y = relay.var(name, shape=shape), relay.var("y", shape=shape)
    return relay.Function([x, y], relay.nn.relu(x * relay.const(number)) - y)


def agree(lhs: object, rhs: object, map_free_vars: bool = False) -> bool:
    """Whether both are equal; checks symmetry and hashes, for which collisions are negligible."""
    equal = structural_equal(lhs, rhs, map_free_vars)
    assert structural_equal(rhs, lhs, map_free_vars) == equal
    assert (structural_hash(lhs, map_free_vars) == structural_hash(rhs, map_free_vars)) == equal
    return equal


def test_names_do_not_count() -> None:
    assert agree(function("x"), function("a"))
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
    assert not agree(function(), other)
    with pytest.raises(ValueError, match="the programs differ:"):
        assert_structural_equal(function(), other)


def test_the_order_of_parameters_counts() -> None:
    f, g = function(), function()
    assert agree(f, g)
    assert not agree(f, relay.Function(g.params[::-1], g.body))


def test_types_that_inference_finds_do_not_count() -> None:
    typed = transform.InferType()(xrelay.IRModule.from_expr(function()))
    assert agree(typed, xrelay.IRModule.from_expr(function("z")))
    assert agree(typed["main"], xrelay.IRModule.from_expr(function("z"))["main"])


def test_free_variables() -> None:
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    assert agree(x + x, x + x)
    assert not agree(x + x, y + y)
    assert agree(x + x, y + y, map_free_vars=True)
    assert not agree(x + x, x + y, map_free_vars=True)
    assert not agree(x + y, x + x, map_free_vars=True)
    assert not agree(x, relay.Function([x], x))


def test_closures_and_modules() -> None:
    def module(name: str) -> xrelay.IRModule:
        x, z = relay.var(name, shape=(2,)), relay.var("z", shape=(2,))
        made = xrelay.IRModule({"f": relay.Function([x], relay.Function([z], z * x)(relay.exp(x)))})
        made["main"] = relay.Function([z], made.get_global_var("f")(z))
        return made

    assert agree(module("x"), module("w"))
    less = module("x")
    less.remove("f")
    assert not agree(module("x"), less)


def test_what_closures_bind() -> None:
    def nested(pick: int) -> relay.Expr:
        x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
        return relay.Function([x], relay.Function([y], relay.exp((x, y)[pick]))(x))

    assert agree(nested(0), nested(0))
    assert not agree(nested(0), nested(1))


def bindings(names: tuple[str, str], swapped: bool = False) -> relay.Function:
    """Two parameters, each doubled in a binding, in either order, and the difference."""
    params = [relay.var("p", shape=(2,)), relay.var("q", shape=(2,))]
    scope, bound = relay.ScopeBuilder(), dict[str, relay.Expr]()
    for name, param in list(zip(names, params, strict=True))[:: -1 if swapped else 1]:
        bound[name] = scope.let(name, param + param)
    scope.ret(bound[names[0]] - bound[names[1]])
    return relay.Function(params, scope.get())


@pytest.mark.parametrize("wrapped", [False, True])
def test_bindings(wrapped: bool) -> None:
    def within(function: relay.Function) -> object:
        return relay.Tuple([function]) if wrapped else function

    assert agree(within(bindings(("a", "b"))), within(bindings(("b", "a"))))
    assert not agree(within(bindings(("a", "b"))), within(bindings(("a", "b"), swapped=True)))


def test_what_is_shared() -> None:
    x = relay.var("x", shape=(2,))
    y = relay.exp(x)
    assert not agree(y + y, relay.exp(x) + y)
    pair = relay.split(x, 2)
    first = pair[0]
    assert agree(first + first, relay.TupleGetItem(pair, 0) + first)
    one = relay.const(1.0)
    assert agree(x + one + one, x + relay.const(1.0) + one)


def declaration(extent: int) -> ModuleOp:
    """A module with a function without a body."""
    text = f"func.func private @f(tensor<{extent}xf32>) -> tensor<2xf32>"
    return parse_module(full_context(), text, "a test")


def test_functions_of_modules() -> None:
    one, other = (xrelay.IRModule.from_expr(function(name)) for name in ("x", "a"))
    assert agree(one.body.block.first_op, other.body.block.first_op)
    assert agree(declaration(2), declaration(2))
    assert not agree(declaration(2), declaration(3))


def test_what_consists_of_programs() -> None:
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    assert agree([x + x, {"a": x}], (y + y, {"a": y}), map_free_vars=True)
    assert not agree([x + x, {"a": x}], (y + y, {"a": x}), map_free_vars=True)
    assert agree(np.ones(3), np.ones(3))
    assert not agree(np.ones(3), np.ones((3, 1)))
    attributes = [relay.nn.softmax(x, axis=axis).attrs for axis in (0, 0, -1)]
    assert agree(attributes[0], attributes[1])
    assert not agree(attributes[0], attributes[2])
    assert agree(relay.op.get("add"), relay.op.get("add"))
    assert not agree(relay.op.get("add"), relay.op.get("take"))


def test_programs_as_keys() -> None:
    found = {structural_hash(function(name, number=number)) for name in "xyz" for number in (1.0, 2.0)}
    assert len(found) == 2


def test_deep_programs() -> None:
    def deep() -> relay.Function:
        x = y = relay.var("x", shape=(2,))
        for _ in range(1_500):
            y = relay.exp(y)
        return relay.Function([x], y)

    assert agree(deep(), deep())


def test_types_and_constants() -> None:
    assert agree(relay.TensorType((2,), "float32"), relay.TensorType((2,), "float32"))
    assert not agree(relay.TensorType((2,), "float32"), relay.TensorType((2,), "int32"))
    assert agree(relay.const(np.ones(3)), relay.const(np.ones(3)))
    assert not agree(relay.const(np.ones(3)), relay.const(np.zeros(3)))


def several(by_tuple: bool, swapped: bool = False) -> xrelay.IRModule:
    """`@pair` has two results, and @main adds them: as results of the call, or as fields of Relay's tuple."""
    x = relay.var("x", shape=(2,))
    made = xrelay.IRModule({"pair": relay.Function([x], relay.Tuple([x, relay.exp(x)]))})
    call = made.get_global_var("pair")(x)
    assert isinstance(call, relay.Tuple)
    first, second = (relay.TupleGetItem(call, index) if by_tuple else call.fields[index] for index in (0, 1))
    made["main"] = relay.Function([x], second - first if swapped else first - second)
    return made


def test_results_of_a_call_are_fields_of_its_tuple() -> None:
    assert agree(several(True), several(False))
    assert not agree(several(True), several(False, swapped=True))


def test_a_fused_group_is_the_call_of_a_primitive_function() -> None:
    def net(fused: bool, attribute: str = "Primitive", number: float = 2.0) -> xrelay.IRModule:
        x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
        p, q = relay.var("p", shape=(2,)), relay.var("q", shape=(2,))
        (a, b) = (x, y) if fused else (p, q)
        body = relay.exp(a) * relay.const(number) - b
        made = body if fused else relay.Function([p, q], body).with_attr(attribute, 1)(x, y)
        return xrelay.IRModule.from_expr(relay.Function([x, y], made))

    grouped = transform.FuseOps(2)(net(fused=True))
    assert "relay.fused" in str(grouped)
    assert agree(grouped, net(fused=False))
    assert not agree(grouped, net(fused=False, attribute="Composite"))
    assert not agree(grouped, net(fused=False, number=3.0))


def test_whether_other_modules_see_a_function_does_not_count() -> None:
    def double(visibility: str) -> ModuleOp:
        text = f"func.func {visibility} @f(%x: tensor<2xf32>) -> tensor<2xf32> {{ func.return %x : tensor<2xf32> }}"
        return parse_module(full_context(), text, "a test")

    assert agree(double("private"), double(""))


def test_attributes_that_a_float_of_32_bits_does_not_tell_apart() -> None:
    def net(slope: float) -> relay.Expr:
        return relay.nn.leaky_relu(relay.var("x", shape=(2,)), alpha=slope)

    assert agree(net(1e-5), net(float(np.float32(1e-5))), map_free_vars=True)
    assert not agree(net(1e-5), net(1.000001e-5), map_free_vars=True)
