"""Draws random nodes of neural networks: windows, matrix products, normalizations, images."""

from __future__ import annotations

import numpy as np

from fuzz.onnx_draft import Draft, draws


def image(draft: Draft, least: int = 1) -> tuple[int, int, int, int]:
    sizes = [extent for extent in (3, 4, 5, 7, 8, 11) if extent >= least]
    return draft.pick(1, 2), draft.pick(1, 2, 3, 4, 8), draft.pick(*sizes), draft.pick(*sizes)


def volume(draft: Draft, rank: int, least: int = 5) -> tuple[int, ...]:
    """An image with `rank` spatial axes, smaller for more axes."""
    sizes = [extent for extent in ((5, 7, 8, 11), (5, 7, 8, 11), (5, 6))[rank - 1] if extent >= least]
    return draft.pick(1, 2), draft.pick(1, 2, 3, 4, 8), *(draft.pick(*sizes) for _ in range(rank))


def window(draft: Draft, kernel: tuple[int, ...], *, dilations: bool) -> None:
    rank = len(kernel)
    draft.maybe(strides=[draft.pick(1, 2, 3) for _ in range(rank)])
    # If a window is shorter than its stride, SAME requires negative padding, which engines interpret differently.
    strides = draft.attributes.get("strides", [1] * rank)
    same = all(size >= stride for size, stride in zip(kernel, strides, strict=True))
    draft.maybe(auto_pad=draft.pick(*(("SAME_UPPER", "SAME_LOWER") if same else ()), "VALID", "NOTSET"))
    if draft.attributes.get("auto_pad", "NOTSET") == "NOTSET":
        draft.maybe(pads=[draft.integer(0, size - 1) for size in (*kernel, *kernel)])
    # onnxruntime ignores dilations when it computes the padding of auto_pad; onnx's own reference does not.
    if dilations and "auto_pad" not in draft.attributes:
        draft.maybe(dilations=[draft.pick(1, 2) for _ in range(rank)])


def kernel_of(draft: Draft, rank: int) -> tuple[int, ...]:
    return tuple(draft.pick(1, 2, 3) for _ in range(rank))


