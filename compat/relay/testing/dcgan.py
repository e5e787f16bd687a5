"""The generator of DCGAN, of Radford et al., arXiv:1511.06434."""

from __future__ import annotations

from xrelay.errors import InputError
from xrelay.relay import Expr, Function, nn, reshape, tanh, var
from xrelay.relay.testing import layers
from xrelay.relay.testing.init import Workload, create_workload

_KERNEL_LAYOUTS = {"NCHW": "IOHW", "NHWC": "HWOI"}
_WINDOW, _SIZE = 4, 64


def get_net(
    batch_size: int,
    random_len: int = 100,
    oshape: tuple[int, int, int] = (3, 64, 64),
    ngf: int = 128,
    code: Expr | None = None,
    layout: str = "NCHW",
    dtype: str = "float32",
) -> Function:
    """Returns the network: a dense layer and four transposed convolutions that double rows and columns.

    Raises `InputError` for image sizes other than 64x64, and for layouts other than NCHW and NHWC.
    """
    if layout not in _KERNEL_LAYOUTS:
        raise InputError(f"the layout is {layout!r}", help="pass NCHW or NHWC")
    rows, columns = (oshape[layout.index(axis) - 1] for axis in "HW")
    if (rows, columns) != (_SIZE, _SIZE):
        raise InputError(f"the images are {rows}x{columns}", help="they are 64x64")
    net = var("data", shape=(batch_size, random_len), dtype=dtype) if code is None else code
    net = nn.relu(nn.dense(net, var("dense_weight"), units=4 * 4 * ngf * 8))
    net = reshape(net, newshape=(-1, ngf * 8, 4, 4) if layout == "NCHW" else (-1, 4, 4, ngf * 8))
    for name, channels in (("g2", ngf * 4), ("g3", ngf * 2), ("g4", ngf)):
        net = _upsample(net, channels, layout, name)
        axis = layout.index("C")
        net = layers.batch_norm_infer(net, epsilon=1e-5 + 1e-12, scale=False, axis=axis, name=f"{name}_batch_norm")
        net = nn.relu(net)
    net = tanh(_upsample(net, oshape[layout.index("C") - 1], layout, "g5"))
    return layers.function_of(net)


def _upsample(data: Expr, channels: int, layout: str, name: str) -> Expr:
    """Returns a transposed convolution that doubles rows and columns."""
    return layers.conv2d_transpose(
        data,
        channels=channels,
        kernel_size=(_WINDOW, _WINDOW),
        strides=(2, 2),
        padding=(1, 1),
        data_layout=layout,
        kernel_layout=_KERNEL_LAYOUTS[layout],
        name=f"{name}_deconv",
    )


def get_workload(
    batch_size: int,
    oshape: tuple[int, int, int] = (3, 64, 64),
    ngf: int = 128,
    random_len: int = 100,
    layout: str = "NCHW",
    dtype: str = "float32",
) -> Workload:
    """Returns the network as a module, and its parameters."""
    return create_workload(get_net(batch_size, random_len, oshape, ngf, layout=layout, dtype=dtype))
