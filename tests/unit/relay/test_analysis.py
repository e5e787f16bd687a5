"""`relay.analysis`: operators, kernels, features, constants and forms of programs."""

from __future__ import annotations

import pytest

from xrelay import relay, transform
from xrelay.errors import InputError
from xrelay.relay.analysis import Feature, check_basic_block_normal_form, detect_feature


def conv(data: relay.Expr, weight: str) -> relay.Expr:
    return relay.nn.conv2d(data, relay.var(weight), kernel_size=(3, 3), padding=(1, 1), channels=1)


def conv_net(branches: int) -> relay.IRModule:
    """A convolution, further convolutions of its result, and their sum."""
    y = conv(relay.var("x", shape=(1, 1, 5, 1)), "w1")
    total = conv(y, "w2")
    for number in range(1, branches):
        total = relay.add(conv(y, f"w{number + 2}"), total)
    return relay.IRModule.from_expr(relay.add(y, total) if branches == 1 else total)


def test_operators_are_counted_before_and_after_fusion() -> None:
    module = conv_net(1)
    assert relay.analysis.list_op_freqs(module) == {"nn.conv2d": 2, "add": 1}
    fused = transform.FuseOps(3)(transform.InferType()(module))
    assert relay.analysis.list_op_freqs(fused) == {"nn.conv2d": 2, "add": 1}


def test_tuples_and_constants_are_no_operators() -> None:
    pair = relay.Tuple([relay.const(1.0), relay.var("x", shape=())])
    assert relay.analysis.list_op_freqs(relay.IRModule.from_expr(relay.stack(pair, 0))) == {"stack": 1}


def test_equal_kernels_are_one() -> None:
    module = conv_net(3)
    text = str(module)
    kernels = relay.analysis.extract_fused_functions(module)
    assert str(module) == text
    assert len(kernels) == 2
    first, second = kernels.values()
    assert first.body.op.name == "nn.conv2d"
    assert second.body.op.name == "add"
    assert "relay.primitive" in first.attrs


def test_a_module_of_one_kernel() -> None:
    (kernel,) = relay.analysis.extract_fused_functions(
        relay.IRModule.from_expr(conv(relay.var("x", shape=(1, 1, 5, 5)), "w"))
    ).values()
    assert [param.shape for param in kernel.params] == [(1, 1, 5, 5), (1, 1, 3, 3)]


def dequantized(name: str, *shape: int) -> relay.Expr:
    return relay.qnn.op.dequantize(relay.var(name, shape=shape, dtype="int8"), relay.const(0.5), relay.const(0))


def quantized(expr: relay.Expr) -> relay.Expr:
    return relay.qnn.op.quantize(expr, relay.const(1.0), relay.const(0), out_dtype="int8")


def fake_quantized(expr: relay.Expr) -> dict[str, int]:
    return relay.analysis.list_fake_quantized_op_freqs(relay.IRModule.from_expr(expr))


def test_operators_between_dequantised_and_quantised_numbers() -> None:
    first = quantized(relay.nn.dense(dequantized("x", 8, 4), dequantized("w", 6, 4)))
    second = quantized(relay.nn.relu(relay.qnn.op.dequantize(first, relay.const(1.0), relay.const(3))))
    # Ops after the last quantisation are in no region.
    assert fake_quantized(relay.cast(second, "float32")) == {"nn.dense": 1, "nn.relu": 1}
    parts = relay.concatenate([dequantized("x", 1, 4), relay.exp(dequantized("y", 1, 4))], axis=1)
    assert fake_quantized(quantized(parts * relay.const(2.0))) == {"concatenate": 1, "exp": 1, "multiply": 1}


def test_regions_that_read_other_numbers_or_branch_count_nothing() -> None:
    x = dequantized("x", 4)
    assert fake_quantized(quantized(relay.nn.relu(x) + relay.var("y", shape=(4,)))) == {}
    chosen = relay.If(relay.var("c", shape=(), dtype="bool"), relay.nn.relu(x), x)
    assert fake_quantized(quantized(relay.exp(chosen))) == {}


def test_features_of_expressions_and_modules() -> None:
    x, v = relay.var("x", shape=(4,)), relay.var("v")
    assert detect_feature(x) == {Feature.fVar}
    assert detect_feature(relay.const(1.0)) == {Feature.fConstant}
    doubled = relay.Function([x], x + x)
    of_calls = {Feature.fVar, Feature.fFunction, Feature.fOp, Feature.fCall}
    assert detect_feature(doubled) == of_calls
    module = relay.IRModule({"double": doubled})
    assert detect_feature(module) == of_calls
    call = module.get_global_var("double")(x)
    assert detect_feature(call) == {Feature.fVar, Feature.fGlobalVar, Feature.fCall}
    assert detect_feature(module, call) == detect_feature(call, module) == {*of_calls, Feature.fGlobalVar}
    shared = relay.exp(x)
    assert detect_feature(shared + shared) == {Feature.fVar, Feature.fOp, Feature.fCall, Feature.fGraph}
    tuples = {Feature.fTuple, Feature.fTupleGetItem, Feature.fVar}
    assert detect_feature(relay.TupleGetItem(relay.Tuple([x, x]), 0)) == tuples
    chosen = relay.If(relay.var("c", shape=(), dtype="bool"), x, relay.Let(v, x, v))
    assert detect_feature(chosen) == {Feature.fVar, Feature.fIf, Feature.fLet}


