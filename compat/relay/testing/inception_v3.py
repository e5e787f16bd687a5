"""Inception v3 for images of 299x299, of Szegedy et al., arXiv:1512.00567."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xrelay.relay import Expr, Function, concatenate, nn, var
from xrelay.relay.testing import layers
from xrelay.relay.testing.init import Workload, create_workload

Step = tuple[int, tuple[int, int]]
"""The channels and the window of a convolution that preserves rows and columns."""

_POINT, _ROW, _COLUMN, _SQUARE = (1, 1), (1, 7), (7, 1), (3, 3)


def get_net(batch_size: int, num_classes: int, image_shape: tuple[int, ...], dtype: str) -> Function:
    """Returns the network."""
    net = _stem(var("data", shape=(batch_size, *image_shape), dtype=dtype))
    for number, pooled in enumerate((32, 64, 64)):
        net = _squares(net, pooled, _module_name(number))
    net = _fewer_squares(net, _module_name(3))
    for number, channels in enumerate((128, 160, 160, 192), start=4):
        net = _lines(net, channels, _module_name(number))
    net = _fewer_lines(net, _module_name(8))
    for number, pool in ((9, "avg"), (10, "max")):
        net = _wide(net, pool, _module_name(number))
    net = nn.batch_flatten(nn.avg_pool2d(net, pool_size=(8, 8), strides=(1, 1), count_include_pad=True))
    net = nn.dense(net, var("fc1_weight"), units=num_classes)
    net = nn.softmax(nn.bias_add(net, var("fc2_bias")))
    return layers.function_of(net)


def _module_name(number: int) -> str:
    return "mixed" if number == 0 else f"mixed_{number}"


def _stem(data: Expr) -> Expr:
    """Returns the convolutions before the first module."""
    net = _conv(data, 32, _SQUARE, "conv", strides=(2, 2), padding=(0, 0))
    net = _conv(net, 32, _SQUARE, "conv_1", padding=(0, 0))
    net = _pool(_conv(net, 64, _SQUARE, "conv_2"))
    net = _conv(net, 80, _POINT, "conv_3")
    return _pool(_conv(net, 192, _SQUARE, "conv_4", padding=(0, 0)))


def _conv(
    data: Expr,
    channels: int,
    window: tuple[int, int],
    name: str,
    strides: tuple[int, int] = (1, 1),
    padding: tuple[int, int] | None = None,
) -> Expr:
    """Returns a convolution, a batch norm and `nn.relu`. Default padding preserves rows and columns."""
    padding = (window[0] // 2, window[1] // 2) if padding is None else padding
    net = layers.conv2d(
        data, channels=channels, kernel_size=window, strides=strides, padding=padding, name=f"{name}_conv1"
    )
    return nn.relu(layers.batch_norm_infer(net, epsilon=2e-5, name=f"{name}_bn"))


def _pool(data: Expr) -> Expr:
    """Halves rows and columns by max pooling."""
    return nn.max_pool2d(data, pool_size=_SQUARE, strides=(2, 2))


def _tower(data: Expr, steps: Sequence[Step], name: str) -> Expr:
    """Returns consecutive convolutions."""
    for number, (channels, window) in enumerate(steps):
        data = _conv(data, channels, window, f"{name}_conv" if number == 0 else f"{name}_conv_{number}")
    return data


def _pooled(data: Expr, channels: int, name: str, pool: str = "avg") -> Expr:
    """Returns a convolution of a max or average pool with 3x3 windows."""
    window: dict[str, Any] = {"pool_size": _SQUARE, "strides": (1, 1), "padding": (1, 1)}
    net = nn.max_pool2d(data, **window) if pool == "max" else nn.avg_pool2d(data, **window, count_include_pad=True)
    return _tower(net, [(channels, _POINT)], f"{name}_tower_2")


def _squares(data: Expr, pooled: int, name: str) -> Expr:
    """Returns parallel convolutions with 1x1, 5x5 and two 3x3 windows."""
    parts = (
        _conv(data, 64, _POINT, f"{name}_conv"),
        _tower(data, [(48, _POINT), (64, (5, 5))], f"{name}_tower"),
        _tower(data, [(64, _POINT), (96, _SQUARE), (96, _SQUARE)], f"{name}_tower_1"),
        _pooled(data, pooled, name),
    )
    return concatenate(parts, axis=1)


def _fewer_squares(data: Expr, name: str) -> Expr:
    """Halves rows and columns by 3x3 windows."""
    double = _tower(data, [(64, _POINT), (96, _SQUARE)], f"{name}_tower")
    parts = (
        _conv(data, 384, _SQUARE, f"{name}_conv", strides=(2, 2), padding=(0, 0)),
        _conv(double, 96, _SQUARE, f"{name}_tower_conv_2", strides=(2, 2), padding=(0, 0)),
        _pool(data),
    )
    return concatenate(parts, axis=1)


def _lines(data: Expr, channels: int, name: str) -> Expr:
    """Returns parallel convolutions with 1x7 and 7x1 windows."""
    twice = [(channels, _POINT), (channels, _ROW), (192, _COLUMN)]
    four = [(channels, _POINT), (channels, _COLUMN), (channels, _ROW), (channels, _COLUMN), (192, _ROW)]
    parts = (
        _conv(data, 192, _POINT, f"{name}_conv"),
        _tower(data, twice, f"{name}_tower"),
        _tower(data, four, f"{name}_tower_1"),
        _pooled(data, 192, name),
    )
    return concatenate(parts, axis=1)


def _fewer_lines(data: Expr, name: str) -> Expr:
    """Halves rows and columns by 3x3 windows, after 1x1, 1x7 and 7x1 windows."""
    square = _tower(data, [(192, _POINT)], f"{name}_tower")
    lines = _tower(data, [(192, _POINT), (192, _ROW), (192, _COLUMN)], f"{name}_tower_1")
    parts = (
        _conv(square, 320, _SQUARE, f"{name}_tower_conv_1", strides=(2, 2), padding=(0, 0)),
        _conv(lines, 192, _SQUARE, f"{name}_tower_1_conv_3", strides=(2, 2), padding=(0, 0)),
        _pool(data),
    )
    return concatenate(parts, axis=1)


def _wide(data: Expr, pool: str, name: str) -> Expr:
    """Returns parallel convolutions with 1x3 and 3x1 windows."""
    single = _tower(data, [(384, _POINT)], f"{name}_tower")
    double = _tower(data, [(448, _POINT), (384, _SQUARE)], f"{name}_tower_1")
    sides = [
        _conv(net, 384, window, f"{tower}_mixed_conv{suffix}")
        for net, tower in ((single, f"{name}_tower"), (double, f"{name}_tower_1"))
        for window, suffix in (((1, 3), ""), ((3, 1), "_1"))
    ]
    parts = (_conv(data, 320, _POINT, f"{name}_conv"), *sides, _pooled(data, 192, name, pool))
    return concatenate(parts, axis=1)


def get_workload(
    batch_size: int = 1,
    num_classes: int = 1000,
    image_shape: tuple[int, ...] = (3, 299, 299),
    dtype: str = "float32",
) -> Workload:
    """Returns the network as a module, and its parameters."""
    return create_workload(get_net(batch_size, num_classes, image_shape, dtype))
