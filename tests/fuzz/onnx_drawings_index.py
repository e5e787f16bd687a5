"""Draws random nodes of the ONNX ops whose indices are an operand."""

from __future__ import annotations

import numpy as np

from fuzz.onnx_nodes import Draft, draws


def positive_shape(draft: Draft, least: int = 1, most: int = 4) -> tuple[int, ...]:
    """Extents of which none is 0: something can be indexed."""
    return tuple(max(extent, 1) for extent in draft.shape(least, most))


def axis_of(draft: Draft, rank: int, default: int = 0) -> int:
    """An axis, negative from opset 11 on; sometimes the default, which is then left out."""
    axis = draft.integer(0 if draft.opset < 11 else -rank, rank - 1)
    if axis == default and draft.chance(0.5):
        return default
    draft.attributes["axis"] = axis
    return axis


def reaching(draft: Draft, shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """A shape of indices into `shape` that reaches no further along the axes other than `axis`."""
    return tuple(draft.pick(0, 1, 3, 7) if d == axis % len(shape) else draft.integer(1, n) for d, n in enumerate(shape))


@draws("Gather")
def gather(draft: Draft) -> None:
    shape = positive_shape(draft)
    draft.data(shape)
    axis = axis_of(draft, len(shape))
    draft.indices(draft.pick((), (1,), (3,), (2, 2), (0,)), shape[axis])


@draws("GatherElements")
def gather_elements(draft: Draft) -> None:
    shape = positive_shape(draft)
    draft.data(shape)
    axis = axis_of(draft, len(shape))
    draft.indices(reaching(draft, shape, axis), shape[axis])


@draws("GatherND")
def gather_nd(draft: Draft) -> None:
    shape = positive_shape(draft)
    batch = draft.integer(0, len(shape) - 1) if draft.opset >= 12 else 0
    parts = draft.integer(1, len(shape) - batch)
    if batch or draft.chance(0.5):
        draft.attributes["batch_dims"] = batch
    if draft.opset < 12:
        draft.attributes.clear()
    draft.data(shape)
    places = (*shape[:batch], *draft.pick((), (1,), (3,), (0,), (2, 2)), parts)
    draft.data(places, np.int64, index_range(min(shape[batch : batch + parts])), constant=0.4)


def index_range(extent: int) -> str:
    """The domain of indices of an axis of `extent` elements, counted from either end."""
    return f"whole {-extent} {extent}"


def reduction(draft: Draft) -> None:
    """A reduction that the opset knows; onnxruntime has none of booleans."""
    words = ["add", "mul", *(("max", "min") if draft.opset >= 18 else ())] if draft.opset >= 16 else []
    if words and draft.dtype != np.bool_ and draft.chance(0.7):
        draft.attributes["reduction"] = draft.pick(*words)


@draws("Scatter", "ScatterElements")
def scatter_elements(draft: Draft) -> None:
    shape = positive_shape(draft)
    draft.data(shape, domain="moderate")
    axis = axis_of(draft, len(shape))
    places = reaching(draft, shape, axis)
    draft.indices(places, shape[axis])
    draft.data(places, domain="moderate")
    reduction(draft)


@draws("ScatterND")
def scatter_nd(draft: Draft) -> None:
    shape = positive_shape(draft)
    parts = draft.integer(1, len(shape))
    draft.data(shape, domain="moderate")
    places = draft.pick((), (1,), (3,), (0,), (2, 2))
    draft.data((*places, parts), np.int64, index_range(min(shape[:parts])), constant=0.4)
    draft.data((*places, *shape[parts:]), domain="moderate")
    reduction(draft)


@draws("OneHot")
def one_hot(draft: Draft) -> None:
    depth = draft.pick(0, 1, 3, 8)
    places = draft.shape(0, 3)
    limit = 9 if draft.dtype.kind == "u" else -9
    draft.data(places, domain=f"whole {min(limit, 0)} 9")
    draft.setting(depth if draft.chance(0.5) else [depth], draft.pick(np.int64, np.float32))
    draft.data((2,), draft.pick("float32", "int64", "float16", "bool"))
    if draft.chance(0.7):
        low = 0 if draft.opset < 11 else -len(places) - 1
        draft.attributes["axis"] = draft.integer(low, len(places))
