"""`relay.testing`: networks with Relay's shapes and parameters, and its helpers."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
import pytest

import xrelay
from xrelay import relay
from xrelay.errors import InputError

testing = relay.testing
IMAGE = (3, 224, 224)

NETWORKS: dict[str, tuple[Callable[[], relay.Function], tuple[int, ...], int]] = {
    "mlp": (lambda: testing.mlp.get_net(2), (2, 10), 109_386),
    "dqn": (lambda: testing.dqn.get_net(1), (1, 18), 1_693_362),
    "resnet18": (lambda: testing.resnet.get_net(1, 1000, 18), (1, 1000), 11_699_892),
    "resnet50": (lambda: testing.resnet.get_net(1, 1000, 50, (224, 224, 3), "NHWC"), (1, 1000), 25_595_060),
    "resnet20": (lambda: testing.resnet.get_net(1, 10, 20, (3, 28, 28)), (1, 10), 273_926),
    "mobilenet": (lambda: testing.mobilenet.mobile_net(), (1, 1000), 4_253_864),
    "squeezenet": (lambda: testing.squeezenet.get_net(1, IMAGE, 1000, "1.0", "float32"), (1, 1000), 1_248_424),
    "squeezenet11": (lambda: testing.squeezenet.get_net(1, IMAGE, 1000, "1.1", "float32"), (1, 1000), 1_235_496),
    "vgg11": (lambda: testing.vgg.get_net(1, IMAGE, 1000, "float32"), (1, 1000), 132_863_336),
    "densenet": (lambda: testing.densenet.get_net(121, 1000, 1, IMAGE, "float32"), (1, 1000), 3_568_808),
    "inception": (
        lambda: testing.inception_v3.get_net(1, 1000, (3, 299, 299), "float32"),
        (1, 1000),
        23_869_000,
    ),
    "dcgan": (lambda: testing.dcgan.get_net(1, oshape=(64, 64, 3), layout="NHWC"), (1, 64, 64, 3), 12_658_176),
    "lstm": (lambda: testing.lstm.get_net(2, 4), (1, 4), 320),
    "synthetic": (lambda: testing.synthetic.get_net(), (1, 3, 24, 12), 465),
}
"""The network, the shape of its result, and the number of its parameters, including means and variances."""


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_have_the_shapes_and_parameters_of_relays(name: str) -> None:
    make, shape, count = NETWORKS[name]
    net = testing.run_infer_type(make())
    assert isinstance(net, relay.Function)
    assert net.ret_type is not None
    assert net.ret_type.concrete_shape == shape
    assert sum(prod(param.checked_type.concrete_shape) for param in net.params if param.name != "data") == count


@pytest.mark.parametrize("module", ["mlp", "lstm", "synthetic"])
def test_workloads_run(module: str) -> None:
    arguments = {"mlp": (1,), "lstm": (2, 4), "synthetic": ()}[module]
    mod, params = getattr(testing, module).get_workload(*arguments)
    inputs = [param for param in mod["main"].params if param.name == "data"]
    lib = relay.build(mod, "llvm", params={**params, "unused": np.zeros(3)})
    data = [np.full(param.checked_type.concrete_shape, 0.5, np.float32) for param in inputs]
    names = [f"data_{number}" if number else "data" for number in range(len(data))]
    result = lib.run(dict(zip(names, data, strict=True)))[0]
    every = relay.create_executor("debug", mod).evaluate()
    given = [next(iter(data)) if param.name == "data" else params[param.name] for param in mod["main"].params]
    np.testing.assert_allclose(result, every(*given), rtol=1e-4, atol=1e-6)


def test_parameters_are_initialised_by_name() -> None:
    mod, params = testing.mobilenet.get_workload(image_shape=(3, 32, 32), num_classes=4)
    assert "data" not in params
    assert (params["conv_block_1_bn_gamma"] == 1).all()
    assert (params["conv_block_1_bn_moving_var"] == 1).all()
    assert (params["fc_bias"] == 0).all()
    assert 0 < np.abs(params["separable_conv_block_1_weight"]).max() <= np.sqrt(3 / ((1 + 32) * 9 / 2))
    again = testing.create_workload(mod["main"], testing.init.Constant())[1]
    np.testing.assert_allclose(again["fc_weight"].sum(), 1, rtol=1e-3)
    with pytest.raises(InputError, match="'odd' has no initial value; help: end its name in one of weight, bias"):
        testing.create_workload(relay.Function([x := relay.var("odd", shape=(2,))], x))


def test_gradients_are_checked() -> None:
    x = relay.var("x", shape=(2, 3), dtype="float64")
    testing.check_grad(relay.Function([x], relay.tanh(x) * x))
    testing.check_grad(relay.Function([x], relay.exp(x)), mode="first_order", executor_kind="graph")
    with pytest.raises(AssertionError):
        testing.check_grad(relay.Function([x], relay.nn.relu(x)), inputs=[np.zeros((2, 3))])  # not differentiable at 0


def test_helpers() -> None:
    x = relay.var("x", shape=(2, 3))
    body = testing.run_opt_pass(relay.nn.relu(x) + relay.nn.relu(x), relay.transform.EliminateCommonSubexpr())
    assert testing.count_ops(body) == {"nn.relu": 1, "add": 1}
    assert str(testing.run_infer_type(x + x).checked_type) == "tensor<2x3xf32>"
    array = testing.rand("float32", 2, 3)
    assert (array.shape, array.dtype) == ((2, 3), np.float32)
    with testing.temp_op_attr.TempOpAttr("nn.relu", "mine", 3):
        assert relay.op.get("nn.relu").get_attr("mine") == 3
    assert relay.op.get("nn.relu").get_attr("mine") is None
    assert xrelay.relay.testing is testing
