"""Arguments, attributes and small methods of the builder with Relay's spellings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import FileLineColLoc, FunctionType, IntAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

import xrelay
from xrelay import relay, transform
from xrelay.contrib import graph_executor
from xrelay.errors import InputError

X = relay.var("x", shape=(2, 3))


@pytest.mark.parametrize(
    ("made", "type"),
    [
        (lambda: relay.var("v", "float32"), relay.TensorType((), "float32")),
        (lambda: relay.var("v", "bool"), relay.TensorType((), "bool")),
        (lambda: relay.var("v", dtype="uint1", shape=(2,)), relay.TensorType((2,), "bool")),
        (lambda: relay.var("v", dtype="float", shape=(2,)), relay.TensorType((2,), "float32")),
        (lambda: relay.var("v", None, (2, 3), "int8"), relay.TensorType((2, 3), "int8")),
        (lambda: relay.var(name_hint="v", type_annotation=relay.TensorType((2,))), relay.TensorType((2,))),
        (lambda: relay.Var(name_hint="v", type_annotation=relay.TensorType((2,))), relay.TensorType((2,))),
    ],
)
def test_variables_are_given_types(made: Any, type: Any) -> None:
    variable = made()
    assert (variable.name_hint, variable.type_annotation) == ("v", type)


def test_dtypes_without_bits_have_32() -> None:
    """Unlike numpy's types of these names, which have 64."""
    assert str(relay.const(1, "int").dtype) == "int32"
    assert str(relay.cast(X, "uint").dtype) == "uint32"
    assert relay.TensorType((2,), "float") == relay.TensorType((2,), "float32")


def test_what_is_no_type_of_a_variable() -> None:
    with pytest.raises(ValueError, match="variable 'v' has both a type and a shape") as caught:
        relay.var("v", "float32", shape=(2,))
    assert isinstance(caught.value, InputError)
    wrong: Any = (2, 3)
    with pytest.raises(InputError, match=r"variable 'v' has the type \(2, 3\), which is not a type; help: "):
        relay.var("v", wrong)
    with pytest.raises(Exception, match="dtype 'float3' has no element type"):
        relay.var("v", "float3")


def test_expressions_are_cast_and_tuples_counted() -> None:
    cast: Any = X.astype("float16")
    assert cast.op.name == "cast"
    assert str(X.astype("bool").dtype) == "bool"
    assert len(relay.split(X, 3, axis=1)) == len(relay.split(X, 3, axis=1).astuple()) == 3
    with pytest.raises(TypeError, match="an expression of type tensor<2x3xf32> has no fields to count"):
        len(X)


def test_tuples_of_operators_are_unpacked_before_their_types_are_known() -> None:
    image = relay.var("image", shape=(1, 4, 6, 6))
    vectors = [relay.var(name) for name in ("gamma", "beta", "mean", "variance")]
    scaled, _, variance = relay.nn.batch_norm(image, *vectors)
    first, second = relay.split(scaled, 2, axis=1)
    cut = relay.split(scaled, (1, 3), axis=1)
    assert len(cut) == 3
    result = relay.Tuple([first - second, cut[-1], variance])
    module = transform.InferType()(relay.IRModule.from_expr(relay.Function([image, *vectors], result)))
    assert "(tensor<1x2x6x6xf32>" in str(module)
    assert "(tensor<1x1x6x6xf32>" not in str(relay.Function([image, *vectors], result))
    with pytest.raises(InputError, match=r"type !relay\.incomplete has no fields to unpack"):
        list(relay.exp(vectors[0]))


def test_functions_are_given_attributes_and_lose_them() -> None:
    function = relay.Function([X], X)
    made = function.with_attr("mark", 1).with_attr({"mark": 2, "note": "n"})
    assert made.attrs == {"mark": 2, "note": "n"}
    assert made.without_attr("mark").without_attr("nothing").attrs == {"note": "n"}
    assert function.attrs == {}
    with pytest.raises(InputError, match="attribute 'mark' has no value; help: "):
        made.with_attr("mark")


def test_the_type_of_a_result_is_what_was_said_or_what_inference_found() -> None:
    function = relay.Function([X], relay.exp(X))
    assert function.ret_type is None
    assert relay.Function([X], relay.exp(X), relay.TensorType((2, 3))).ret_type == relay.TensorType((2, 3))
    both = relay.Function([X], relay.Tuple([X, relay.sum(X)]))
    mod: Any = transform.InferType()(xrelay.IRModule({"main": function, "both": both}))
    assert mod["main"].ret_type == relay.TensorType((2, 3))
    assert mod["both"].ret_type == relay.TupleType([relay.TensorType((2, 3)), relay.TensorType(())])


def test_a_function_is_made_again_of_its_parts() -> None:
    function: Any = relay.Function([X], relay.exp(X)).with_attr("mark", 1)
    again = relay.Function(function.params, function.body, function.ret_type, function.type_params, function.attrs)
    assert xrelay.ir.structural_equal(function, again)
    assert again.attrs == {"mark": 1}


def test_a_call_is_made_again_of_its_parts() -> None:
    call: Any = relay.nn.softmax(X, axis=0)
    call.ssa_value.op.location = FileLineColLoc(StringAttr("net.py"), IntAttr(3), IntAttr(7))
    again = relay.Call(call.op, call.args, call.attrs, call.type_args, call.span)
    assert xrelay.ir.structural_equal(call, again)
    assert again.span == call.span
    assert (X.span, relay.Call(call.op, call.args).span) == (None, relay.exp(X).span)
    with pytest.raises(InputError, match="functions here have no type parameters; help: omit type_args"):
        relay.Call(call.op, call.args, call.attrs, [X.type])


