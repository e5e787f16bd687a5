"""Sliding windows: kernel, strides, dilations and padding of Conv and pools, including every `auto_pad`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from xrelay.frontend.onnx.converters.definition import Dim, NodeView, converts, shape_text
from xrelay.frontend.onnx.registry import ConvertT
from xrelay.index_algebra.windows import WindowAxis, sides_of, window_of

AUTO_PADS = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")

WINDOW_ATTRIBUTES = ("auto_pad", "dilations", "kernel_shape", "pads", "strides")
"""The attributes of every node with windows."""

MAX_AXES = 3
"""The maximum number of spatial axes of relay's windows."""


def unsupported_rank(node: NodeView) -> str | None:
    """Returns the reason if a window of this rank is unsupported."""
    kernel = node.attribute_ints("kernel_shape")
    if kernel is not None and not 1 <= len(kernel) <= MAX_AXES:
        return f"kernel_shape {list(kernel)} is {len(kernel)}-dimensional, windows have 1 to {MAX_AXES} dimensions"
    return None


def converts_windows(
    op_type: str, *, since: int = 1, domain: str = "", attributes: Sequence[str] = (), limits: str = ""
) -> Callable[[ConvertT], ConvertT]:
    """Decorator that registers the converter of an operator with windows; `attributes` are those besides the window."""
    return converts(
        op_type,
        since=since,
        domain=domain,
        attributes=(*WINDOW_ATTRIBUTES, *attributes),
        supports=unsupported_rank,
        limits=", ".join(filter(None, (limits, f"1 to {MAX_AXES} spatial axes"))),
    )


def required_kernel(node: NodeView) -> tuple[int, ...]:
    """Returns the attribute `kernel_shape`."""
    kernel = node.attribute_ints("kernel_shape")
    if kernel is None:
        raise node.error("attribute 'kernel_shape' is required")
    return kernel


def weight_kernel(node: NodeView) -> tuple[int, ...]:
    """Returns the kernel extents of the weight, which `kernel_shape` must equal if present."""
    extents = node.shape(1)[2:]
    known = tuple(extent for extent in extents if isinstance(extent, int))
    if len(known) != len(extents):
        raise node.error(f"the weight's extents {shape_text(extents)} are not all known")
    stated = node.attribute_ints("kernel_shape")
    if stated is not None and stated != known:
        raise node.illegal("kernel_shape", list(stated), f"the weight has extents {list(known)}")
    return known


def read_window(node: NodeView, kernel: Sequence[int]) -> tuple[WindowAxis[int], ...]:
    """Returns the window of `node` with a kernel of the extents `kernel`.

    Raises `ModelImportError` for ranks, strides, dilations, pads or `auto_pad` that ONNX does not allow.
    """
    window = unpadded_window(node, kernel)
    mode = auto_pad(node)
    if mode != "NOTSET":
        return tuple(_same(node, axis, extent, mode) for axis, extent in zip(window, node.shape(0)[2:], strict=True))
    return with_padding(window, explicit_pads(node, len(window)))


def unpadded_window(node: NodeView, kernel: Sequence[int]) -> tuple[WindowAxis[int], ...]:
    """Returns the window of `node` without padding."""
    rank = len(node.shape(0)) - 2
    if len(kernel) != rank or not 1 <= rank <= MAX_AXES:
        raise node.error(
            f"a {rank}-dimensional input with a {len(kernel)}-dimensional kernel; 1 to {MAX_AXES} are supported"
        )
    if any(extent < 1 for extent in kernel):
        raise node.illegal("kernel_shape", list(kernel), "extents are at least 1")
    return window_of(tuple(kernel), _positive(node, "strides", rank), _positive(node, "dilations", rank), [0])


def auto_pad(node: NodeView) -> str:
    """Returns the attribute `auto_pad`, which `pads` must not contradict; some old exporters write "" for NOTSET."""
    mode, pads = node.attribute_string("auto_pad", "NOTSET", ("", *AUTO_PADS)) or "NOTSET", node.attribute_ints("pads")
    if mode != "NOTSET" and pads is not None and any(pads):
        raise node.error(f"attribute 'pads' {list(pads)} contradicts auto_pad {mode!r}")
    return mode


def explicit_pads(node: NodeView, rank: int) -> tuple[int, ...]:
    """Returns the attribute `pads`: the padding before all axes, then the padding after them."""
    pads = node.attribute_ints("pads", [0] * 2 * rank) or ()
    if len(pads) != 2 * rank or any(pad < 0 for pad in pads):
        raise node.illegal("pads", list(pads), f"{2 * rank} non-negative integers are expected: begins, then ends")
    return pads


def with_padding(window: Sequence[WindowAxis[int]], pads: Sequence[int]) -> tuple[WindowAxis[int], ...]:
    """Returns the window with padding: the numbers before all axes first."""
    rank = len(window)
    rows = zip(window, pads[:rank], pads[rank:], strict=True)
    return tuple(replace(axis, before=before, after=after) for axis, before, after in rows)


def halves(total: int, mode: str) -> tuple[int, int]:
    """Returns padding before and after an axis, of a given sum; SAME_UPPER puts the odd element after."""
    smaller, larger = total // 2, total - total // 2
    return (smaller, larger) if mode == "SAME_UPPER" else (larger, smaller)


def window_attributes(window: Sequence[WindowAxis[int]]) -> dict[str, tuple[int, ...]]:
    """Returns Relay's attributes for a window."""
    return {
        "strides": tuple(axis.stride for axis in window),
        "padding": sides_of(window),
        "dilation": tuple(axis.dilation for axis in window),
    }


def _positive(node: NodeView, name: str, rank: int) -> tuple[int, ...]:
    values = node.attribute_ints(name, [1] * rank) or ()
    if len(values) != rank or any(value < 1 for value in values):
        raise node.illegal(name, list(values), f"{rank} positive integer{'s are' if rank > 1 else ' is'} expected")
    return values


def _same(node: NodeView, axis: WindowAxis[int], extent: Dim, mode: str) -> WindowAxis[int]:
    """The axis with padding for ceil(extent / stride) windows; for VALID without padding."""
    if mode == "VALID":
        return axis
    total = WindowAxis[Dim](axis.size, axis.stride, axis.dilation).padding_to_keep(extent)
    if not isinstance(total, int):
        raise node.error(
            f"auto_pad SAME with stride {axis.stride} needs a known extent, found {extent}",
            help="fix the input shape with shapes={…}",
        )
    before, after = halves(max(total, 0), mode)
    return replace(axis, before=before, after=after)
