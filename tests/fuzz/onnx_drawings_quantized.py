"""Draws random nodes that multiply quantised values: integers with zero points, and power-of-two scales."""

from __future__ import annotations

import numpy as np

from fuzz.onnx_draft import Draft, draws
from fuzz.onnx_drawings_nn import kernel_of, volume, window

Shape = tuple[int, ...]


def _zero(draft: Draft, dtype: np.dtype, shape: Shape = ()) -> None:
    draft.data(shape, dtype, "small", constant=0.5)


def _scale(draft: Draft, shape: Shape = ()) -> None:
    """Adds power-of-two scales: their products are exact in every engine."""
    draft.setting(2.0 ** -draft.rng.integers(0, 6, shape), np.float32)


def _right(draft: Draft) -> np.dtype:
    """The dtype of a second operand: either 8-bit type if the first is unsigned."""
    return np.dtype(np.int8 if draft.dtype == np.int8 else draft.pick(np.uint8, np.int8))


def _matrices(draft: Draft) -> tuple[Shape, Shape]:
    """The shapes of a stack of matrices and a matrix, or of two stacks."""
    stack = draft.pick((), (), (2,), (2, 3))
    rows, depth, columns = (draft.pick(1, 2, 3, 7) for _ in range(3))
    return (*stack, rows, depth), (*draft.pick((), stack), depth, columns)


@draws("MatMulInteger")
def matmul_integer(draft: Draft) -> None:
    (left, right), dtype = _matrices(draft), _right(draft)
    draft.data(left)
    draft.data(right, dtype, constant=0.5)
    if draft.chance(0.7):
        _zero(draft, draft.dtype)
        _zero(draft, dtype, draft.pick((), (right[-1],)) if len(right) == 2 else ())


@draws("QLinearMatMul")
def qlinear_matmul(draft: Draft) -> None:
    draft.dtype = np.dtype(draft.pick(np.uint8, np.int8))
    (left, right), dtype = _matrices(draft), _right(draft)
    for shape, kind in ((left, draft.dtype), (right, dtype)):
        draft.data(shape, kind)
        _scale(draft)
        _zero(draft, kind)
    _scale(draft)
    _zero(draft, draft.dtype)


def _filtered(draft: Draft) -> tuple[Shape, Shape]:
    rank = draft.pick(1, 2, 2, 3)
    shape, kernel = volume(draft, rank), kernel_of(draft, rank)
    groups = draft.pick(1, 1, shape[1])
    draft.attributes["group"] = groups
    window(draft, kernel, dilations=True)
    return shape, (groups * draft.pick(1, 2, 8), shape[1] // groups, *kernel)


@draws("ConvInteger")
def conv_integer(draft: Draft) -> None:
    shape, weight = _filtered(draft)
    dtype = _right(draft)
    draft.data(shape)
    draft.data(weight, dtype, constant=0.5)
    if draft.chance(0.7):
        _zero(draft, draft.dtype)
        _zero(draft, dtype)


@draws("QLinearConv")
def qlinear_conv(draft: Draft) -> None:
    shape, weight = _filtered(draft)
    quantized_conv(draft, shape, weight)


@draws("com.microsoft::QLinearConv")
def qlinear_conv_of_last_channels(draft: Draft) -> None:
    shape, weight = _filtered(draft)
    draft.attributes["channels_last"] = draft.integer(0, 1)
    last = draft.attributes["channels_last"] == 1
    quantized_conv(draft, (shape[0], *shape[2:], shape[1]) if last else shape, weight)


def quantized_conv(draft: Draft, shape: Shape, weight: Shape) -> None:
    """Draws an image, filters and sometimes a bias, with scales and zero points."""
    dtype = _right(draft)
    each = draft.pick((), (weight[0],))
    draft.data(shape)
    _scale(draft)
    _zero(draft, draft.dtype)
    draft.data(weight, dtype, constant=0.5)
    _scale(draft, each)
    _zero(draft, dtype, each)
    _scale(draft)
    _zero(draft, draft.dtype)
    if draft.chance(0.5):
        draft.data((weight[0],), np.int32, "small", constant=0.5)
