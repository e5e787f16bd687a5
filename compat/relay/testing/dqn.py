"""The deep Q-network that plays Atari games, of Mnih et al., Nature 518 (2015)."""

from __future__ import annotations

from xrelay.relay import Function, nn, var
from xrelay.relay.testing import layers
from xrelay.relay.testing.init import Workload, create_workload

_CONVOLUTIONS = ((32, 8, 4), (64, 4, 2), (64, 3, 1))
"""Channels, window and stride."""


def get_net(
    batch_size: int,
    num_actions: int = 18,
    image_shape: tuple[int, ...] = (4, 84, 84),
    dtype: str = "float32",
    layout: str = "NCHW",
) -> Function:
    """Returns the network: three convolutions and two dense layers."""
    net = var("data", shape=(batch_size, *image_shape), dtype=dtype)
    for number, (channels, window, stride) in enumerate(_CONVOLUTIONS, start=1):
        name = f"conv{number}"
        net = layers.conv2d(
            net,
            channels=channels,
            kernel_size=(window, window),
            strides=(stride, stride),
            padding=(0, 0),
            data_layout=layout,
            kernel_layout=layers.conv_kernel_layout(layout),
            name=name,
        )
        net = nn.relu(nn.bias_add(net, var(f"{name}_bias"), axis=layout.index("C")))
    net = nn.relu(layers.dense_add_bias(nn.batch_flatten(net), units=512, name="dense1"))
    net = layers.dense_add_bias(net, units=num_actions, name="dense2")
    return layers.function_of(net)


def get_workload(
    batch_size: int,
    num_actions: int = 18,
    image_shape: tuple[int, ...] = (4, 84, 84),
    dtype: str = "float32",
    layout: str = "NCHW",
) -> Workload:
    """Returns the network as a module, and its parameters."""
    return create_workload(get_net(batch_size, num_actions, image_shape, dtype, layout))
