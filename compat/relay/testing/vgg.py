"""VGG: stacks of 3x3 convolutions, of Simonyan and Zisserman, arXiv:1409.1556."""

from __future__ import annotations

from xrelay.errors import InputError
from xrelay.relay import Expr, Function, nn, var
from xrelay.relay.testing import layers
from xrelay.relay.testing.init import Workload, create_workload

_DEPTHS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
"""The number of convolutions of each stage."""
_CHANNELS = (64, 128, 256, 512, 512)


def get_net(
    batch_size: int,
    image_shape: tuple[int, ...],
    num_classes: int,
    dtype: str,
    num_layers: int = 11,
    batch_norm: bool = False,
) -> Function:
    """Returns the network of 11, 13, 16 or 19 layers. Raises `InputError` for another number."""
    if num_layers not in _DEPTHS:
        raise InputError(f"num_layers is {num_layers}", help="pass 11, 13, 16 or 19")
    net = var("data", shape=(batch_size, *image_shape), dtype=dtype)
    for stage, (depth, channels) in enumerate(zip(_DEPTHS[num_layers], _CHANNELS, strict=True), start=1):
        for number in range(1, depth + 1):
            net = _convolution(net, channels, f"{stage}_{number}", batch_norm=batch_norm)
        net = nn.max_pool2d(net, pool_size=(2, 2), strides=(2, 2))
    net = nn.batch_flatten(net)
    for name in ("fc6", "fc7"):
        net = nn.dropout(nn.relu(layers.dense_add_bias(net, units=4096, name=name)), rate=0.5)
    net = nn.softmax(layers.dense_add_bias(net, units=num_classes, name="fc8"))
    return layers.function_of(net)


def _convolution(data: Expr, channels: int, suffix: str, *, batch_norm: bool) -> Expr:
    net = layers.conv2d(data, channels=channels, kernel_size=(3, 3), padding=(1, 1), name=f"conv{suffix}")
    net = nn.bias_add(net, var(f"conv{suffix}_bias"))
    return nn.relu(layers.batch_norm_infer(net, name=f"bn{suffix}") if batch_norm else net)


def get_workload(
    batch_size: int,
    num_classes: int = 1000,
    image_shape: tuple[int, ...] = (3, 224, 224),
    dtype: str = "float32",
    num_layers: int = 11,
    batch_norm: bool = False,
) -> Workload:
    """Returns the network as a module, and its parameters."""
    return create_workload(get_net(batch_size, image_shape, num_classes, dtype, num_layers, batch_norm))