def test_a_function_may_give_an_empty_tuple() -> None:
    mod = xrelay.IRModule.from_expr(relay.Function([X], relay.Tuple([])))
    body: Any = mod["main"].body
    assert body.fields == []
    again = xrelay.IRModule({"main": mod["main"]})
    assert xrelay.ir.structural_equal(mod, again)
    assert relay.create_executor("debug").evaluate(relay.Tuple([])) == []


def test_a_kernel_that_writes_its_results_has_no_expression() -> None:
    size = ConstantOp.from_int_and_width(1, 32)
    kernel = FuncOp("main", FunctionType.from_lists([], []), Region(Block([size, ReturnOp()])))
    with pytest.raises(InputError, match="@main returns nothing; help: only functions on tensors have expressions"):
        relay.Function.of_func(kernel)


def test_variables_that_are_bound_come_in_relays_order() -> None:
    a, b = relay.var("a"), relay.var("b")
    inner = relay.Function([b], relay.Let(a, b, a))
    outer = relay.Function([X], relay.Tuple([inner, X]))
    assert [each.name for each in relay.analysis.bound_vars(outer)] == ["x", "b", "a"]
    assert relay.analysis.bound_vars(inner) == [b, a]


def test_a_result_of_another_type_than_before_takes_it() -> None:
    class Halves(relay.ExprMutator):
        def visit_call(self, call: Any) -> Any:
            return call.args[0].astype("float16")

    mod = xrelay.IRModule.from_expr(relay.Function([X], relay.exp(X)))
    mod["main"] = Halves().visit(mod["main"])
    inferred: Any = transform.InferType()(mod)
    assert inferred["main"].ret_type == relay.TensorType((2, 3), "float16")


def test_modules_are_given_attributes_and_lose_them() -> None:
    mod = xrelay.IRModule.from_expr(relay.exp(X))
    made = mod.with_attr("mark", 1).with_attr({"note": [1, 2]})
    assert (made.get_attr("mark"), made.get_attr("note"), made.get_attr("other")) == (1, [1, 2], None)
    assert (made.attrs, mod.attrs) == ({"mark": 1, "note": [1, 2]}, {})
    assert made.without_attr("mark").without_attr("nothing").attrs == {"note": [1, 2]}
    assert xrelay.IRModule.of(transform.InferType()(made)).attrs == made.attrs
    assert made.same_as(made)
    assert not made.same_as(made.clone())


def test_a_function_pass_of_relay_takes_expressions() -> None:
    @relay.transform.function_pass(opt_level=1, name="Scale")
    class Scale:
        def __init__(self, factor: relay.Expr):
            self.factor = factor

        def transform_function(self, func: Any, mod: Any, ctx: Any) -> Any:
            assert isinstance(func, relay.Function)
            assert isinstance(mod, xrelay.IRModule)
            return relay.Function(func.params, relay.multiply(func.body, self.factor))

    made = Scale(relay.const(np.float32(3)))
    assert isinstance(made, relay.transform.FunctionPass)
    assert relay.transform.FunctionPass is transform.FunctionPass
    scaled = relay.transform.Sequential([made])(ModuleOp([xrelay.IRModule.from_expr(X)["main"].to_func()]))
    (function,) = scaled.ops
    assert [op.name for op in function.regions[0].block.ops] == ["relay.constant", "relay.multiply", "func.return"]
    assert made(xrelay.IRModule.from_expr(relay.exp(X)))["main"].body.args[0].op.name == "exp"


def test_relays_passes_and_ours_have_the_same_names() -> None:
    assert set(dir(relay.transform)) == set(dir(transform))
    assert relay.transform.PassContext is transform.PassContext
    with pytest.raises(AttributeError, match="has no pass 'FoldConstants'; did you mean 'FoldConstant'"):
        _ = relay.transform.FoldConstants


def test_an_expression_is_put_into_a_module_as_a_function() -> None:
    module = relay.IRModule({"double": X + X})
    module["main"] = relay.const(2.0)
    assert [len(module[name].params) for name in ("double", "main")] == [1, 0]
    with pytest.raises(InputError, match="@main is an int, not a function; help: pass"):
        module["main"] = 2  # pyright: ignore


def test_relays_older_places_have_the_same_names() -> None:
    assert (relay.expr.Call, relay.expr.TupleGetItem) == (relay.Call, relay.TupleGetItem)
    with pytest.raises(AttributeError, match="no attribute 'Match'"):
        _ = relay.expr.Match
    assert relay.op.op.get("add") == relay.op.get("add")
    assert (relay.ty.TensorType, relay.build_config) == (relay.TensorType, transform.PassContext)


def test_a_tuple_needs_no_wrapper() -> None:
    left, _, right = relay.TupleWrapper(relay.split(X, 3, axis=1), 3)
    assert isinstance(left + right, relay.Call)
    with pytest.raises(InputError, match="not one of 2 fields"):
        relay.TupleWrapper(relay.split(X, 3, axis=1), 2)


def test_what_is_put_on_a_device_is_itself() -> None:
    assert relay.annotation.on_device(X, xrelay.cpu(0), constrain_result=True) == X
    assert relay.op.annotation.on_device(X, xrelay.cpu(0)) == X


def test_a_library_is_its_own_library_and_graph() -> None:
    lib = relay.build(relay.Function([X], X + X), "llvm")
    assert lib.lib is lib.get_lib() is lib
    graph = graph_executor.create(lib.get_graph_json(), lib.lib, xrelay.cpu(0))
    graph.run(x=np.ones((2, 3), np.float32))
    assert graph.get_output(0).tolist() == [[2, 2, 2]] * 2
    assert lib.graph_json == lib.get_graph_json()
