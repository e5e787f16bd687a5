"""`FoldConstantExpr`, `ToANormalFormExpr`, `InferTypeLocal` and `recast`, on one expression."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, TensorType, f32

import xrelay
from xrelay import relay, transform
from xrelay.errors import TypeInferenceError, XRelayError
from xrelay.ir import assert_structural_equal, structural_equal
from xrelay.relay.types import FuncTypeView
from xrelay.transform import FoldConstantExpr, InferTypeLocal, ToANormalFormExpr


def test_constants_of_an_expression_are_folded() -> None:
    x = relay.var("x", shape=(4,))
    one = relay.const(1.0)
    folded = FoldConstantExpr(x * (one + one), relay.IRModule({}))
    assert structural_equal(folded, x * relay.const(2.0))
    assert relay.analysis.free_vars(folded) == [x]


def test_a_function_stays_one_and_calls_those_of_the_module() -> None:
    p, x = relay.var("p", shape=(4,)), relay.var("x", shape=(4,))
    mod = relay.IRModule({"expr": relay.Function([p], relay.exp(p))})
    one = relay.const(1.0)
    folded = FoldConstantExpr(relay.Function([x], mod.get_global_var("expr")(x * (one + one))), mod)
    assert isinstance(folded, relay.Function)
    assert isinstance(folded.body, relay.Call)
    assert folded.body.op == mod.get_global_var("expr")


def test_quantised_constants_are_folded_when_asked() -> None:
    x = relay.var("x", shape=(4,))
    constant = relay.qnn.op.dequantize(relay.const(4, "int8"), 0.5, 0)
    mod = relay.IRModule({})
    assert "dequantize" in str(relay.IRModule.from_expr(FoldConstantExpr(x + constant, mod)))
    assert structural_equal(FoldConstantExpr(x + constant, mod, fold_qnn=True), x + relay.const(2.0))


def test_intermediate_values_are_bound() -> None:
    x = relay.var("x", shape=(4,))
    bound = ToANormalFormExpr(relay.exp(relay.tanh(x)))
    assert isinstance(bound, relay.Let)
    assert isinstance(bound.body, relay.Let)
    assert relay.analysis.free_vars(bound) == [x]
    assert bound.body.body == bound.body.var


X = relay.var("x", shape=(1, 3, 8, 8))


def test_of_what_is_not_known_yet() -> None:
    weight = relay.var("w")
    conv = relay.nn.conv2d(X, weight, channels=4, kernel_size=(3, 3))
    assert InferTypeLocal(conv) == TensorType(f32, [1, 4, 6, 6])
    pair = InferTypeLocal(relay.Tuple([conv, relay.cast(X, "int32")]))
    assert str(pair) == "tuple<tensor<1x4x6x6xf32>, tensor<1x3x8x8xi32>>"


def test_of_what_is_known() -> None:
    assert InferTypeLocal(X) == X.checked_type
    assert InferTypeLocal(2.0) == TensorType(f32, [])


def test_of_a_function() -> None:
    weight = relay.var("w")
    function = relay.Function([X, weight], relay.nn.conv2d(X, weight, channels=4, kernel_size=(3, 3)))
    found = InferTypeLocal(function)
    assert isinstance(found, FuncTypeView)
    assert found.ret_type == TensorType(f32, [1, 4, 6, 6])
    assert isinstance(found.plain, FunctionType)


def test_what_nothing_decides_is_refused() -> None:
    with pytest.raises(TypeInferenceError, match="not enough is known"):
        InferTypeLocal(relay.exp(relay.var("unknown")))
    with pytest.raises(TypeInferenceError):
        InferTypeLocal(relay.var("unknown"))
    with pytest.raises(TypeInferenceError):
        InferTypeLocal(relay.add(relay.nn.conv2d(X, relay.var("w"), channels=4, kernel_size=(3, 3)), relay.var("c")))
    # The error appears once the convolution's type is known.
    conv = relay.nn.conv2d(X, relay.var("w"), channels=4, kernel_size=(3, 3))
    with pytest.raises(XRelayError):
        InferTypeLocal(relay.add(conv, relay.var("a", shape=(5, 1, 1))))


def layers(count: int, first: str = "", later: str = "") -> relay.Function:
    """A chain of dense layers that compute in the dtypes `first` and `later`, or in float32 if these are empty."""
    x = relay.var("x", shape=(2, 2))
    weights = [relay.var(f"w{number}", shape=(2, 2)) for number in range(count)]
    value: relay.Expr = x
    for number, weight in enumerate(weights):
        dtype = later if number else first
        value = (
            relay.nn.dense(value.astype(dtype), weight.astype(dtype), out_dtype="float32").astype("float32")
            if dtype
            else relay.nn.dense(value, weight)
        )
    return relay.Function([x, *weights], value)


def test_layers_that_stay() -> None:
    both, last, none = ([], [0], [0, -1])
    half = "float16"
    for skipped, wanted in ((both, layers(2, half, half)), (last, layers(2, "", half)), (none, layers(2))):
        made = transform.recast(layers(2), half, "float32", ops=["nn.dense"], skip_layers=skipped)
        assert_structural_equal(made, wanted)
    assert not structural_equal(layers(2, half, half), layers(2, "", half))


def test_fields_of_tuples_and_what_is_no_float() -> None:
    x, y, places = relay.var("x", shape=(2, 2)), relay.var("y", shape=(1, 2)), relay.var("i", shape=(1,), dtype="int32")

    def net(cast: bool) -> relay.Function:
        half = "float16" if cast else "float32"
        a, b = (x.astype(half), y.astype(half)) if cast else (x, y)
        joined = relay.concatenate(relay.Tuple([a, b]), 0)
        given = joined.astype("float32") if cast else joined
        taken = relay.take(given.astype(half) if cast else given, places, axis=0)
        return relay.Function([x, y, places], taken.astype("float32") if cast else taken)

    assert_structural_equal(transform.recast(net(False), "float16", "float16", ["concatenate", "take"]), net(True))


def test_results_that_are_tuples() -> None:
    x = relay.var("x", shape=(4,))
    parts = relay.split(x, 2)
    function = relay.Function([x], parts[1] - parts[0])
    made = transform.recast(function, "float16", "float16", ["split"])
    assert isinstance(made, relay.Function)
    module = relay.IRModule.from_expr(made)
    assert str(module).count("tensor<4xf16>) ->") == 1
    assert xrelay.compile(module).run([np.array([1, 2, 5, 7], np.float32)])[0].tolist() == [4, 5]


def test_an_expression_keeps_its_variables() -> None:
    x = relay.var("x", shape=(2, 2))
    made = transform.recast(relay.nn.dense(x, x), "int8", "int32", ["nn.dense"])
    assert relay.analysis.free_vars(made) == [x]
    assert_structural_equal(
        made, relay.nn.dense(x.astype("int8"), x.astype("int8"), out_dtype="int32").astype("float32")
    )
