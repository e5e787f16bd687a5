"""A small network with a typical structure, for quick tests."""

from __future__ import annotations

from xrelay.relay import Expr, Function, nn, reshape, reshape_like, var
from xrelay.relay.testing import layers
from xrelay.relay.testing.init import Constant, Workload, create_workload, tensor_type


def get_net(
    input_shape: tuple[int, int, int, int] = (1, 3, 24, 12), dtype: str = "float32", wtype: str | None = None
) -> Function:
    """Returns the network: twice a dense layer in parallel to a convolution. `wtype` is the dtype of weights."""
    wtype = dtype if wtype is None else wtype
    data = var("data", shape=input_shape, dtype=dtype)
    net = _dense_and_convolution(data, data, "", wtype)
    net = layers.batch_norm_infer(nn.bias_add(net, var("bias", dtype=wtype)), name="batch_norm")
    net = _dense_and_convolution(net, data, "2", wtype)
    return layers.function_of(net)


def _dense_and_convolution(net: Expr, data: Expr, number: str, dtype: str) -> Expr:
    """Returns the sum of a dense layer along the columns and a convolution."""
    _, channels, _, columns = tensor_type(data).concrete_shape
    weight = var(f"dense{number}_weight", shape=(columns, columns), dtype=dtype)
    dense = reshape_like(nn.relu(nn.dense(reshape(net, (-1, columns)), weight)), data)
    weight = var(f"conv{number}_weight", shape=(channels, channels, 3, 3), dtype=dtype)
    return dense + nn.softmax(nn.conv2d(net, weight, padding=1, kernel_size=3))


def get_workload(
    input_shape: tuple[int, int, int, int] = (1, 3, 24, 12), dtype: str = "float32", wtype: str | None = None
) -> Workload:
    """Returns the network as a module, and its parameters, which have equal values."""
    return create_workload(get_net(input_shape, dtype, wtype), initializer=Constant())
