"""Draws random nodes of onnxruntime's own quantised operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.onnx_draft import Draft
from fuzz.onnx_drawings_microsoft import draws_own
from fuzz.onnx_drawings_nn import image, kernel_of, window

Shape = tuple[int, ...]


def _scale(draft: Draft, shape: Shape = ()) -> None:
    """Adds power-of-two scales: their products are exact in every engine."""
    draft.setting(2.0 ** -draft.rng.integers(0, 6, shape), np.float32)


def _zero(draft: Draft, dtype: Any = None, shape: Shape = ()) -> None:
    draft.setting(draft.rng.integers(0, 100, shape), draft.dtype if dtype is None else dtype)


def _numbers(draft: Draft) -> None:
    """Adds a scale and a zero point."""
    _scale(draft)
    _zero(draft)


@draws_own("QLinearAdd", "QLinearMul")
def arithmetic(draft: Draft) -> None:
    shape = draft.shape()
    for each in (shape, draft.broadcast_with(shape)):
        draft.data(each)
        _numbers(draft)
    _numbers(draft)


@draws_own("QLinearLeakyRelu", "QLinearSigmoid")
def function(draft: Draft) -> None:
    draft.data(draft.shape())
    _numbers(draft)
    _numbers(draft)
    if draft.op.endswith("LeakyRelu"):
        draft.maybe(alpha=0.25)


@draws_own("QLinearSoftmax")
def softmax(draft: Draft) -> None:
    shape = tuple(max(extent, 1) for extent in draft.shape(1))
    draft.data(shape)
    _numbers(draft)
    draft.setting(1 / 256, np.float32)
    draft.setting(0 if draft.dtype.kind == "u" else -128, draft.dtype)
    draft.attributes |= {"axis": draft.axis(len(shape)), "opset": draft.pick(12, 13)}


@draws_own("QLinearConcat")
def concat(draft: Draft) -> None:
    shape = [max(extent, 1) for extent in draft.shape(1)]
    axis = draft.axis(len(shape))
    draft.dtype = np.dtype(draft.pick(np.uint8, np.int8))
    _numbers(draft)
    for _ in range(draft.integer(1, 3)):
        shape[axis] = draft.pick(1, 2, 5)
        draft.data(tuple(shape))
        _numbers(draft)
    draft.attributes["axis"] = axis


@draws_own("QLinearWhere")
def choice(draft: Draft) -> None:
    shape = draft.shape()
    draft.data(draft.broadcast_with(shape), np.bool_)
    draft.dtype = np.dtype(draft.pick(np.uint8, np.int8))
    for each in (shape, draft.broadcast_with(shape)):
        draft.data(each)
        _numbers(draft)
    _numbers(draft)


@draws_own("QLinearReduceMean")
def mean(draft: Draft) -> None:
    shape = tuple(max(extent, 1) for extent in draft.shape(1))
    draft.data(shape)
    _numbers(draft)
    _numbers(draft)
    draft.attributes |= {"axes": draft.axes(len(shape), 1), "keepdims": draft.integer(0, 1)}


@draws_own("QLinearAveragePool", "QLinearGlobalAveragePool")
def average_pool(draft: Draft) -> None:
    n, c, h, w = image(draft)
    last = draft.integer(0, 1)
    draft.data((n, h, w, c) if last else (n, c, h, w))
    _numbers(draft)
    _numbers(draft)
    draft.attributes["channels_last"] = last
    if "Global" in draft.op:
        return
    kernel = kernel_of(draft, 2)
    draft.attributes["kernel_shape"] = list(kernel)
    window(draft, kernel, dilations=False)
    draft.maybe(count_include_pad=1)


@draws_own("QGemm")
def gemm(draft: Draft) -> None:
    m, k, n = (draft.pick(1, 3, 8) for _ in range(3))
    turned = draft.integer(0, 1), draft.integer(0, 1)
    left, right = draft.dtype, np.dtype(draft.pick(np.int8, np.uint8))
    each = draft.pick((), (n,))
    draft.data((k, m) if turned[0] else (m, k), left)
    _numbers(draft)
    draft.data((n, k) if turned[1] else (k, n), right, constant=0.5)
    _scale(draft, each)
    _zero(draft, right, each)
    if draft.chance(0.5):
        draft.data((n,), np.int32, "finite")
    else:
        draft.absent()
    if draft.chance(0.7):
        _numbers(draft)
    draft.attributes |= {"transA": turned[0], "transB": turned[1]}
    draft.maybe(alpha=0.5)


@draws_own("DynamicQuantizeMatMul")
def dynamic_matmul(draft: Draft) -> None:
    rows, depth, columns = (draft.pick(1, 2, 5, 8) for _ in range(3))
    right, each = np.dtype(draft.pick(np.int8, np.uint8)), draft.pick((), (columns,))
    draft.data((*draft.pick((), (2,)), rows, depth), np.float32, domain="finite")
    draft.data((depth, columns), right, constant=0.7)
    _scale(draft, each)
    if draft.chance(0.6):
        _zero(draft, right, each)
        if draft.chance(0.5):
            draft.data((columns,), np.float32, domain="finite")


@draws_own("MatMulIntegerToFloat")
def matmul_to_float(draft: Draft) -> None:
    rows, depth, columns = (draft.pick(1, 2, 5, 8) for _ in range(3))
    left, right, each = draft.dtype, np.dtype(draft.pick(np.int8, np.uint8)), draft.pick((), (columns,))
    draft.data((*draft.pick((), (2,)), rows, depth), left)
    draft.data((depth, columns), right, constant=0.7)
    _scale(draft)
    _scale(draft, each)
    if draft.chance(0.6):
        _zero(draft, left)
        _zero(draft, right, each)
        if draft.chance(0.5):
            draft.data((columns,), np.float32, domain="finite")


@draws_own("MatMulNBits")
def matmul_by_blocks(draft: Draft) -> None:
    bits, size, columns, depth = draft.pick(2, 4, 8), draft.pick(16, 32), draft.pick(1, 3, 8), draft.pick(16, 32, 40)
    blocks = -(-depth // size)
    draft.dtype = np.dtype(draft.pick(np.float32, np.float16))
    draft.data((*draft.pick((), (2,)), draft.pick(1, 5), depth), domain="finite")
    draft.setting(draft.rng.integers(0, 256, (columns, blocks, size * bits // 8)), np.uint8)
    draft.setting(draft.rng.random((columns, blocks)), draft.dtype)
    if draft.chance(0.5):
        draft.setting(draft.rng.integers(0, 256, (columns, -(-blocks * bits // 8))), np.uint8)
    elif draft.chance(0.5):
        draft.absent()
    if len(draft.order) == 4 and draft.chance(0.5):
        draft.absent()
        draft.data((columns,), domain="finite")
    draft.attributes |= {"K": depth, "N": columns, "block_size": size, "bits": bits}


@draws_own("GatherBlockQuantized")
def gather_by_blocks(draft: Draft) -> None:
    bits, size, rows, blocks = draft.pick(4, 8), draft.pick(16, 32), draft.pick(1, 7), draft.pick(1, 2)
    draft.setting(draft.rng.integers(0, 256, (rows, blocks * size * bits // 8)), np.uint8)
    draft.data(draft.pick((), (3,), (2, 2)), np.int64, f"whole 0 {rows}", constant=0.0)
    draft.setting(draft.rng.random((rows, blocks)), np.float32)
    if draft.chance(0.5):
        draft.setting(draft.rng.integers(0, 256, (rows, -(-blocks * bits // 8))), np.uint8)
    draft.attributes |= {"bits": bits, "block_size": size, "gather_axis": 0, "quantize_axis": 1}


@draws_own("MatMulBnb4")
def matmul_by_tables(draft: Draft) -> None:
    size, columns, depth = draft.pick(16, 32), draft.pick(1, 3, 8), draft.pick(32, 64)
    draft.dtype = np.dtype(np.float32)
    draft.data((*draft.pick((), (2,)), draft.pick(1, 5), depth), domain="finite")
    draft.setting(draft.rng.integers(0, 256, (columns * depth // 2,)), np.uint8)
    draft.setting(draft.rng.random((columns * depth // size,)), np.float32)
    draft.attributes |= {"K": depth, "N": columns, "block_size": size, "quant_type": draft.integer(0, 1)}
