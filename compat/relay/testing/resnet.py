"""ResNet with activations before convolutions, of He et al., arXiv:1603.05027."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from xrelay.errors import InputError
from xrelay.relay import Expr, Function, nn, var
from xrelay.relay.testing import layers
from xrelay.relay.testing.init import Workload, create_workload

_UNITS = {
    18: (2, 2, 2, 2),
    34: (3, 4, 6, 3),
    50: (3, 4, 6, 3),
    101: (3, 4, 23, 3),
    152: (3, 8, 36, 3),
    200: (3, 24, 36, 3),
    269: (3, 30, 48, 8),
}
"""The number of units of each stage, by the number of layers."""
_EPSILON = 2e-5


def residual_unit(
    data: Expr,
    num_filter: int,
    stride: tuple[int, int],
    dim_match: bool,
    name: str,
    bottle_neck: bool = True,
    data_layout: str = "NCHW",
    kernel_layout: str = "OIHW",
) -> Expr:
    """Returns two convolutions (three with a bottleneck) plus the data, which is projected unless `dim_match`."""
    conv = partial(layers.conv2d, data_layout=data_layout, kernel_layout=kernel_layout)
    norm = partial(layers.batch_norm_infer, epsilon=_EPSILON, axis=data_layout.index("C"))
    narrow, small = num_filter // 4, {"kernel_size": (3, 3), "padding": (1, 1)}
    steps: list[dict[str, Any]] = [{"channels": num_filter, **small}, {"channels": num_filter, **small}]
    if bottle_neck:
        point = {"kernel_size": (1, 1)}
        steps = [{"channels": narrow, **point}, {"channels": narrow, **small}, {"channels": num_filter, **point}]
    steps[0]["strides"] = stride
    net, first = data, data
    for number, attributes in enumerate(steps, start=1):
        active = nn.relu(norm(net, name=f"{name}_bn{number}"))
        first = active if number == 1 else first
        net = conv(active, name=f"{name}_conv{number}", **attributes)
    if dim_match:
        return net + data
    return net + conv(first, channels=num_filter, kernel_size=(1, 1), strides=stride, name=f"{name}_sc")


def resnet(
    units: Sequence[int],
    num_stages: int,
    filter_list: Sequence[int],
    num_classes: int,
    data_shape: tuple[int, ...],
    bottle_neck: bool = True,
    layout: str = "NCHW",
    dtype: str = "float32",
) -> Function:
    """Returns the network. `units` are per stage; `filter_list` has the channels of the stem and of each stage."""
    kernel_layout, axis = layers.conv_kernel_layout(layout), layout.index("C")
    norm = partial(layers.batch_norm_infer, epsilon=_EPSILON, axis=axis)
    conv = partial(layers.conv2d, data_layout=layout, kernel_layout=kernel_layout, channels=filter_list[0])
    net = norm(var("data", shape=data_shape, dtype=dtype), scale=False, name="bn_data")
    if data_shape[layout.index("H")] <= 32:
        net = conv(net, kernel_size=(3, 3), padding=(1, 1), name="conv0")
    else:
        net = conv(net, kernel_size=(7, 7), strides=(2, 2), padding=(3, 3), name="conv0")
        net = nn.relu(norm(net, name="bn0"))
        net = nn.max_pool2d(net, pool_size=(3, 3), strides=(2, 2), padding=(1, 1), layout=layout)
    for stage in range(num_stages):
        for number in range(units[stage]):
            stride = (2, 2) if stage > 0 and number == 0 else (1, 1)
            name, channels = f"stage{stage + 1}_unit{number + 1}", filter_list[stage + 1]
            net = residual_unit(net, channels, stride, number > 0, name, bottle_neck, layout, kernel_layout)
    net = nn.batch_flatten(nn.global_avg_pool2d(nn.relu(norm(net, name="bn1")), layout=layout))
    net = nn.softmax(layers.dense_add_bias(net, units=num_classes, name="fc1"))
    return layers.function_of(net)


def get_net(
    batch_size: int,
    num_classes: int,
    num_layers: int = 50,
    image_shape: tuple[int, ...] = (3, 224, 224),
    layout: str = "NCHW",
    dtype: str = "float32",
    **kwargs: object,
) -> Function:
    """Returns the network of a number of layers. Images of up to 28 rows have other networks, as in Relay.

    Raises `InputError` for an unsupported number of layers.
    """
    height, bottle_neck = image_shape[layout.index("H") - 1], num_layers >= 50
    filters = (64, 256, 512, 1024, 2048) if bottle_neck else (64, 64, 128, 256, 512)
    units = _UNITS.get(num_layers)
    if height <= 28:
        bottle_neck = num_layers >= 164
        filters, per_unit = ((16, 64, 128, 256), 9) if bottle_neck else ((16, 16, 32, 64), 6)
        units = ((num_layers - 2) // per_unit,) * 3 if (num_layers - 2) % per_unit == 0 else None
    if units is None:
        raise InputError(f"there is no ResNet of {num_layers} layers for images of {height} rows")
    shape = (batch_size, *image_shape)
    return resnet(units, len(units), filters, num_classes, shape, bottle_neck, layout, dtype)


def get_workload(
    batch_size: int = 1,
    num_classes: int = 1000,
    num_layers: int = 18,
    image_shape: tuple[int, ...] = (3, 224, 224),
    layout: str = "NCHW",
    dtype: str = "float32",
    **kwargs: object,
) -> Workload:
    """Returns the network as a module, and its parameters."""
    return create_workload(get_net(batch_size, num_classes, num_layers, image_shape, layout, dtype))
