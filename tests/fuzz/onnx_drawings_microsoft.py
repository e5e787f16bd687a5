"""Draws random nodes of onnxruntime's own operators on tensors, images and products, and its normalizations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.onnx_draft import Draft, Drawing, draws
from fuzz.onnx_drawings_nn import conv, image, kernel_of, window
from xrelay.frontend.onnx.registry import MICROSOFT

Shape = tuple[int, ...]


def draws_own(*ops: str) -> Callable[[Drawing], Drawing]:
    """Registers a function that draws nodes of these ops of com.microsoft."""
    return draws(*(f"{MICROSOFT}::{op}" for op in ops))


def rows_and_hidden(draft: Draft) -> tuple[int, int, int]:
    """Batch, positions and features of a sequence."""
    return draft.pick(1, 2), draft.pick(1, 3, 5), draft.pick(1, 4, 7, 8)


@draws_own("CDist")
def distances_of_all_pairs(draft: Draft) -> None:
    depth = draft.pick(1, 3, 8)
    for _ in range(2):
        draft.data((draft.pick(1, 2, 7), depth), domain="finite")
    draft.attributes["metric"] = draft.pick("euclidean", "sqeuclidean")


@draws_own("Inverse")
def inverse(draft: Draft) -> None:
    extent = draft.pick(1, 2, 3, 5)
    draft.data((*draft.pick((), (2,), (2, 3)), extent, extent), domain="finite")


@draws_own("CropAndResize")
def crop_and_resize(draft: Draft) -> None:
    shape, count = image(draft), draft.pick(1, 3)
    draft.data(shape, domain="finite")
    draft.data((count, 4), domain="finite")
    draft.data((count,), np.int32, f"whole 0 {shape[0]}")
    draft.setting([draft.pick(1, 3, 4), draft.pick(1, 2, 5)], np.int32)
    draft.maybe(mode=draft.pick("bilinear", "nearest"), extrapolation_value=0.5)


@draws_own("GridSample")
def grid_sample(draft: Draft) -> None:
    shape = image(draft)
    draft.data(shape, np.float32, domain="finite")
    draft.data((shape[0], draft.pick(1, 2, 5), draft.pick(1, 3), 2), np.float32, domain="finite")
    draft.maybe(mode=draft.pick("bilinear", "nearest", "bicubic"), align_corners=draft.pick(0, 1))
    draft.maybe(padding_mode=draft.pick("zeros", "border", "reflection"))


@draws_own("NhwcMaxPool")
def max_pool_of_last_channels(draft: Draft) -> None:
    n, c, h, w = image(draft)
    kernel = kernel_of(draft, 2)
    draft.data((n, h, w, c))
    draft.attributes["kernel_shape"] = list(kernel)
    window(draft, kernel, dilations=True)


@draws_own("UnfoldTensor")
def unfold(draft: Draft) -> None:
    shape = tuple(max(extent, 1) for extent in draft.shape(1))
    axis = draft.axis(len(shape))
    draft.data(shape)
    draft.attributes |= {"dim": axis, "size": draft.integer(1, shape[axis])}
    draft.maybe(step=draft.pick(1, 2, 3))


@draws_own("Pad")
def pad(draft: Draft) -> None:
    shape = tuple(max(extent, 1) for extent in draft.shape(1))
    mode = draft.pick("constant", "constant", "edge", "reflect")
    most = [2 if mode != "reflect" else min(2, extent - 1) for extent in shape] * 2
    draft.data(shape)
    draft.setting([draft.integer(0, limit) for limit in most])
    draft.attributes["mode"] = mode
    if mode == "constant" and draft.chance(0.7):
        draft.data((), constant=1.0)


@draws_own("Range")
def number_range(draft: Draft) -> None:
    draft.setting(draft.integer(-6, 6), draft.dtype)
    draft.data((), domain="whole -20 20", constant=0.5)
    if draft.chance(0.6):
        draft.setting(draft.pick(1, 2, 3, -1, -2), draft.dtype)


@draws_own("FusedConv")
def fused_conv(draft: Draft) -> None:
    conv(draft)
    draft.attributes |= activation(draft, "activation_params")


@draws_own("ConvTransposeWithDynamicPads")
def conv_transpose_with_pads(draft: Draft) -> None:
    shape, kernel = image(draft), kernel_of(draft, 2)
    groups = draft.pick(1, shape[1])
    filters = draft.pick(1, 2, 5)
    draft.data(shape, domain="finite")
    draft.data((shape[1], filters, *kernel), domain="finite", constant=0.5)
    if draft.chance(0.7):
        draft.setting([draft.integer(0, extent - 1) for extent in (*kernel, *kernel)])
    else:
        draft.absent()
    if draft.chance(0.5):
        draft.data((groups * filters,), domain="finite")
    draft.attributes["group"] = groups
    draft.maybe(strides=[draft.pick(1, 2), draft.pick(1, 3)])


def activation(draft: Draft, parameters: str | None) -> dict[str, Any]:
    """An activation with its parameters: in the list `parameters`, or as separate attributes."""
    name = draft.pick("Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid", "Clip" if parameters else "Relu")
    numbers = {"LeakyRelu": [0.3], "HardSigmoid": [0.2, 0.4], "Clip": [-0.5, 1.5]}.get(name, [])
    if parameters:
        return {"activation": name} | ({parameters: numbers} if numbers else {})
    names = ("activation_alpha", "activation_beta")
    return {"activation": name} | dict(zip(names, numbers, strict=False))


@draws_own("FusedGemm")
def fused_gemm(draft: Draft) -> None:
    draft.dtype = np.dtype(draft.pick(np.float32, np.float16))
    m, k, n = (draft.pick(1, 3, 8) for _ in range(3))
    turned = draft.integer(0, 1), draft.integer(0, 1)
    draft.data((k, m) if turned[0] else (m, k), domain="finite")
    draft.data((n, k) if turned[1] else (k, n), domain="finite", constant=0.5)
    if draft.chance(0.6):
        draft.data(draft.pick((m, n), (n,), (1, n), (m, 1), ()), domain="finite")
    draft.attributes |= {"transA": turned[0], "transB": turned[1], **activation(draft, None)}
    draft.maybe(alpha=0.5, beta=2.0)


@draws_own("FusedMatMul", "TransposeMatMul")
def fused_matmul(draft: Draft) -> None:
    batch, m, k, n = (draft.pick(1, 2, 3, 5) for _ in range(4))
    names = ("transA", "transB", "transBatchA", "transBatchB")
    flags = {name: draft.integer(0, 1) for name in (names if draft.op.endswith("FusedMatMul") else names[:2])}
    for side, (rows, columns) in zip("AB", ((m, k), (k, n)), strict=True):
        matrix = (columns, rows) if flags[f"trans{side}"] else (rows, columns)
        moved = (matrix[0], batch, matrix[1]) if flags.get(f"transBatch{side}") else (batch, *matrix)
        draft.data(moved, domain="finite")
    draft.attributes |= flags
    draft.maybe(alpha=0.5)


@draws_own("MatMulInteger16")
def matmul_integers(draft: Draft) -> None:
    m, k, n = (draft.pick(1, 2, 3, 7) for _ in range(3))
    draft.dtype = np.dtype(np.int16)
    draft.data((m, k), domain="finite")
    draft.data((k, n), domain="finite", constant=0.5)


@draws_own("BiasGelu")
def bias_gelu(draft: Draft) -> None:
    shape = draft.shape(1)
    draft.data(shape)
    draft.data(shape[-1:], constant=0.5)


@draws("SimplifiedLayerNormalization")
@draws_own("SimplifiedLayerNormalization")
def simplified_normalization(draft: Draft) -> None:
    shape = rows_and_hidden(draft)
    axis = draft.pick(-1, 1, 2, -2)
    draft.data(shape, domain="finite")
    draft.data(shape[axis:], domain="finite", constant=0.5)
    draft.attributes["axis"] = axis
    draft.maybe(epsilon=0.1)


@draws_own("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
def skip_normalization(draft: Draft) -> None:
    batch, places, hidden = rows_and_hidden(draft)
    draft.data((batch, places, hidden), domain="finite")
    draft.data(draft.pick((batch, places, hidden), (1, places, hidden)), domain="finite")
    draft.data((hidden,), domain="finite", constant=0.5)
    for _ in range(1 if "Simplified" in draft.op else 2):
        if draft.chance(0.5):
            draft.data((hidden,), domain="finite", constant=0.5)
        else:
            draft.absent()
    draft.maybe(epsilon=0.1)


@draws_own("GroupNorm", "SkipGroupNorm")
def group_normalization(draft: Draft) -> None:
    n, _, h, w = image(draft)
    groups = draft.pick(1, 2, 3)
    channels = groups * draft.pick(1, 2, 3)
    last = draft.integer(0, 1)
    shape = (n, h, w, channels) if last else (n, channels, h, w)
    draft.data(shape, domain="finite")
    for _ in range(2):
        draft.data((channels,), np.float32, domain="finite", constant=0.5)
    if draft.op.endswith("SkipGroupNorm"):
        draft.data(draft.pick(shape, (n, channels)), domain="finite")
        if draft.chance(0.5):
            draft.data((channels,), domain="finite")
    draft.attributes |= {"groups": groups, "channels_last": last, "activation": draft.integer(0, 1)}


@draws_own("EmbedLayerNormalization")
def embeddings(draft: Draft) -> None:
    batch, places, hidden = rows_and_hidden(draft)
    ids, segments = (batch, places), draft.chance(0.5)
    draft.data(ids, np.int32, "whole 0 9")
    if segments:
        draft.data(ids, np.int32, "whole 0 2")
    else:
        draft.absent()
    draft.dtype = np.dtype(draft.pick(np.float32, np.float16))
    draft.data((9, hidden), domain="finite", constant=0.5)
    draft.data((6, hidden), domain="finite", constant=0.5)
    if segments:
        draft.data((2, hidden), domain="finite")
    else:
        draft.absent()
    for _ in range(2):
        draft.data((hidden,), domain="finite", constant=0.5)
    if draft.chance(0.5):
        draft.data(ids, np.int32, "whole 0 2")
        draft.outputs = 2


@draws_own("Unique")
def unique(draft: Draft) -> None:
    draft.data((draft.pick(1, 2, 7, 17),), np.float32, "small")
    draft.outputs = 3
