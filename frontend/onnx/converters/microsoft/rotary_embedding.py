"""RotaryEmbedding of the domain com.microsoft: rotates pairs of elements by an angle that depends on the position."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    MICROSOFT,
    Array,
    NodeView,
    Numbers,
    converts,
    extent_value,
    is_half,
    numpy_dtype,
    shape_of,
    shape_text,
)
from xrelay.frontend.onnx.tensors import MAX_COMPUTED_BYTES


@converts(
    "RotaryEmbedding",
    domain=MICROSOFT,
    attributes=("interleaved", "num_heads", "rotary_embedding_dim", "scale", "is_packed_batching"),
    limits="packed batches, a scale",
)
def convert_rotary_embedding(node: NodeView) -> SSAValue:
    """Rotates the first elements of each head, paired with their neighbours or with the second half."""
    _check(node)
    return _rotated(node, _in_heads(node), _rotation(node))


@converts(
    "MRotaryEmbedding",
    domain=MICROSOFT,
    attributes=(
        *("interleaved", "num_heads", "rotary_embedding_dim", "scale", "is_packed_batching"),
        *("mrope_section", "mrope_layout"),
    ),
    limits="packed batches, a scale",
)
def convert_rotary_embedding_of_images(node: NodeView) -> SSAValue:
    """RotaryEmbedding in which the angle of a pair depends on the time, the row or the column of a token."""
    _check(node)
    if len(node.shape(1)) != 3:
        raise node.error(f"places {node.input(1).type}: one for each of three axes, batch and token is expected")
    heads, streams = _in_heads(node), _streams(node)
    # Per stream: (batch, places, 1, pairs).
    parts = [
        angles(node, node.emit("take", node.input(1), node.scalar(index, node.input(1)), axis=0, mode="fast"), (2, 3))
        for index in range(3)
    ]
    rotation = parts[0]
    for index in (1, 2):
        mask = node.emit_constant(streams == index, "pairs")
        rotation = [node.emit("where", mask, new, old) for new, old in zip(parts[index], rotation, strict=True)]
    return _rotated(node, heads, rotation)


def _streams(node: NodeView) -> Array:
    """For each pair, the index of the position (of three) that determines its angle."""
    sections, pairs = node.attribute_ints("mrope_section") or (), node.last_extent(2)
    if len(sections) != 3 or min(sections) < 0 or sum(sections) != pairs:
        raise node.illegal("mrope_section", list(sections), f"three numbers with the sum {pairs} are expected")
    node.require_size((sum(sections),), np.dtype(np.int64).itemsize, MAX_COMPUTED_BYTES)
    if not node.attribute_flag("mrope_layout"):
        return np.repeat(np.arange(3), sections)
    found = np.zeros(sum(sections), np.int64)
    for index in (1, 2):
        found[index : 3 * sections[index] : 3] = index
    return found


def _check(node: NodeView) -> None:
    """Refuses unsupported forms."""
    if node.attribute_int("is_packed_batching", 0) or node.attribute_float("scale", 1.0) != 1.0:
        raise node.unsupported("packed batches and a scale are not supported")


def _rotated(node: NodeView, heads: SSAValue, rotation: list[SSAValue]) -> SSAValue:
    """The first input, rotated, in its own shape and type."""
    interleaved = node.attribute_flag("interleaved")
    joined = rotated(node, heads, rotation, interleaved=interleaved)
    if is_half(node.element_type(0)):
        joined = node.emit("cast", joined, dtype=numpy_dtype(node.element_type(0)))
    if len(node.shape(0)) == 4:
        return node.emit("transpose", joined, axes=(0, 2, 1, 3))
    return node.emit("reshape", joined, newshape=(0, 0, -3))


def rotated(node: NodeView, x: SSAValue, rotation: list[SSAValue], *, interleaved: bool) -> SSAValue:
    """Returns (batch, places, heads, elements) rotated by cosines and sines, one per pair among the first elements."""
    half, width = shape_of(rotation[0].type)[-1], shape_of(x.type)[-1]
    if not isinstance(half, int) or not isinstance(width, int) or not 0 < 2 * half <= width:
        raise node.error(f"{half} rotated pairs of heads of {width} elements")
    parts = node.emit("split", x, indices_or_sections=(2 * half,), axis=3)
    first = _rotated_pairs(node, node.tuple_field(parts, 0), rotation, half, interleaved)
    if 2 * half == width:
        return first
    return node.emit("concatenate", node.make_tuple([first, node.tuple_field(parts, 1)]), axis=3)


def _in_heads(node: NodeView) -> SSAValue:
    """The first input as (batch, places, heads, elements); 16-bit floats in f32."""
    x, shape = node.input(0), node.shape(0)
    x = node.emit("cast", x, dtype="float32") if is_half(node.element_type(0)) else x
    if len(shape) == 4:
        return node.emit("transpose", x, axes=(0, 2, 1, 3))
    hidden, columns = node.last_extent(0), node.last_extent(2)
    count = node.attribute_int("num_heads", 0, check=lambda value: value >= 0)
    if len(shape) != 3 or not isinstance(hidden, int) or not isinstance(columns, int):
        raise node.error(f"{shape_text(shape)} and angles of {columns} pairs: known extents of three axes are expected")
    width = hidden // count if count else 2 * columns
    if not width or hidden % width:
        raise node.error(f"{hidden} elements do not split into heads of {width}")
    return node.emit("reshape", x, newshape=(0, 0, hidden // width, width))


def _rotation(node: NodeView) -> list[SSAValue]:
    """Cosine and sine for each place: (batch or 1, places, 1, pairs)."""
    ids = node.input(1)
    if len(node.shape(1)) == 1:
        places = Numbers(node).arange(0, extent_value(node, node.input(0), 2 if len(node.shape(0)) == 4 else 1))
        ids = node.emit("expand_dims", node.emit("add", places, ids), axis=0)
    return angles(node, ids, (2, 3))


def angles(node: NodeView, places: SSAValue, tables: tuple[int, int]) -> list[SSAValue]:
    """Returns rows of the inputs `tables` at (batch, places), in a shape that broadcasts with heads; at least f32."""
    rows = [node.emit("take", node.input(index), places, axis=0, mode="raise") for index in tables]
    if is_half(node.element_type(0)):
        rows = [node.emit("cast", row, dtype="float32") for row in rows]
    return [node.emit("expand_dims", row, axis=2) for row in rows]


def _rotated_pairs(node: NodeView, x: SSAValue, rotation: list[SSAValue], half: int, interleaved: bool) -> SSAValue:
    """The pairs of `x`, neighbours or from both halves, rotated."""
    cosine, sine = rotation
    count = shape_of(x.type)[2]
    if not isinstance(count, int):
        raise node.error(f"{count} heads; their number must be known")
    pairs = (half, 2) if interleaved else (2, half)
    axis = 4 if interleaved else 3
    split = node.emit(
        "split", node.emit("reshape", x, newshape=(0, 0, count, *pairs)), indices_or_sections=2, axis=axis
    )
    first, second = (node.emit("squeeze", node.tuple_field(split, part), axis=(axis,)) for part in range(2))
    along = node.emit("subtract", node.emit("multiply", first, cosine), node.emit("multiply", second, sine))
    across = node.emit("add", node.emit("multiply", first, sine), node.emit("multiply", second, cosine))
    stacked = node.emit("stack", node.make_tuple([along, across]), axis=axis)
    return node.emit("reshape", stacked, newshape=(0, 0, count, 2 * half))
