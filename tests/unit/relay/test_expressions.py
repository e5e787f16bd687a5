"""Expressions by kind, modules of several functions, visitors and mutators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects.func import CallOp

import xrelay
from xrelay import relay, transform
from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.dialects.relay.ops.tensor.unary import ExpOp
from xrelay.errors import InputError, XRelayError
from xrelay.index_algebra.dims import symbol
from xrelay.interpreters.relay import run_relay
from xrelay.relay.nodes import NoAttributeError
from xrelay.relay.visitor import call_with

X = relay.var("x", shape=(4,))
C = relay.var("c", shape=(), dtype="bool")
VALUES = np.array([-2, -1, 1, 3], np.float32)


def value_of(expr: relay.Expr, *inputs: np.ndarray) -> np.ndarray:
    return run_relay(transform.InferType()(relay.IRModule.from_expr(expr)), list(inputs))[0]


def test_a_function_of_the_module_as_a_value_is_a_closure_that_calls_it() -> None:
    mod = relay.IRModule({"up": relay.Function([X], relay.exp(X)), "down": relay.Function([X], relay.negative(X))})
    chosen = relay.If(C, mod.get_global_var("up"), mod.get_global_var("down"))
    mod["main"] = relay.Function([X, C], relay.invoke(chosen, X))
    assert str(mod).count("relay.fn(") == 2
    assert str(mod).count("func.call @up(%x0)") == 1
    for choice, expected in ((True, np.exp(VALUES)), (False, -VALUES)):
        (found,) = run_relay(transform.InferType()(mod), [VALUES, np.array(choice)])
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        (native,) = xrelay.compile(mod, cache=False, threads=1).run([VALUES, np.array(choice)])
        np.testing.assert_allclose(native, expected, rtol=1e-6)


def test_calls_have_an_operator_arguments_and_attributes() -> None:
    data = relay.var("data", shape=(1, 3, 8, 8))
    conv = relay.nn.conv2d(data, relay.const(np.ones((4, 3, 3, 3), np.float32)), strides=(2, 2), padding=1)
    assert isinstance(conv, relay.Call)
    assert conv.op == relay.op.get("nn.conv2d")
    assert conv.op.name == "nn.conv2d"
    assert conv.args[0] == data
    assert conv.args[0].same_as(data)
    assert isinstance(conv.args[1], relay.Constant)
    assert conv.args[1].data.shape == (4, 3, 3, 3)
    assert conv.attrs.strides == [2, 2]
    assert dict(conv.attrs)["padding"] == [1, 1, 1, 1]
    assert conv.attrs["data_layout"] == "NCHW"
    assert conv.attrs.channels is None
    assert not hasattr(conv.attrs, "stride")
    with pytest.raises(NoAttributeError, match="did you mean 'strides'"):
        _ = conv.attrs.stride
    again = relay.Call(conv.op, conv.args, dict(conv.attrs))
    assert str(again) == str(conv)
    assert str(conv.checked_type) == "tensor<1x4x4x4xf32>"
    with pytest.raises(InputError, match="inference has not completed"):
        _ = relay.exp(relay.var("untyped")).checked_type


def test_attributes_of_every_kind_are_python_values() -> None:
    assert relay.clip(X, 0, 6).attrs.a_max == 6.0
    assert relay.cast(X, "int8").attrs.dtype == "int8"
    assert relay.sum(X, [0], keepdims=True).attrs.keepdims is True
    assert relay.transpose(relay.var("m", shape=(2, 3)), (1, 0)).attrs.axes == [1, 0]


def test_no_name_of_the_builder_hides_an_operator() -> None:
    hidden = [name for name in relay_ops() if "." not in name and getattr(relay, name).__qualname__ != name]
    assert hidden == []


def test_tuples_fields_branches_and_constants() -> None:
    pair = relay.Tuple([relay.exp(X), X])
    assert [type(field) for field in pair.fields] == [relay.Call, relay.Var]
    first = relay.TupleGetItem(pair, 0)
    assert (first.tuple_value, first.index) == (pair, 0)
    branch = relay.If(C, first, X)
    assert (branch.cond, branch.true_branch, branch.false_branch) == (C, first, X)
    assert relay.Constant(2.5).data == np.float32(2.5)
    with pytest.raises(ValueError, match="read-only"):
        relay.Constant([1, 2]).data[0] = 3
    copy = relay.Constant([1, 2]).data.numpy()
    copy[0] = 3
    assert (type(copy), copy.tolist()) == (np.ndarray, [3, 2])


def test_a_program_is_what_printing_an_expression_shows() -> None:
    lines = str(relay.exp(X) + X).splitlines()
    assert lines[0].startswith("func.func @main(%x: tensor<4xf32>")
    assert lines[2].strip().startswith("%1 = relay.add(%0, %x)")
    assert relay.astext(X + X) == str(X + X)
    assert str(X) == "x : tensor<4xf32>"


def test_let_binds_in_its_body() -> None:
    v, w = relay.var("v"), relay.var("w")
    inner = relay.Let(w, v + v, w * w)
    whole = relay.Let(v, relay.exp(X), inner)
    assert (whole.var, whole.body) == (v, inner)
    assert whole.value.op.name == "exp"
    assert relay.analysis.free_vars(whole) == [X]
    assert relay.analysis.bound_vars(whole) == [v, w]
    assert {var.name for var in relay.analysis.all_vars(whole)} == {"v", "w", "x"}
    text = str(relay.Function([X], whole))
    assert text.index('relay.let "v"') < text.index('relay.let "w"') < text.index("relay.multiply")
    np.testing.assert_allclose(value_of(whole, VALUES), (2 * np.exp(VALUES)) ** 2, rtol=1e-5)


def test_a_let_bound_closure_calls_itself() -> None:
    """`let f = fn (n) { if n < 1 then 0 else n + f(n - 1) }; f(x)`."""
    f, n, x = relay.var("f"), relay.var("n", shape=()), relay.var("k", shape=())
    body = relay.If(n < 1.0, relay.const(0.0), n + relay.Call(f, [n - 1.0]))
    summed = relay.Let(f, relay.Function([n], body, relay.TensorType(())), relay.Call(f, [x]))
    assert relay.analysis.free_vars(summed) == [x]
    assert value_of(summed, np.float32(4)) == 10


def test_functions_call_each_other_and_themselves() -> None:
    n = relay.var("n", shape=())
    mod = relay.IRModule()
    f = relay.GlobalVar("f")
    mod["f"] = relay.Function([n], relay.If(relay.equal(n, relay.const(1.0)), n, f(n - 1.0) + f(n - 1.0)))
    assert mod.get_global_var("f") == f
    x = relay.var("x", shape=())
    mod["main"] = relay.Function([x], mod.get_global_var("f")(x))
    assert run_relay(mod, [np.float32(4)])[0] == 8
    assert [str(gv) for gv in mod.get_global_vars()] == ["@f", "@main"]
    assert set(mod.functions) == {relay.GlobalVar("main"), f}
    call = mod["main"].body
    assert isinstance(call, relay.Call)
    assert call.op == f
    assert "f" in mod
    assert f in mod
    assert relay.GlobalVar("g") not in mod


def test_a_call_of_a_function_of_several_results_is_a_tuple() -> None:
    mod = relay.IRModule({"parts": relay.Function([X], relay.Tuple([X + X, relay.exp(X)]))})
    doubled, _ = mod.get_global_var("parts")(X)
    mod["main"] = relay.Function([X], doubled)
    np.testing.assert_array_equal(run_relay(mod, [VALUES])[0], VALUES * 2)


def test_branches_may_differ_in_an_open_extent() -> None:
    x = relay.var("x", shape=("n", 6))
    is_five = relay.equal(relay.take(relay.shape_of(x), relay.const(0)), relay.const(5, "int64"))
    chosen = relay.If(is_five, relay.reshape(x, (5, 6)), relay.tanh(x))
    module = transform.InferType()(relay.IRModule.from_expr(relay.Function([x], chosen)))
    for count in (5, 7):
        data = np.ones((count, 6), np.float32)
        np.testing.assert_allclose(run_relay(module, [data])[0], data if count == 5 else np.tanh(data), rtol=1e-6)


def test_a_call_has_as_many_results_as_the_function_that_comes_later() -> None:
    image, vectors = relay.var("x", shape=(1, 2, 4, 4)), [relay.var(name) for name in "abcd"]
    scaled = relay.nn.batch_norm(image, *vectors)
    pair = relay.GlobalVar("pair")
    for first in (True, False):
        module = relay.IRModule()
        y, rest = relay.var("y", shape=(1, 2, 4, 4)), [relay.var(name) for name in "efgh"]
        called = pair(y, *rest)
        functions = {
            pair: relay.Function([image, *vectors], relay.Tuple([relay.nn.relu(scaled[0]), scaled[1]])),
            "main": relay.Function([y, *rest], relay.add(relay.TupleGetItem(called, 0), relay.const(1.0))),
        }
        for name in functions if first else reversed(functions):
            module[name] = functions[name]
        text = str(transform.InferType()(module))
        assert "= func.call @pair(%y, %e, %f, %g, %h)" in text
        assert "-> (tensor<1x2x4x4xf32>, tensor<2xf32>)" in text
        pair = relay.GlobalVar("pair")


def test_calls_of_what_a_let_without_a_type_binds_are_typed() -> None:
    v = relay.var("v")
    mod = relay.IRModule({"double": relay.Function([X], X + X)})
    mod["main"] = relay.Function([X], relay.Let(v, relay.exp(X), mod.get_global_var("double")(v * v)))
    mod.verify()
    np.testing.assert_allclose(run_relay(mod, [VALUES])[0], 2 * np.exp(VALUES) ** 2, rtol=1e-5)


def test_modules_are_updated() -> None:
    mod = relay.IRModule.from_expr(relay.exp(X), {"other": relay.Function([X], X + X)})
    mod.update(relay.IRModule({"other": relay.Function([X], X * X), "third": relay.Function([X], -X)}))
    assert [str(gv) for gv in mod.get_global_vars()] == ["@other", "@main", "@third"]
    assert "relay.multiply" in str(mod["other"])
    mod.remove("third")
    mod.update_func(mod.get_global_var("main"), relay.Function([X], X))
    assert isinstance(mod["main"].body, relay.Var)
    assert mod.astext() == str(mod)
    copy = relay.IRModule.of(mod)
    assert str(copy) == str(mod)
    assert copy is not mod
    typed = transform.InferType()(mod)
    assert isinstance(typed, relay.IRModule)


def test_lifted_functions_are_the_same_program() -> None:
    hidden = relay.nn.relu(X)
    whole = relay.If(C, relay.Let(relay.var("v"), hidden, hidden + hidden), relay.exp(X))
    before = relay.IRModule.from_expr(relay.Function([C, X], whole))
    for passes in ([], [transform.ToANormalForm()], [transform.ToBasicBlockNormalForm()], [transform.FuseOps()]):
        module = transform.Sequential([transform.InferType(), *passes])(before)
        again = relay.IRModule.from_expr(module["main"])
        assert str(again["main"]) == str(module["main"])
        for chosen in (True, False):
            inputs = [np.array(chosen), VALUES]
            np.testing.assert_array_equal(run_relay(again, inputs)[0], run_relay(before, inputs)[0])


def test_a_result_that_is_a_tuple_stays_one_result() -> None:
    text = """
    func.func @main(%x: tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>> {
      %t = relay.tuple(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
      func.return %t : tuple<tensor<2xf32>, tensor<2xf32>>
    }"""
    function = relay.IRModule.of(xrelay.parse(text))["main"]
    for kept in (function, function.with_parts(function.params, function.body), function.with_attr("mark", 1)):
        assert [str(type) for type in kept.to_func().function_type.outputs] == ["tuple<tensor<2xf32>, tensor<2xf32>>"]
    written = relay.Function(function.params, function.body)
    assert [str(type) for type in written.to_func().function_type.outputs] == ["tensor<2xf32>", "tensor<2xf32>"]


def test_names_of_inputs_and_outputs_survive() -> None:
    mod = relay.IRModule.from_expr(relay.Function([relay.var("0:x", shape=(2,))], relay.const(1.0)))
    assert 'relay.name = "0:x"' in str(mod["main"])
    assert mod["main"].params[0].name == "0:x"


class _Doubled(relay.ExprMutator):
    """Doubles constants."""

    def visit_constant(self, const: relay.Constant) -> relay.Expr:
        return const + const


def test_a_mutator_changes_every_kind_of_expression() -> None:
    one = relay.const(1.0)
    n, v = relay.var("n", shape=()), relay.var("v")
    inner = relay.Function([n], n + one)
    whole = relay.If(relay.const(True), relay.Let(v, inner(one), v), relay.Tuple([one, one])[1])
    func = relay.Function([], whole)

    class Mutator(_Doubled):
        def visit_constant(self, const: relay.Constant) -> relay.Expr:
            return const if const.dtype == bool else super().visit_constant(const)

    changed = Mutator().visit(func)
    assert run_relay(transform.InferType()(relay.IRModule.from_expr(changed)), [])[0] == 4
    assert run_relay(transform.InferType()(relay.IRModule.from_expr(func)), [])[0] == 2
    assert relay.ExprMutator().visit(func) is func


def test_a_mutator_enters_fused_groups_and_keeps_their_marks() -> None:
    fused = transform.FuseOps()(relay.IRModule.from_expr(relay.exp(X + 1.0)))
    changed = transform.function_pass(lambda func, mod, ctx: _Doubled().visit(func), opt_level=0, name="double")(fused)
    assert 'pattern = "kElemWise"' in str(changed)
    np.testing.assert_allclose(run_relay(changed, [VALUES])[0], np.exp(VALUES + 2), rtol=1e-6)


def test_types_follow_what_a_mutator_changes() -> None:
    class Wider(relay.ExprMutator):
        def visit_var(self, var: relay.Var) -> relay.Expr:
            return relay.var(var.name, shape=(8,))

    widened = Wider().visit(relay.Function([X], relay.exp(X) + X))
    assert str(widened.checked_type) == "(tensor<8xf32>) -> tensor<8xf32>"


def test_visitors_see_parts_before_the_whole_and_each_once() -> None:
    seen: list[str] = []

    class Names(relay.ExprVisitor):
        def visit_call(self, call: relay.Call) -> None:
            super().visit_call(call)
            seen.append(call.op.name)

    shared = relay.exp(X)
    Names().visit(relay.Function([X], relay.Tuple([shared + shared, relay.nn.relu(shared)])))
    assert seen == ["exp", "add", "nn.relu"]


def test_a_call_that_is_built_anew_keeps_its_attributes_and_which_result_it_is() -> None:
    pair = relay.Function([X], relay.Tuple([relay.exp(X), relay.tanh(X)])).to_func("pair")
    func = relay.Function([X], X).to_func("main")
    made = CallOp("pair", [func.args[0]], list(pair.function_type.outputs))
    end = func.body.block.last_op
    assert end is not None
    func.body.block.insert_op_before(made, end)
    end.operands = [made.results[1]]
    mod = relay.IRModule({"pair": pair, "main": func})

    class Twice(relay.ExprMutator):
        def visit_call(self, call: relay.Call) -> relay.Expr:
            return call_with(call, call.op, [relay.nn.relu(call.args[0])])

    mod["main"] = Twice().visit(mod["main"])
    (found,) = run_relay(mod, [VALUES])
    np.testing.assert_allclose(found, np.tanh(np.maximum(VALUES, 0)), rtol=1e-6)
    tagged = relay.Call(relay.Function([X], relay.exp(X)), [X], {"tag": "t"})
    again = call_with(tagged, tagged.op, [relay.nn.relu(X)])
    assert isinstance(again, relay.Call)
    assert again.attrs is not None
    assert again.attrs["tag"] == "t"


def test_a_mutator_keeps_functions_that_call_themselves() -> None:
    power, x, n = relay.var("power"), relay.var("x", shape=()), relay.var("n", shape=(), dtype="int32")
    again = power(relay.exp(x), n - relay.const(1))
    body = relay.If(n < relay.const(1), x, again)
    function = relay.Function([x, n], body, ret_type=relay.TensorType((), "float32"))
    start = relay.var("start", shape=())

    class Tanh(relay.ExprMutator):
        def visit_call(self, call: relay.Call) -> relay.Expr:
            made = super().visit_call(call)
            return relay.tanh(made.args[0]) if call.op == relay.op.get("exp") else made

    made = Tanh().visit(relay.Let(power, function, power(start, relay.const(2))))
    assert relay.analysis.free_vars(made) == [start]
    np.testing.assert_allclose(value_of(made, np.float32(0.5)), np.tanh(np.tanh(0.5)), rtol=1e-6)


def test_a_functor_has_methods_for_what_it_meets() -> None:
    class Size(relay.ExprFunctor):
        def visit_var(self, var: relay.Var) -> int:
            return 1

        def visit_call(self, call: relay.Call) -> int:
            return 1 + sum(self.visit(arg) for arg in call.args)

    shared = relay.exp(X)
    assert Size().visit(shared + shared) == 5
    kinds = {
        "constant": relay.const(1.0), "tuple": relay.Tuple([X]), "tuple_getitem": relay.split(X, 2)[0],
        "if": relay.If(relay.var("c", shape=(), dtype="bool"), X, X), "let": relay.Let(relay.var("v"), X, X),
        "function": relay.Function([X], X), "global_var": relay.GlobalVar("f"), "op": relay.op.get("exp"),
    }  # fmt: skip
    for kind, expr in kinds.items():
        with pytest.raises(NotImplementedError, match=f"Size has no method visit_{kind}; help: define it"):
            Size().visit(expr)
    for name in ("var", "call"):
        with pytest.raises(NotImplementedError, match=f"ExprFunctor has no method visit_{name}"):
            relay.ExprFunctor().visit(X if name == "var" else relay.zeros((), "float32"))


@pytest.mark.parametrize("visitor", [relay.ExprVisitor, relay.ExprMutator, _Doubled])
def test_nothing_recurses_over_the_depth_of_a_graph(visitor: type[relay.ExprFunctor]) -> None:
    chain: relay.Expr = X
    one = relay.const(1.0)
    for _ in range(2000):
        chain = chain + one
    func = relay.Function([X], chain)
    assert visitor().visit(func) is None or relay.analysis.well_formed(func)


def test_nothing_recurses_over_the_depth_of_lets() -> None:
    lets: relay.Expr = X
    for number in range(1500):
        v = relay.var(f"v{number}")
        lets = relay.Let(v, lets + 1.0, v)
    assert str(relay.Function([X], lets)).count("relay.let") == 1500
    assert len(relay.analysis.free_vars(relay.ExprMutator().visit(lets))) == 1


def test_nested_lets_of_a_long_form_keep_their_order() -> None:
    body: relay.Expr = X
    variables = [relay.var(f"v{number}", shape=(4,)) for number in range(1200)]
    body = variables[-1]
    for number in reversed(range(1200)):
        before = variables[number - 1] if number else X
        body = relay.Let(variables[number], before + 1.0, body)
    func = relay.Function([X], body)
    assert relay.analysis.well_formed(func)
    text = str(func)
    assert text.count("relay.let") == 1200
    assert str(relay.IRModule.from_expr(func)["main"]) == text


def test_well_formed() -> None:
    v = relay.var("v")
    assert relay.analysis.well_formed(relay.Function([X], X + X))
    assert not relay.analysis.well_formed(relay.Function([], X))
    assert not relay.analysis.well_formed(relay.Tuple([relay.Let(v, X, v), relay.Let(v, X + X, v)]))


def test_post_order_visit() -> None:
    seen: list[relay.Expr] = []
    whole = relay.exp(X) + X
    relay.analysis.post_order_visit(whole, seen.append)
    assert seen == [X, relay.Call.of_value(whole.args[0].ssa_value), whole]


def test_scopes_written_line_by_line() -> None:
    sb = relay.ScopeBuilder()
    y = sb.let("y", relay.exp(X))
    with sb.if_scope(C):
        z = sb.let("z", y + y)
        sb.ret(z * z)
    with sb.else_scope():
        sb.ret(y)
    func = relay.Function([C, X], sb.get())
    for chosen, expected in ((True, 4 * np.exp(VALUES) ** 2), (False, np.exp(VALUES))):
        module = transform.InferType()(relay.IRModule.from_expr(func))
        np.testing.assert_allclose(run_relay(module, [np.array(chosen), VALUES])[0], expected, rtol=1e-5)


def _unfinished_scope() -> object:
    sb = relay.ScopeBuilder()
    sb.let("v", X)
    return sb.get()


def _bind_behind_the_end() -> object:
    sb = relay.ScopeBuilder()
    sb.ret(X)
    return sb.let("v", X)


def _else_alone() -> object:
    with relay.ScopeBuilder().else_scope():
        return None


MODULE = relay.IRModule.from_expr(relay.Function([X], X))
MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "no such function": (lambda: MODULE["mian"], "has no function @mian; help: did you mean 'main'"),
    "no such global": (lambda: MODULE.get_global_var("f"), "no function @f"),
    "no function": (lambda: relay.IRModule({"f": 3}), "@f is an int, not a function"),  # pyright: ignore
    "global as a value": (lambda: relay.exp(relay.GlobalVar("f")), "@f can be called, but is not a value"),
    "let of an expression": (lambda: relay.Let(relay.exp(X), X, X), "a let binds a variable"),  # pyright: ignore
    "let of another type": (lambda: relay.Let(X, relay.const(1.0), X), "let 'x' is tensor<4xf32>, its value"),
    "attributes of a call": (lambda: relay.Call(relay.GlobalVar("f"), [X], {"a": object()}), "attribute 'a' cannot be"),
    "no callee": (lambda: relay.Call("exp", [X]), r"'exp' cannot be called.*relay\.op\.get"),
    "type parameters": (lambda: relay.Function([X], X, None, [1]), "no type parameters"),
    "type variable": (lambda: relay.TypeVar("t"), "type variables such as 't' are not supported"),
    "polymorphic type": (lambda: relay.FuncType([], X.type, ["t"]), "no type parameters"),
    "visit of a number": (lambda: relay.ExprVisitor().visit(3), "an int is not an expression"),
    "mutator without a result": (
        lambda: type("M", (relay.ExprMutator,), {"visit_var": lambda self, v: None})().visit(X),
        "M returned None for x",
    ),
    "attribute": (lambda: relay.Function([X], X).with_attr("a.b", object()), "'a.b' cannot be"),  # pyright: ignore
    "visit of a module": (lambda: relay.ExprVisitor().visit(MODULE), "an IRModule is not an expression"),
    "scope without an end": (_unfinished_scope, "a scope has no result: ret is missing"),
    "binding behind the end": (_bind_behind_the_end, "the scope has a result already"),
    "else without if": (_else_alone, "else_scope without if_scope"),
    "unknown operator": (lambda: relay.op.get("nn.conv9d"), "'nn.conv9d'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_in_one_line(mistake: str) -> None:
    make, words = MISTAKES[mistake]
    with pytest.raises(XRelayError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_functions_keep_their_attributes() -> None:
    func = relay.Function([X], X, attrs={"acme.mark": 3}).with_attr("acme.name", "n")
    text = str(relay.IRModule.from_expr(func))
    assert 'attributes {acme.mark = 3 : i64, acme.name = "n"}' in text
    assert str(relay.ExprMutator().visit(relay.IRModule.from_expr(func)["main"])) == str(func)


def test_what_replaces_an_op_may_bind_names() -> None:
    def doubled(old: relay.Expr) -> relay.Expr:
        v = relay.var("v")
        return relay.Let(v, old + 1.0, v * v)

    twice = transform.function_pass(
        lambda func, mod, ctx: transform.replace_each(func, ExpOp, doubled), opt_level=0, name="doubled"
    )
    module = twice(relay.IRModule.from_expr(relay.exp(X)))
    assert str(module).count("relay.let") == 1
    np.testing.assert_allclose(run_relay(module, [VALUES])[0], (np.exp(VALUES) + 1) ** 2, rtol=1e-5)


def test_any_expression_that_is_a_function_can_be_called() -> None:
    x = relay.var("x", shape=(2,))
    f = relay.var("f")
    program = relay.Let(f, relay.Function([x], relay.exp(x)), f(relay.const(np.zeros(2, np.float32))))
    module = relay.IRModule.from_expr(relay.Function([], program))
    np.testing.assert_array_equal(xrelay.compile(module, cache=False).run([])[0], np.ones(2, np.float32))
    with pytest.raises(InputError, match="has type tensor<2xf32>, not that of a function"):
        x(x)


def test_update_func_adds_what_is_not_there() -> None:
    module = relay.IRModule.from_expr(relay.Function([X], X))
    module.update_func("second", relay.Function([X], X))
    assert sorted(str(var) for var in module.get_global_vars()) == ["@main", "@second"]


def test_a_function_with_named_dimensions_is_called_at_any_size() -> None:
    n, m = symbol("n"), symbol("m")
    rows = relay.var("rows", shape=(n, 2))
    mod = relay.IRModule({"f": relay.Function([rows], relay.concatenate([rows, rows], axis=0))})
    f = mod.get_global_var("f")
    x, y = relay.var("x", shape=(m, 2)), relay.var("y", shape=(3, 2))
    mod["main"] = relay.Function([x, y], relay.Tuple([f(x), f(y)]))
    assert "relay.call @f<n = m>" in str(mod)
    first, second = run_relay(mod, [np.zeros((5, 2), np.float32), np.zeros((3, 2), np.float32)])
    assert (first.shape, second.shape) == ((10, 2), (6, 2))
    call = mod["main"].body.fields[1]
    assert isinstance(call, relay.Call)
    assert call.op == f
    assert [arg.type for arg in call.args] == [relay.TensorType((3, 2))]


def test_a_call_with_other_arguments_has_the_names_that_these_say() -> None:
    v = relay.var("v", shape=(symbol("n"),))
    mod = relay.IRModule({"f": relay.Function([v], relay.exp(v))})
    mod["main"] = relay.Function([X], mod.get_global_var("f")(X))
    longer = relay.var("longer", shape=(7,))
    call = mod["main"].body
    assert isinstance(call, relay.Call)
    mod["main"] = relay.Function([longer], call_with(call, call.op, [longer]))
    assert "relay.call @f<n = 7>" in str(mod)
    assert run_relay(mod, [np.zeros(7, np.float32)])[0].tolist() == [1] * 7


MACS = {
    "conv2d": (lambda x: relay.nn.conv2d(x, relay.var("w", shape=(8, 4, 3, 3)), padding=1), 8 * 6 * 6 * 4 * 9),
    "grouped": (lambda x: relay.nn.conv2d(x, relay.var("w", shape=(8, 2, 3, 3)), groups=2), 8 * 4 * 4 * 2 * 9),
    "transposed": (lambda x: relay.nn.conv2d_transpose(x, relay.var("w", shape=(4, 2, 2, 2))), 2 * 7 * 7 * 4 * 4),
    "dense": (lambda x: relay.nn.dense(relay.nn.batch_flatten(x), relay.var("w", shape=(10, 144))), 10 * 144),
    "matmul": (lambda x: relay.nn.matmul(x, relay.var("w", shape=(6, 5)), transpose_a=True), 4 * 6 * 5 * 6),
    "two": (lambda x: relay.nn.relu(relay.nn.batch_matmul(y := relay.reshape(x, (4, 6, 6)), y)) + relay.exp(y), 864),
    "none": (lambda x: relay.nn.max_pool2d(relay.exp(x), (2, 2)), 0),
}


@pytest.mark.parametrize("name", MACS)
def test_products_are_counted(name):
    build, count = MACS[name]
    assert relay.analysis.get_total_mac_number(build(relay.var("x", shape=(1, 4, 6, 6)))) == count


def test_products_of_open_extents_have_no_number():
    x, w = relay.var("x", shape=("n", 4)), relay.var("w", shape=(3, 4))
    with pytest.raises(InputError, match=r"relay.nn.dense has 12 \* n products"):
        relay.analysis.get_total_mac_number(relay.Function([x, w], relay.nn.dense(x, w)))