def test_features_of_a_function_that_calls_itself() -> None:
    f, n = relay.var("f"), relay.var("n", shape=(), dtype="int32")
    down = relay.Function([n], relay.If(relay.equal(n, relay.const(0)), n, f(n - relay.const(1))))
    assert Feature.fLetRec in detect_feature(relay.Let(f, down, f(n)))


def test_two_of_one_kind_have_no_features_together() -> None:
    x = relay.var("x", shape=(4,))
    with pytest.raises(InputError, match="an expression, a module, or one of each"):
        detect_feature(x, x)


def test_constants() -> None:
    one, x = relay.const(1.0), relay.var("x", shape=())
    assert relay.analysis.check_constant(one)
    assert relay.analysis.check_constant(relay.Tuple([one, relay.Tuple([one])]))
    assert not relay.analysis.check_constant(relay.Tuple([one, x]))
    assert not relay.analysis.check_constant(one + one)


def test_element_types() -> None:
    x = relay.var("x", shape=(4,), dtype="int8")
    pair = relay.Tuple([relay.cast(x, "bfloat16"), relay.var("y")])
    assert relay.analysis.all_dtypes(relay.Function([x], pair)) == {"int8", "bfloat16"}


def test_names_that_it_does_not_have() -> None:
    with pytest.raises(AttributeError, match="did you mean 'list_op_freqs'"):
        relay.analysis.list_op_freq  # noqa: B018


COND, X = relay.var("cond", shape=(), dtype="bool"), relay.var("x", shape=(4,))


def test_what_has_a_scope_of_its_own() -> None:
    v, shared = relay.var("v"), relay.exp(X)
    for good in (
        relay.add(X, relay.add(X, X)),
        relay.Let(v, X, v),
        relay.Let(v, shared, relay.If(COND, relay.nn.relu(v), relay.tanh(v))),
        relay.If(relay.greater(relay.sum(shared), relay.const(0.0)), shared, relay.tanh(shared)),
        relay.Function([COND, X], relay.If(COND, X, relay.nn.relu(X))),
        relay.If(COND, relay.If(COND, relay.const(1.0), relay.const(2.0)), relay.const(1.0)),
    ):
        assert check_basic_block_normal_form(good)


def test_what_two_branches_share() -> None:
    shared, free = relay.exp(X), relay.var("shared", shape=(4,))
    for bad in (
        relay.If(COND, relay.nn.relu(shared), relay.tanh(shared)),
        relay.Function([COND, X], relay.If(COND, relay.If(COND, shared, X), relay.tanh(shared))),
        relay.If(COND, free, relay.add(free, free)),
    ):
        with pytest.raises(InputError, match=r"used in several scopes, but not in their common scope.*let"):
            check_basic_block_normal_form(bad)


def test_the_pass_binds_what_branches_share() -> None:
    shared = relay.exp(X)
    module = relay.IRModule.from_expr(relay.If(COND, relay.nn.relu(shared), relay.tanh(shared)))
    with pytest.raises(InputError, match="not in their common scope"):
        check_basic_block_normal_form(module["main"])
    assert check_basic_block_normal_form(transform.ToBasicBlockNormalForm()(module)["main"])


def test_a_graph_of_many_expressions() -> None:
    y = X
    for _ in range(1_500):
        y = relay.add(y, y)
    assert check_basic_block_normal_form(y)
    assert Feature.fGraph in detect_feature(y)


def test_free_variables_come_as_a_walk_from_the_left_meets_them() -> None:
    x, weight, bias, flag = (relay.var(name, shape=(2, 2)) for name in ("x", "weight", "bias", "flag"))
    layer = relay.add(bias, relay.nn.dense(x, weight))
    assert relay.analysis.free_vars(layer) == [bias, x, weight]
    assert relay.analysis.free_vars(relay.Tuple([relay.exp(x), bias, layer])) == [x, bias, weight]
    scoped = relay.Let(v := relay.var("v", shape=(2, 2)), relay.exp(weight), relay.add(flag, relay.add(v, x)))
    assert relay.analysis.free_vars(scoped) == [weight, flag, x]
