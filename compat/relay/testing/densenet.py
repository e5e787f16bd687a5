"""DenseNet in Relay's form: a block concatenates the results of its layers. Huang et al., arXiv:1608.06993."""

from __future__ import annotations

from xrelay.errors import InputError
from xrelay.relay import Expr, Function, concatenate, nn, var
from xrelay.relay.testing import layers
from xrelay.relay.testing.init import Workload, create_workload

_SIZES = {
    121: (64, 32, (6, 12, 24, 16)),
    161: (96, 48, (6, 12, 36, 24)),
    169: (69, 32, (6, 12, 32, 32)),
    201: (64, 32, (6, 12, 48, 32)),
}
"""The initial channels, the channels per layer, and the layers of each block; 69 is Relay's value."""
_BOTTLENECK = 4
"""The factor from the channels that a layer adds to those of its 1x1 convolution."""


def get_net(densenet_size: int, classes: int, batch_size: int, image_shape: tuple[int, ...], dtype: str) -> Function:
    """Returns the network of 121, 161, 169 or 201 layers. Raises `InputError` for another number."""
    if densenet_size not in _SIZES:
        raise InputError(f"densenet_size is {densenet_size}", help=f"pass one of {', '.join(map(str, _SIZES))}")
    features, growth, blocks = _SIZES[densenet_size]
    net = var("data", shape=(batch_size, *image_shape), dtype=dtype)
    net = layers.conv2d(net, channels=features, kernel_size=(7, 7), strides=(2, 2), padding=(3, 3), name="conv1")
    net = nn.relu(layers.batch_norm_infer(net, name="batch1"))
    net = nn.max_pool2d(net, pool_size=(3, 3), strides=(2, 2), padding=(1, 1))
    for block, depth in enumerate(blocks):
        net = _block(net, depth, growth, block)
        features += depth * growth
        if block < len(blocks) - 1:
            features //= 2
            net = _transition(net, features, block)
    net = nn.relu(layers.batch_norm_infer(net, name="batch2"))
    net = nn.batch_flatten(nn.avg_pool2d(net, pool_size=(7, 7)))
    net = layers.dense_add_bias(net, units=classes, name="dense")
    return layers.function_of(net)


def _block(data: Expr, depth: int, growth: int, block: int) -> Expr:
    """Returns the concatenated results of `depth` consecutive layers."""
    found: list[Expr] = []
    net = data
    for number in range(depth):
        suffix = f"{block}_{number}"
        net = nn.relu(layers.batch_norm_infer(net, name=f"batch_1_{suffix}"))
        net = layers.conv2d(net, channels=_BOTTLENECK * growth, kernel_size=(1, 1), name=f"conv2d_1_{suffix}")
        net = nn.relu(layers.batch_norm_infer(net, name=f"batch_2_{suffix}"))
        net = layers.conv2d(net, channels=growth, kernel_size=(3, 3), padding=(1, 1), name=f"conv2d_2_{suffix}")
        found.append(net)
    return concatenate(found, axis=1)


def _transition(data: Expr, channels: int, block: int) -> Expr:
    """Returns the transition between two blocks, which halves rows and columns."""
    net = nn.relu(layers.batch_norm_infer(data, name=f"batch_t_{block}"))
    net = layers.conv2d(net, channels=channels, kernel_size=(1, 1), name=f"conv_t_{block}")
    return nn.avg_pool2d(net, pool_size=(2, 2), strides=(2, 2))


def get_workload(
    densenet_size: int = 121,
    classes: int = 1000,
    batch_size: int = 4,
    image_shape: tuple[int, ...] = (3, 224, 224),
    dtype: str = "float32",
) -> Workload:
    """Returns the network as a module, and its parameters."""
    return create_workload(get_net(densenet_size, classes, batch_size, image_shape, dtype))
