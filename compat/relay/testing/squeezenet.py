"""SqueezeNet, of Iandola et al., arXiv:1602.07360."""

from __future__ import annotations

from xrelay.errors import InputError
from xrelay.relay import Expr, Function, concatenate, nn, var
from xrelay.relay.testing import layers
from xrelay.relay.testing.init import Workload, create_workload

_FIRST = {"1.0": (96, 7, 3), "1.1": (64, 3, 1)}
"""Channels, window and padding of the first convolution, by version."""
_FIRES = {"1.0": ((16, 16, 32), (32, 48, 48, 64), (64,)), "1.1": ((16, 16), (32, 32), (48, 48, 64, 64))}
"""The squeezed channels of each fire module; a pooling comes before each group."""


def get_net(batch_size: int, image_shape: tuple[int, ...], num_classes: int, version: str, dtype: str) -> Function:
    """Returns the network of a version, "1.0" or "1.1". Raises `InputError` for another one."""
    if version not in _FIRST:
        raise InputError(f"the version is {version!r}", help="pass '1.0' or '1.1'")
    channels, window, padding = _FIRST[version]
    net = layers.conv2d_bias_relu(
        var("data", shape=(batch_size, *image_shape), dtype=dtype),
        channels=channels,
        kernel_size=(window, window),
        strides=(2, 2),
        padding=(padding, padding),
        name="conv1",
    )
    number = 0
    for group in _FIRES[version]:
        net = nn.max_pool2d(net, pool_size=(3, 3), strides=(2, 2))
        for squeezed in group:
            number += 1
            net = _fire(net, squeezed, f"fire{number}")
    net = nn.dropout(net, rate=0.5)
    net = layers.conv2d_bias_relu(net, channels=num_classes, kernel_size=(1, 1), name="conv_final")
    net = nn.softmax(nn.batch_flatten(nn.global_avg_pool2d(net)))
    return layers.function_of(net)


def _fire(data: Expr, squeezed: int, name: str) -> Expr:
    """Returns a fire module: a 1x1 squeeze, then 1x1 and 3x3 convolutions with four times the channels each."""
    net = layers.conv2d_bias_relu(data, channels=squeezed, kernel_size=(1, 1), name=f"{name}_input_conv")
    left = layers.conv2d_bias_relu(net, channels=4 * squeezed, kernel_size=(1, 1), name=f"{name}_left_conv")
    right = layers.conv2d_bias_relu(
        net, channels=4 * squeezed, kernel_size=(3, 3), padding=(1, 1), name=f"{name}_right_conv"
    )
    return concatenate((left, right), axis=1)


def get_workload(
    batch_size: int = 1,
    num_classes: int = 1000,
    version: str = "1.0",
    image_shape: tuple[int, ...] = (3, 224, 224),
    dtype: str = "float32",
) -> Workload:
    """Returns the network as a module, and its parameters."""
    return create_workload(get_net(batch_size, image_shape, num_classes, version, dtype))
