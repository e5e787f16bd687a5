"""MobileNet: alternating depthwise and pointwise convolutions. Howard et al., arXiv:1704.04861."""

from __future__ import annotations

from xrelay.relay import Expr, Function, nn, var
from xrelay.relay.testing import layers
from xrelay.relay.testing.init import Workload, create_workload

_BLOCKS = ((32, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2))
_DEEP = ((512, 512, 1),) * 5 + ((512, 1024, 2), (1024, 1024, 1))
_SHALLOW = ((512, 1024, 2), (1024, 1024, 2))
"""The channels of the two convolutions of each block, and the stride."""


def conv_block(
    data: Expr,
    name: str,
    channels: int,
    kernel_size: tuple[int, int] = (3, 3),
    strides: tuple[int, int] = (1, 1),
    padding: tuple[int, int] = (1, 1),
    epsilon: float = 1e-5,
    layout: str = "NCHW",
) -> Expr:
    """Returns a convolution, a batch norm and `nn.relu`."""
    net = layers.conv2d(
        data,
        channels=channels,
        kernel_size=kernel_size,
        strides=strides,
        padding=padding,
        data_layout=layout,
        kernel_layout=layers.conv_kernel_layout(layout),
        name=f"{name}_conv",
    )
    return nn.relu(layers.batch_norm_infer(net, epsilon=epsilon, axis=layout.index("C"), name=f"{name}_bn"))


def separable_conv_block(
    data: Expr,
    name: str,
    depthwise_channels: int,
    pointwise_channels: int,
    kernel_size: tuple[int, int] = (3, 3),
    downsample: bool = False,
    padding: tuple[int, int] = (1, 1),
    epsilon: float = 1e-5,
    layout: str = "NCHW",
    dtype: str = "float32",
) -> Expr:
    """Returns a depthwise and a pointwise convolution, each with a batch norm and `nn.relu`."""
    first, axis = layout == "NCHW", layout.index("C")
    shape = (depthwise_channels, 1, *kernel_size) if first else (*kernel_size, depthwise_channels, 1)
    net = layers.conv2d(
        data,
        var(f"{name}_weight", shape=shape, dtype=dtype),
        channels=depthwise_channels,
        groups=depthwise_channels,
        kernel_size=kernel_size,
        strides=(2, 2) if downsample else (1, 1),
        padding=padding,
        data_layout=layout,
        kernel_layout=layers.conv_kernel_layout(layout, True),
        name=f"{name}_depthwise_conv1",
    )
    net = nn.relu(layers.batch_norm_infer(net, epsilon=epsilon, axis=axis, name=f"{name}_bn1"))
    net = layers.conv2d(
        net,
        channels=pointwise_channels,
        kernel_size=(1, 1),
        data_layout=layout,
        kernel_layout=layers.conv_kernel_layout(layout),
        name=f"{name}_conv2",
    )
    return nn.relu(layers.batch_norm_infer(net, epsilon=epsilon, axis=axis, name=f"{name}_bn2"))


def mobile_net(
    num_classes: int = 1000,
    data_shape: tuple[int, ...] = (1, 3, 224, 224),
    dtype: str = "float32",
    alpha: float = 1.0,
    is_shallow: bool = False,
    layout: str = "NCHW",
) -> Function:
    """Returns the network, with numbers of channels multiplied by `alpha`."""
    net = var("data", shape=data_shape, dtype=dtype)
    net = conv_block(net, "conv_block_1", int(32 * alpha), strides=(2, 2), layout=layout)
    for number, (depthwise, pointwise, stride) in enumerate(_BLOCKS + (_SHALLOW if is_shallow else _DEEP), start=1):
        net = separable_conv_block(
            net,
            f"separable_conv_block_{number}",
            int(depthwise * alpha),
            int(pointwise * alpha),
            downsample=stride == 2,
            layout=layout,
            dtype=dtype,
        )
    net = nn.batch_flatten(nn.global_avg_pool2d(net, layout=layout))
    net = nn.softmax(layers.dense_add_bias(net, units=num_classes, name="fc"))
    return layers.function_of(net)


def get_workload(
    batch_size: int = 1,
    num_classes: int = 1000,
    image_shape: tuple[int, ...] = (3, 224, 224),
    dtype: str = "float32",
    layout: str = "NCHW",
) -> Workload:
    """Returns the network as a module, and its parameters."""
    return create_workload(mobile_net(num_classes, (batch_size, *image_shape), dtype, layout=layout))
