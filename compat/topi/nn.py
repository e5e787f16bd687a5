"""Computes of neural networks."""

from __future__ import annotations

from collections.abc import Sequence

from xrelay import te
from xrelay.errors import InputError
from xrelay.te.expr import PrimExpr
from xrelay.te.tensor import Tensor
from xrelay.topi import tag
from xrelay.topi.elementwise import elementwise
from xrelay.topi.transform import reshape
from xrelay.topi.utils import normal_axes

Pair = int | Sequence[int]
"""A number for height and width, or one for each."""


def relu(x: Tensor) -> Tensor:
    """Returns `max(x, 0)`."""
    return elementwise("relu", x, lambda value: te.max(value, te.const(0, x.dtype)))


def leaky_relu(x: Tensor, alpha: float) -> Tensor:
    """Returns `x` if it is positive, else `alpha * x`."""
    return elementwise("leaky_relu", x, lambda value: te.if_then_else(value > 0, value, value * alpha))


def dense(data: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Returns `data @ weight.T + bias` for `data` of (M, K) and `weight` of (N, K).

    Raises `InputError` for other shapes.
    """
    product = matmul(data, weight, transpose_b=True)
    if bias is None:
        return product
    if bias.shape != product.shape[1:]:
        raise InputError(f"dense: a bias of shape {list(bias.shape)} for {product.shape[1]} units")
    return te.compute(product.shape, lambda *at: product(*at) + bias(at[1]), name="T_add", tag=tag.BROADCAST)


def matmul(tensor_a: Tensor, tensor_b: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """Returns the product of two matrices, each optionally transposed.

    Raises `InputError` if their shapes do not fit.
    """
    if tensor_a.ndim != 2 or tensor_b.ndim != 2:
        raise InputError(f"matmul of {tensor_a.ndim} and {tensor_b.ndim} axes", help="pass two matrices")
    m, depth = tensor_a.shape[::-1] if transpose_a else tensor_a.shape
    other, n = tensor_b.shape[::-1] if transpose_b else tensor_b.shape
    if depth != other:
        raise InputError(f"matmul: {depth} columns for {other} rows", help="transpose_b=True takes rows of weights")
    k = te.reduce_axis((0, depth), name="k")

    def fill(i: te.IterVar, j: te.IterVar) -> PrimExpr:
        a = tensor_a[k, i] if transpose_a else tensor_a[i, k]
        b = tensor_b[j, k] if transpose_b else tensor_b[k, j]
        return te.sum(a * b, axis=k)

    return te.compute((m, n), fill, name="T_matmul", tag="matmul")


def pad(
    data: Tensor, pad_before: Sequence[int], pad_after: Sequence[int] | None = None, pad_value: float = 0.0
) -> Tensor:
    """Returns `data` with elements of `pad_value` before and after each axis."""
    before = tuple(pad_before)
    after = before if pad_after is None else tuple(pad_after)
    if len(before) != data.ndim or len(after) != data.ndim:
        raise InputError(f"pad: {len(before)} and {len(after)} widths for {data.ndim} axes of {data.name}")
    shape = [low + extent + high for low, extent, high in zip(before, data.shape, after, strict=True)]

    def fill(*indices: te.IterVar) -> PrimExpr:
        at = [index - low for index, low in zip(indices, before, strict=True)]
        inside = [index >= 0 for index, low in zip(at, before, strict=True) if low]
        inside += [index < extent for index, extent, high in zip(at, data.shape, after, strict=True) if high]
        if not inside:
            return data(*at)
        value = int(pad_value) if data.dtype.startswith(("int", "uint")) else pad_value
        return te.if_then_else(te.all(*inside), data(*at), te.const(value, data.dtype))

    return te.compute(shape, fill, name="pad_temp", tag=f"{tag.INJECTIVE},pad")


def conv2d_nchw(data: Tensor, weight: Tensor, stride: Pair, padding: Pair, dilation: Pair = 1) -> Tensor:
    """Returns the convolution of (N, C, H, W) with (O, C, KH, KW).

    `padding` is one number, two, or four (top, left, bottom, right).
    """
    if data.ndim != 4 or weight.ndim != 4 or data.shape[1] != weight.shape[1]:
        raise InputError(f"conv2d of {list(data.shape)} with {list(weight.shape)}", help="pass NCHW and OIHW")
    (down, right), (step_y, step_x), sides = _pair(stride), _pair(dilation), _sides(padding)
    outputs, channels, height, width = weight.shape
    padded = pad(data, (0, 0, *sides[:2]), (0, 0, *sides[2:]))
    rows = (padded.shape[2] - (height - 1) * step_y - 1) // down + 1
    columns = (padded.shape[3] - (width - 1) * step_x - 1) // right + 1
    rc, ry = te.reduce_axis((0, channels), name="rc"), te.reduce_axis((0, height), name="ry")
    rx = te.reduce_axis((0, width), name="rx")

    def fill(nn: te.IterVar, ff: te.IterVar, yy: te.IterVar, xx: te.IterVar) -> PrimExpr:
        element = padded[nn, rc, yy * down + ry * step_y, xx * right + rx * step_x]
        return te.sum(element * weight[ff, rc, ry, rx], axis=[rc, ry, rx])

    return te.compute((data.shape[0], outputs, rows, columns), fill, name="conv2d_nchw", tag="conv2d_nchw")


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """Returns `exp(x - max) / sum` along an axis."""
    (at,) = normal_axes(x, axis)
    kept = [extent for index, extent in enumerate(x.shape) if index != at]

    def with_axis(indices: Sequence[te.IterVar], index: PrimExpr) -> list[PrimExpr]:
        return [*indices[:at], index, *indices[at:]]

    k, m = (te.reduce_axis((0, x.shape[at]), name=name) for name in ("k", "m"))
    largest = te.compute(kept, lambda *i: te.max(x(*with_axis(i, k)), axis=k), name="T_softmax_maxelem")
    powers = te.compute(
        x.shape, lambda *i: te.exp(x(*i) - largest(*i[:at], *i[at + 1 :])), name="T_softmax_exp", tag=tag.ELEMWISE
    )
    total = te.compute(kept, lambda *i: te.sum(powers(*with_axis(i, m)), axis=m), name="T_softmax_expsum")
    return te.compute(
        x.shape, lambda *i: powers(*i) / total(*i[:at], *i[at + 1 :]), name="T_softmax_norm", tag="softmax_output"
    )


def flatten(data: Tensor) -> Tensor:
    """Merges all axes but the first."""
    rest = 1
    for extent in data.shape[1:]:
        rest *= extent
    return reshape(data, (data.shape[0], rest))


def _pair(value: Pair) -> tuple[int, int]:
    first, second = (value, value) if isinstance(value, int) else tuple(value)
    return first, second


def _sides(padding: Pair) -> tuple[int, int, int, int]:
    """Returns the padding at top, left, bottom and right."""
    if isinstance(padding, int) or len(padding) == 2:
        top, left = _pair(padding)
        return top, left, top, left
    top, left, bottom, right = padding
    return top, left, bottom, right
