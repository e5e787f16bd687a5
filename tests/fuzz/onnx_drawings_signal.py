"""Draws random nodes of resampled images and of signals: grids, region pooling, transforms, windows."""

from __future__ import annotations

import numpy as np

from fuzz.onnx_draft import Draft, draws
from fuzz.onnx_drawings_nn import image, volume


@draws("AffineGrid")
def affine_grid(draft: Draft) -> None:
    rank = draft.pick(2, 3)
    size = volume(draft, rank)
    draft.data((size[0], rank, rank + 1), domain="finite")
    draft.setting(size)
    draft.maybe(align_corners=1)


@draws("GridSample")
def grid_sample(draft: Draft) -> None:
    rank = 2 if draft.opset < 20 else draft.pick(2, 2, 3)
    shape = volume(draft, rank)
    draft.data(shape, np.float32, domain="finite")
    draft.data((shape[0], *(draft.pick(1, 2, 5) for _ in range(rank)), rank), np.float32, domain="finite")
    modes = ("bilinear", "nearest", "bicubic") if draft.opset < 20 else ("linear", "nearest", "cubic")
    draft.maybe(mode=draft.pick(*modes[: 5 - rank]))
    draft.maybe(padding_mode=draft.pick("zeros", "border", "reflection"), align_corners=draft.pick(0, 1))


@draws("DeformConv")
def deform_conv(draft: Draft) -> None:
    n, _, h, w = image(draft, 4)
    group, parts, kernel = draft.pick(1, 2), draft.pick(1, 2), (draft.pick(1, 2, 3), draft.pick(1, 2, 3))
    stride = draft.pick(1, 2)
    extents = tuple((extent - size) // stride + 1 for extent, size in zip((h, w), kernel, strict=True))
    draft.data((n, 2 * group, h, w), np.float32, domain="finite")
    draft.data((2 * group, 2, *kernel), np.float32, domain="finite", constant=0.5)
    draft.data((n, 2 * parts * kernel[0] * kernel[1], *extents), np.float32, domain="finite")
    draft.attributes |= {"group": group, "offset_group": parts, "strides": [stride] * 2, "kernel_shape": list(kernel)}
    draft.attributes["pads"] = [0] * 4


@draws("MaxUnpool")
def max_unpool(draft: Draft) -> None:
    shape = volume(draft, draft.pick(1, 2))
    rank, size = len(shape) - 2, draft.pick(1, 2, 3)
    whole = int(np.prod(shape[:2])) * int(np.prod([extent * size for extent in shape[2:]]))
    draft.data(shape, np.float32, domain="finite")
    draft.setting(draft.rng.permutation(whole)[: int(np.prod(shape))].reshape(shape))
    draft.attributes |= {"kernel_shape": [size] * rank, "strides": [size] * rank}


@draws("DFT")
def dft(draft: Draft) -> None:
    parts = draft.pick(1, 2)
    draft.data((draft.pick(1, 2), draft.pick(1, 4, 7), draft.pick(2, 5), parts), np.float32, domain="finite")
    axis = draft.pick(1, 2)
    if parts == 1:
        draft.maybe(onesided=1)
    if "onesided" not in draft.attributes:
        draft.maybe(inverse=1)
    if draft.opset < 20:
        draft.attributes["axis"] = axis
        return
    draft.absent()
    draft.setting(axis)


@draws("STFT")
def stft(draft: Draft) -> None:
    draft.data((draft.pick(1, 2), draft.pick(16, 21), 1), np.float32, domain="finite")
    draft.setting(draft.pick(1, 3, 8))
    size = draft.pick(4, 8)
    if draft.chance(0.5):
        draft.data((size,), np.float32, domain="finite")
    else:
        draft.absent()
    draft.setting(size)
    draft.maybe(onesided=draft.pick(0, 1))


@draws("HannWindow", "HammingWindow", "BlackmanWindow")
def signal_window(draft: Draft) -> None:
    draft.data((), domain="whole 2 20")
    draft.maybe(periodic=draft.pick(0, 1))


@draws("MelWeightMatrix")
def mel_weights(draft: Draft) -> None:
    for number in (draft.pick(4, 8), draft.pick(64, 256), 16000):
        draft.setting(number)
    for hertz in (20, 7600):
        draft.setting(hertz, np.float32)