@draws("Conv")
def conv(draft: Draft) -> None:
    rank = draft.pick(1, 2, 2, 3)
    shape, kernel = volume(draft, rank), kernel_of(draft, rank)
    channels = shape[1]
    groups = draft.pick(1, 1, channels, 2 if channels % 2 == 0 else 1)
    outputs = groups * draft.pick(1, 2, 8)
    draft.data(shape, domain="finite")
    draft.data((outputs, channels // groups, *kernel), domain="finite", constant=0.5)
    if draft.chance(0.5):
        draft.data((outputs,), domain="finite")
    draft.maybe(group=groups, kernel_shape=list(kernel))
    if groups != 1:
        draft.attributes["group"] = groups
    window(draft, kernel, dilations=True)


@draws("ConvTranspose")
def conv_transpose(draft: Draft) -> None:
    rank = draft.pick(1, 2, 2, 3)
    shape, kernel = volume(draft, rank), tuple(draft.pick(1, 2, 3, 4) for _ in range(rank))
    groups = draft.pick(1, 1, shape[1])
    draft.data(shape, domain="finite")
    filters = draft.pick(1, 2, 8)
    draft.data((shape[1], filters, *kernel), domain="finite", constant=0.5)
    if draft.chance(0.5):
        draft.data((filters * groups,), domain="finite")
    draft.attributes["group"] = groups
    strides = [draft.pick(1, 2, 3) for _ in range(rank)]
    draft.attributes["strides"] = strides
    draft.maybe(kernel_shape=list(kernel), output_padding=[draft.integer(0, stride - 1) for stride in strides])
    # onnxruntime pads less than SAME requires if a window is shorter than its stride.
    same = all(size >= stride for size, stride in zip(kernel, strides, strict=True))
    draft.maybe(auto_pad=draft.pick(*(("SAME_UPPER", "SAME_LOWER") if same else ()), "VALID", "NOTSET"))
    if draft.attributes.get("auto_pad", "NOTSET") == "NOTSET":
        draft.maybe(pads=[draft.integer(0, (size - 1) // 2) for size in (*kernel, *kernel)])
        draft.maybe(dilations=[draft.pick(1, 2) for _ in range(rank)])


@draws("AveragePool", "LpPool", "MaxPool")
def pool(draft: Draft) -> None:
    rank = draft.pick(1, 2, 2, 3)
    kernel = kernel_of(draft, rank)
    draft.attributes["kernel_shape"] = list(kernel)
    draft.data(volume(draft, rank), domain={"MaxPool": "any", "LpPool": "moderate"}.get(draft.op, "finite"))
    since = {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[draft.op]
    window(draft, kernel, dilations=draft.opset >= since)
    if draft.opset >= (18 if draft.op == "LpPool" else 10):
        draft.maybe(ceil_mode=1)
    if draft.op == "AveragePool" and draft.opset >= 7:
        draft.maybe(count_include_pad=1)
    if draft.op == "MaxPool" and draft.opset >= 8 and draft.chance(0.3):
        draft.outputs = 2
        draft.maybe(storage_order=1)
    if draft.op == "LpPool":
        draft.maybe(p=draft.pick(1, 2, 3))


@draws("GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool")
def global_pool(draft: Draft) -> None:
    shape = [*image(draft), 3][: draft.pick(3, 4, 4, 5)]
    if draft.chance(0.1):
        shape[2] = 0
    draft.data(tuple(shape), domain="any" if draft.op == "GlobalMaxPool" else "moderate")
    if draft.op == "GlobalLpPool":
        draft.maybe(p=draft.pick(1, 2, 3))


@draws("Gemm")
def gemm(draft: Draft) -> None:
    m, k, n = (draft.pick(1, 2, 3, 5, 7, 17) for _ in range(3))
    turned = draft.integer(0, 1), draft.integer(0, 1)
    draft.data((k, m) if turned[0] else (m, k), domain="finite")
    draft.data((n, k) if turned[1] else (k, n), domain="finite", constant=0.5)
    if draft.opset < 11 or draft.chance(0.7):
        draft.data(draft.pick((), (n,), (1, n), (m, 1), (m, n), (1,)), domain="finite")
    draft.attributes |= {"transA": turned[0], "transB": turned[1]}
    whole = draft.dtype.kind in "iu"
    draft.maybe(alpha=draft.pick(2.0, 1.0) if whole else 0.5, beta=draft.pick(3.0, 0.0) if whole else 0.25)


@draws("BatchNormalization")
def batch_normalization(draft: Draft) -> None:
    shape = draft.shape(2)
    draft.data(shape, domain="finite")
    for domain in ("finite", "finite", "finite", "positive"):
        draft.data(shape[1:2], domain=domain, constant=0.7)
    draft.maybe(epsilon=draft.pick(1e-3, 1e-6))


@draws("LRN")
def lrn(draft: Draft) -> None:
    draft.data(image(draft), domain="finite")
    draft.attributes["size"] = draft.pick(1, 2, 3, 5)
    draft.maybe(alpha=0.5, beta=0.4, bias=2.0)


@draws("Dropout")
def dropout(draft: Draft) -> None:
    draft.data(draft.shape())
    draft.outputs = draft.integer(1, 2) if draft.opset >= 12 else 1
    if draft.opset < 12:
        draft.maybe(ratio=0.3)
    elif draft.chance(0.5):
        draft.setting(0.3, np.float32)


@draws("DepthToSpace", "SpaceToDepth")
def blocks(draft: Draft) -> None:
    n, c, h, w = image(draft)
    size = draft.pick(1, 2, 3)
    draft.attributes["blocksize"] = size
    if draft.op == "SpaceToDepth":
        draft.data((n, c, h * size, w * size))
        return
    draft.data((n, c * size * size, h, w))
    if draft.opset >= 11:
        draft.maybe(mode=draft.pick("DCR", "CRD"))


@draws("Resize", "Upsample")
def resize(draft: Draft) -> None:
    shape = draft.pick(image(draft), (draft.pick(1, 3), draft.pick(2, 5)))
    scales = np.array([draft.pick(1, 1, 2, 3) for _ in shape], np.float32)
    draft.data(shape)
    draft.attributes["mode"] = "nearest"
    if draft.op == "Upsample" and draft.opset < 9:
        draft.attributes["scales"] = [float(scale) for scale in scales]
        return
    if draft.opset < 11:
        draft.setting(scales, np.float32)
        return
    if draft.chance(0.5):
        draft.attributes |= {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    draft.absent()
    if draft.chance(0.5):
        draft.setting(scales, np.float32)
    else:
        draft.absent()
        draft.setting([int(extent * scale) for extent, scale in zip(shape, scales, strict=True)])


@draws("Det")
def determinant(draft: Draft) -> None:
    rows = draft.pick(0, 1, 2, 3, 5)
    draft.data((*draft.shape(0, 2), rows, rows), domain="moderate")


@draws("Col2Im")
def col2im(draft: Draft) -> None:
    rank = draft.pick(1, 2, 2, 3)
    block, counts = ([draft.pick(1, 2, 3) for _ in range(rank)] for _ in range(2))
    strides, dilations = ([draft.pick(1, 2) for _ in range(rank)] for _ in range(2))
    image = [
        (size - 1) * dilation + (count - 1) * stride + 1
        for size, count, stride, dilation in zip(block, counts, strides, dilations, strict=True)
    ]
    draft.attributes |= {"strides": strides, "dilations": dilations}
    channels = draft.pick(1, 2)
    draft.data((draft.pick(0, 1, 2), channels * int(np.prod(block)), int(np.prod(counts))), domain="moderate")
    draft.setting(image)
    draft.setting(block)


@draws("TensorScatter")
def tensor_scatter(draft: Draft) -> None:
    shape = draft.shape(2)
    axis = draft.integer(1, len(shape) - 1)
    longest = shape[axis]
    length = draft.integer(0, longest)
    draft.data(shape)
    draft.data((*shape[:axis], length, *shape[axis + 1 :]))
    circular = draft.chance(0.5) and longest > 0
    draft.attributes |= {"axis": axis - (len(shape) if draft.chance(0.5) else 0)}
    draft.attributes["mode"] = "circular" if circular else "linear"
    if draft.chance(0.7):
        draft.setting(draft.rng.integers(0, max(longest, 1) if circular else longest - length + 1, shape[:1]))


@draws("RoiAlign", "MaxRoiPool")
def regions(draft: Draft) -> None:
    n, c, h, w = (draft.pick(1, 2, 3), draft.pick(1, 2), draft.pick(3, 5, 8), draft.pick(3, 7))
    draft.data((n, c, h, w), np.float32, domain="finite")
    count = draft.integer(0, 4)
    corners = np.concatenate([draft.rng.random((count, 2)) * 3, 3 + draft.rng.random((count, 2)) * 6], 1)
    images = draft.rng.integers(0, n, count)
    if draft.op == "MaxRoiPool":
        # A different rounding moves a corner, so corners are integers.
        draft.setting(np.concatenate([images[:, None], np.rint(corners)], 1), np.float32)
        draft.attributes["pooled_shape"] = [draft.pick(1, 2, 3), draft.pick(1, 2)]
        return
    draft.setting(corners, np.float32)
    draft.setting(images)
    draft.attributes |= {"output_height": draft.pick(1, 2, 3), "output_width": draft.pick(1, 2)}
    draft.maybe(mode=draft.pick("avg", "max"), sampling_ratio=draft.pick(0, 1, 2), spatial_scale=draft.pick(0.5, 1.0))
