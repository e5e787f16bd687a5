"""Sliding windows: kernel, strides, dilations and padding of Conv and the pools, every `auto_pad` included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xrelay.frontend.onnx.node import NodeView
from xrelay.index_algebra.dims import Dim

AUTO_PADS = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")

WINDOW_ATTRIBUTES = ("auto_pad", "dilations", "kernel_shape", "pads", "strides")
"""The attributes of every node with windows."""


@dataclass(frozen=True)
class Window:
    """A two-dimensional window; `padding` is top, left, bottom, right, as Relay writes it."""

    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    padding: tuple[int, int, int, int]


def unsupported_rank(node: NodeView) -> str | None:
    """The reason why a window of this rank cannot be converted, for the check before the import."""
    kernel = node.attribute_ints("kernel_shape")
    if kernel is not None and len(kernel) != 2:
        return f"kernel_shape {list(kernel)} is {len(kernel)}-dimensional, only 2-dimensional windows are supported"
    return None


def read_window(node: NodeView, kernel: Sequence[int]) -> Window:
    """The window of `node` whose kernel has the extents `kernel`.

    Raises `ModelImportError` for ranks, strides, dilations, pads or `auto_pad` that ONNX does not allow.
    """
    spatial = node.shape(0)[2:]
    if len(kernel) != 2 or len(spatial) != 2:
        raise node.error(
            f"a {len(spatial)}-dimensional input with a {len(kernel)}-dimensional kernel; only 2 are supported"
        )
    if any(extent < 1 for extent in kernel):
        raise node.illegal("kernel_shape", list(kernel), "extents are at least 1")
    strides = _pair(node, "strides")
    dilations = _pair(node, "dilations")
    padding = _padding(node, spatial, (kernel[0], kernel[1]), strides, dilations)
    return Window((kernel[0], kernel[1]), strides, dilations, padding)


def _pair(node: NodeView, name: str) -> tuple[int, int]:
    values = node.attribute_ints(name, (1, 1)) or ()
    if len(values) != 2 or any(value < 1 for value in values):
        raise node.illegal(name, list(values), "two positive integers are expected")
    return values[0], values[1]


def _padding(
    node: NodeView,
    spatial: Sequence[Dim],
    kernel: tuple[int, int],
    strides: tuple[int, int],
    dilations: tuple[int, int],
) -> tuple[int, int, int, int]:
    mode = node.attribute_string("auto_pad", "NOTSET", AUTO_PADS)
    pads = node.attribute_ints("pads")
    if mode == "NOTSET":
        return _explicit(node, pads if pads is not None else (0, 0, 0, 0))
    if pads is not None and any(pads):
        raise node.error(f"attribute 'pads' {list(pads)} contradicts auto_pad {mode!r}")
    if mode == "VALID":
        return (0, 0, 0, 0)
    first, second = (
        _same(node, extent, kernel[axis], strides[axis], dilations[axis], upper=mode == "SAME_UPPER")
        for axis, extent in enumerate(spatial)
    )
    return (first[0], second[0], first[1], second[1])


def _explicit(node: NodeView, pads: Sequence[int]) -> tuple[int, int, int, int]:
    if len(pads) != 4 or any(pad < 0 for pad in pads):
        raise node.illegal("pads", list(pads), "four non-negative integers are expected: top, left, bottom, right")
    top, left, bottom, right = pads
    return (top, left, bottom, right)


def _same(node: NodeView, extent: Dim, kernel: int, stride: int, dilation: int, *, upper: bool) -> tuple[int, int]:
    """Padding before and after, so that the output has ceil(extent / stride) elements."""
    reach = (kernel - 1) * dilation + 1
    if isinstance(extent, int):
        total = max((-(-extent // stride) - 1) * stride + reach - extent, 0)
    elif stride == 1:
        total = reach - 1
    else:
        raise node.error(
            f"auto_pad SAME with stride {stride} needs a known extent, found {extent}",
            help="fix the input shape with shapes={…}",
        )
    smaller, larger = total // 2, total - total // 2
    return (smaller, larger) if upper else (larger, smaller)
