"""The Python builder: simplenet as in Relay's tutorials, operators, names, errors."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp

import xrelay
from xrelay import relay
from xrelay.dialects.relay.core.registry import UnknownOpError
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.ops.tensor.transform import PadOp
from xrelay.errors import ConstraintError, InputError
from xrelay.interpreters.relay import run_relay
from xrelay.passes.types.infer_type import infer_types
from xrelay.relay.expr import call


def batch_norm(data, gamma=None, beta=None, moving_mean=None, moving_var=None, **kwargs):
    name = kwargs.get("name")
    kwargs.pop("name")
    if not gamma:
        gamma = relay.var(name + "_gamma")
    if not beta:
        beta = relay.var(name + "_beta")
    if not moving_mean:
        moving_mean = relay.var(name + "_moving_mean")
    if not moving_var:
        moving_var = relay.var(name + "_moving_var")
    return relay.nn.batch_norm(data, gamma=gamma, beta=beta, moving_mean=moving_mean, moving_var=moving_var, **kwargs)[
        0
    ]


def conv2d(data, weight=None, **kwargs):
    name = kwargs.get("name")
    kwargs.pop("name")
    if not weight:
        weight = relay.var(name + "_weight")
    return relay.nn.conv2d(data, weight, **kwargs)


def simplenet(data, name, channels, kernel_size=(3, 3), strides=(1, 1), padding=(1, 1), epsilon=1e-5):
    conv = conv2d(
        data=data,
        channels=channels,
        kernel_size=kernel_size,
        strides=strides,
        padding=padding,
        data_layout="NCHW",
        name=name + "_conv",
    )
    bn = batch_norm(data=conv, epsilon=epsilon, name=name + "_bn")
    return relay.nn.relu(data=bn)


def build_simplenet():
    data = relay.var("data", shape=(1, 3, 224, 224), dtype="float32")
    act = simplenet(data, "graph", 32, strides=(2, 2))
    return relay.Function(relay.analysis.free_vars(act), act)


def test_simplenet_prints_untyped():
    lines = str(build_simplenet()).splitlines()
    assert lines[0] == (
        'func.func @main(%data: tensor<1x3x224x224xf32> {relay.name = "data"}, '
        '%graph_conv_weight: !relay.incomplete {relay.name = "graph_conv_weight"}, '
        '%graph_bn_gamma: !relay.incomplete {relay.name = "graph_bn_gamma"}, '
        '%graph_bn_beta: !relay.incomplete {relay.name = "graph_bn_beta"}, '
        '%graph_bn_moving_mean: !relay.incomplete {relay.name = "graph_bn_moving_mean"}, '
        '%graph_bn_moving_var: !relay.incomplete {relay.name = "graph_bn_moving_var"}) '
        '-> (!relay.incomplete {relay.name = "output"}) {'
    )
    assert lines[1] == (
        "  %0 = relay.nn.conv2d(%data, %graph_conv_weight) {strides = [2, 2], padding = [1, 1, 1, 1], channels = 32, "
        "kernel_size = [3, 3]} : (tensor<1x3x224x224xf32>, !relay.incomplete) -> !relay.incomplete"
    )
    assert len(lines) == 7


def test_simplenet_infers_and_runs():
    module = relay.Module.from_expr(build_simplenet())
    infer_types(module)
    module.verify()
    func = module.ops.first
    assert isinstance(func, FuncOp)
    assert [str(type) for type in func.function_type.inputs][1:3] == ["tensor<32x3x3x3xf32>", "tensor<32xf32>"]
    rng = np.random.default_rng(0)
    inputs = [rng.uniform(0.1, 1, type.get_shape()).astype(np.float32) for type in func.function_type.inputs]
    (result,) = run_relay(module, inputs)
    assert result.shape == (1, 32, 112, 112)
    assert result.min() >= 0


def test_operators_and_numbers():
    x = relay.var("x", shape=(4,))
    module = relay.Module.from_expr((2.0 - x) * 3 / x + (-x) - 1)
    (result,) = run_relay(module, [np.array([1, 2, 4, 8], np.float32)])
    np.testing.assert_allclose(result, [1, -3, -6.5, -11.25])


def test_tuples_unpack_and_flatten():
    x = relay.var("x", shape=(2, 6))
    first, second = relay.split(x, 2, axis=1)
    function = relay.Function([x], relay.Tuple([relay.concatenate([second, first], axis=1), first]))
    func = function.to_func()
    assert [str(type) for type in func.function_type.outputs] == ["tensor<2x6xf32>", "tensor<2x3xf32>"]
    results = run_relay(relay.Module.from_expr(function), [np.arange(12, dtype=np.float32).reshape(2, 6)])
    assert results[0][0].tolist() == [3, 4, 5, 0, 1, 2]


def test_shared_expressions_are_computed_once():
    x = relay.var("x", shape=(4,))
    shared = relay.exp(x)
    text = str(relay.Function([x], shared + shared))
    assert text.count("relay.exp") == 1
    # The same expression can be used in several functions.
    assert str(relay.Function([x], shared)).count("relay.exp") == 1


def test_free_variables_in_order_of_use():
    a, b, c = (relay.var(name, shape=(4,)) for name in "abc")
    assert [var.name for var in relay.analysis.free_vars(relay.add(relay.exp(c), a) * b + c)] == ["c", "a", "b"]
    assert relay.analysis.free_vars(a) == [a]
    assert relay.analysis.free_vars(relay.add(c, relay.exp(a))) == [c, a]
    assert relay.analysis.free_vars(relay.concatenate([c, relay.exp(a), b], axis=0)) == [c, a, b]


def test_a_function_must_bind_its_variables():
    x, y = relay.var("x", shape=(4,)), relay.var("y", shape=(4,))
    with pytest.raises(InputError, match="that are not parameters: y"):
        relay.Function([x], x + y).to_func()


def test_positional_and_named_attributes():
    x = relay.var("x", shape=(1, 4, 8, 8))
    assert relay.reshape(x, (1, -1)).shape == (1, 256)
    assert relay.nn.softmax(x, 1).shape == x.shape
    assert relay.mean(x, [2, 3], True).shape == (1, 4, 1, 1)
    assert relay.nn.max_pool2d(x, (2, 2), (2, 2)).shape == (1, 4, 4, 4)
    assert relay.nn.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))).shape == (1, 4, 10, 10)
    assert relay.nn.dropout(x, 0.2).shape == x.shape
    assert relay.cast(x, "int8").dtype == np.int8
    assert relay.clip(x, 0, 6).shape == x.shape
    assert relay.nn.conv2d(x, np.ones((2, 4, 1, 1), np.float32)).shape == (1, 2, 8, 8)
    assert relay.nn.conv2d(x, np.ones((2, 4, 1, 1), np.float32), padding=1).shape == (1, 2, 10, 10)


def test_attributes_stand_in_the_order_of_relay():
    """Attributes of a base class do not follow those of its subclasses."""
    image, ones = relay.var("x", shape=(1, 8, 4, 6)), np.ones(8, np.float32)
    assert relay.nn.depth_to_space(image, 2, "NCHW", "CRD").shape == (1, 2, 8, 12)
    assert relay.nn.depth_to_space(image, 2, "NCHW", "CDR").attrs.mode == "CRD"
    assert relay.nn.space_to_batch_nd(image, (2, 2), ((0, 0), (0, 0)), 1.0).shape == (4, 4, 2, 6)
    batches = relay.var("y", shape=(4, 8, 2, 3))
    assert relay.nn.batch_to_space_nd(batches, (2, 2), ((0, 0), (0, 0))).shape == (1, 16, 4, 3)
    assert relay.nn.adaptive_avg_pool2d(image, (1, 3), "NCHW").shape == (1, 8, 1, 3)
    assert relay.nn.instance_norm(image, ones, ones, 1, 1e-3, False).shape == image.shape
    assert relay.nn.group_norm(image, ones, ones, 2, 1, 1e-3, False).shape == image.shape
    assert relay.topk(image, 2, 1, "values", True).shape == (1, 2, 4, 6)
    assert relay.argsort(image, 1, False, "int64").dtype == np.int64
    assert relay.sort(image, 1, False).shape == image.shape


def test_too_few_and_too_many_operands():
    """An op that is constructed directly, without its builder function, as in passes."""
    x, zero = relay.var("x", shape=(2,)), relay.const(0.0)
    with pytest.raises(ConstraintError, match=r"nn.pad C0. takes 2 operands \(data, pad_value\), found 1"):
        call(PadOp, x, pad_width=(1, 1))
    with pytest.raises(ConstraintError, match=r"takes 2 operands \(data, pad_value\), found 3"):
        call(PadOp, x, zero, zero, pad_width=(1, 1))


def test_errors_name_what_is_wrong():
    x = relay.var("x", shape=(1, 4, 8, 8))
    with pytest.raises(ConstraintError, match="operand 'weight' is missing"):
        relay.nn.conv2d(x)
    with pytest.raises(ConstraintError, match="argument 'axis' is given twice"):
        relay.nn.softmax(x, 1, axis=1)
    with pytest.raises(ConstraintError, match="takes at most 2 arguments"):
        relay.nn.softmax(x, 1, 2)
    with pytest.raises(ConstraintError, match=r"did you mean 'axis'"):
        relay.nn.softmax(x, axes=1)
    with pytest.raises(ConstraintError, match="attribute 'newshape' is required"):
        relay.reshape(x)
    with pytest.raises(AttributeError, match="did you mean"):
        relay.nn.conv2(None)
    with pytest.raises(InputError, match="has no fields to unpack"):
        list(x)
    with pytest.raises(InputError, match="a type and a shape"):
        relay.var("v", relay.TensorType((1,)), shape=(1,))


def test_names_that_text_cannot_show_travel_as_attributes():
    x = relay.var("0:x/y", shape=(4,))
    text = str(relay.Function([x], relay.exp(x)))
    assert 'relay.name = "0:x/y"' in text


def test_ops_by_name():
    assert relay.get_relay_op("nn.conv2d") is Conv2DOp
    assert relay.get_relay_op("relay.nn.conv2d") is Conv2DOp
    assert relay.get_relay_op("conv2d") is Conv2DOp
    with pytest.raises(UnknownOpError, match=r"did you mean 'nn\.conv2d'"):
        relay.get_relay_op("nn.conv2")


def test_inside_an_implicit_builder():
    func = FuncOp("f", ([TensorType(f32, [4])], [TensorType(f32, [4])]))
    with ImplicitBuilder(func.body) as (argument,):
        result = relay.nn.relu(argument) + 1.0
        chosen = relay.If(relay.sum(result) > 0.0, result, argument)
        ReturnOp(chosen.value)
    func.verify()
    assert [op.name for op in func.body.block.ops][:3] == ["relay.nn.relu", "relay.constant", "relay.add"]


def test_a_refused_op_leaves_nothing_in_an_implicit_builder():
    func = FuncOp("f", ([TensorType(f32, [4])], []))
    with ImplicitBuilder(func.body) as (argument,), pytest.raises(ConstraintError):
        relay.nn.batch_norm(argument, argument, argument, argument, argument, axis=3)
    assert not list(func.body.block.ops)


def test_named_dimensions():
    x = relay.var("x", shape=("n", 4, relay.Any()))
    assert str(relay.exp(x).type) == "tensor<?x4x?xf32, #relay.dims<n, ?>>"


def test_positional_arguments_of_pools_have_relays_order() -> None:
    x = relay.var("x", shape=(1, 8, 8, 4))
    for pool in (relay.nn.max_pool2d, relay.nn.avg_pool2d):
        assert pool(x, (3, 3), (2, 2), (1, 1), (0, 0), "NHWC", "", True).shape == (1, 4, 4, 4)
    with pytest.raises(ConstraintError, match="takes at most 8 arguments"):
        relay.nn.max_pool2d(x, (3, 3), (2, 2), (1, 1), (0, 0), "NHWC", "", True, True)  # pyright: ignore


def test_operators_stand_in_op_too_and_are_the_same_functions() -> None:
    x = relay.var("x", shape=(2, 3, 4))
    assert relay.op.argmax(x, axis=1).shape == (2, 4)
    assert relay.op.argmax == relay.argmax
    assert relay.op.nn.relu is relay.nn.relu
    assert relay.add != relay.multiply
    with pytest.raises(AttributeError, match="did you mean 'argmax'"):
        relay.op.argmx(x)
    with pytest.raises(AttributeError, match=r"^_mock_name$"):
        relay.nn._mock_name  # noqa: B018


def test_reverse_reshape_has_the_name_of_relays_python() -> None:
    assert relay.reverse_reshape(relay.var("x", shape=(10, 5, 4)), newshape=(-1, 0)).shape == (50, 4)
    assert relay.reverse_reshape(relay.var("x", shape=(2, 3)), -1).shape == (6,)


def test_full_like_converts_its_number() -> None:
    x, number = relay.var("x", shape=(2, 3), dtype="int32"), relay.var("number", shape=())
    module = relay.Module.from_expr(relay.Function([x, number], relay.full_like(x, number)))
    data = [np.zeros((2, 3), np.int32), np.array(2.75, np.float32)]
    for changed in (module, relay.transform.SimplifyExpr()(module)):
        for found in (xrelay.compile(changed, cache=False).run(data)[0], run_relay(changed, data)[0]):
            assert found.dtype == np.int32
            assert found.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_pools_of_one_element() -> None:
    x = relay.var("x", shape=(1, 2, 5, 5))
    for pool in (relay.nn.max_pool2d, relay.nn.avg_pool2d):
        assert relay.Function([x], pool(x)).checked_type == relay.FuncType([x.type], x.type)
        assert pool(x, strides=2).checked_type == relay.TensorType((1, 2, 3, 3))


def test_types_know_their_kind() -> None:
    tensor = relay.TensorType((1, 3))
    types = [tensor, relay.TupleType([tensor]), relay.FuncType([tensor], tensor)]
    kinds = [relay.TensorType, relay.TupleType, relay.FuncType]
    assert [[isinstance(one, kind) for kind in kinds] for one in types] == np.eye(3, dtype=bool).tolist()


def test_a_variable_of_the_name_of_a_dtype_is_a_scalar() -> None:
    assert relay.var("x", "int32").shape == ()
    assert relay.var("x", None, (2, 3), "float16").shape == (2, 3)


def test_constants_of_what_has_numpy() -> None:
    class Held:
        def asnumpy(self) -> np.ndarray:
            return np.array([1.5, 2.5], np.float64)

    found = relay.const(Held())
    assert (found.dtype, found.shape) == (np.float64, (2,))


def test_a_checkpoint_gives_its_value_on() -> None:
    x = relay.var("x", shape=(2,))
    fields = relay.annotation.checkpoint(relay.Tuple([relay.exp(x), x]))
    module = relay.Module.from_expr(relay.Function([x], relay.annotation.checkpoint(fields[0] + fields[1])))
    data = np.array([0, 1], np.float32)
    for found in (run_relay(module, [data]), xrelay.compile(module, cache=False).run([data])):
        np.testing.assert_allclose(found[0], np.exp(data) + data, rtol=1e-6)
