"""Attention and MultiHeadAttention of the domain com.microsoft: several heads, with masks and past keys and values.

Masks mark padding keys by flags or by lengths.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    MICROSOFT,
    Dim,
    NodeView,
    Number,
    Numbers,
    certainly_differ,
    certainly_equal,
    converts,
    element_type_of,
    extent_value,
    in_f32,
    is_half,
    numpy_dtype,
    shape_of,
)
from xrelay.frontend.onnx.converters.nn.matmul import convert_matmul
from xrelay.frontend.onnx.converters.qnn.product import distances


def _padding_mask(node: NodeView, index: int, scores: SSAValue) -> SSAValue:
    """Returns the mask to add to scores (batch, heads, queries, keys): `mask_filter_value` for padding, else 0.

    Input `index` has a flag for each key, (batch, keys), or for each pair, (batch, queries, keys), which is 0 for
    padding; or the end of the keys, (batch), or ends and beginnings, (2 * batch).
    """
    mask, rank = node.input(index), len(node.shape(index))
    if rank == 1:
        kept = _between(node, index, scores)
    elif rank in (2, 3):
        flags = node.emit("expand_dims", mask, axis=1, num_newaxis=4 - rank)
        kept = node.emit("greater", flags, node.scalar(0, mask))
    else:
        raise node.error(f"a mask of rank {rank}, {mask.type}, is not supported")
    filled = node.scalar(node.attribute_float("mask_filter_value", -10000.0), scores)
    return node.emit("where", kept, node.scalar(0.0, scores), filled)


def _between(node: NodeView, index: int, scores: SSAValue) -> SSAValue:
    """True for each key in the range of its batch entry, from the beginning to before the end."""
    batch, own = shape_of(scores.type)[0], node.shape(index)[0]
    keys = node.emit("cast", Numbers(node).arange(0, extent_value(node, scores, 3)), dtype="int32")
    if not certainly_differ(own, batch):
        ends = node.input(index)
        if not certainly_equal(own, batch):
            # Check the batch: a length for a batch of one would broadcast.
            places = {"lhs_begin": 0, "lhs_end": 1, "rhs_begin": 0, "rhs_end": 1}
            ends = node.emit("reshape_like", ends, scores, **places)
        return node.emit("less", keys, _of_entries(node, ends))
    if not isinstance(own, int) or not isinstance(batch, int) or own != 2 * batch:
        raise node.error(f"a mask of {own} numbers for a batch of {batch} is not supported")
    halves = node.emit("split", node.input(index), indices_or_sections=2, axis=0)
    end, begin = (_of_entries(node, node.tuple_field(halves, half)) for half in range(2))
    return node.emit("logical_and", node.emit("less", keys, end), node.emit("greater_equal", keys, begin))


def _of_entries(node: NodeView, numbers: SSAValue) -> SSAValue:
    """A number per batch entry, in a shape that broadcasts with the scores."""
    return node.emit("expand_dims", numbers, axis=1, num_newaxis=3)


def _causal_mask(node: NodeView, scores: SSAValue, past: Number) -> SSAValue:
    """Returns the scores, with the least number for keys after the query; `past` keys precede the first query.

    The last query attends to all keys, as in onnxruntime, even if there are more keys than queries.
    """
    numbers = Numbers(node)
    queries, keys = (extent_value(node, scores, axis) for axis in (2, 3))
    place = node.emit("expand_dims", numbers.arange(0, queries), axis=1)
    later = node.emit("greater", numbers.arange(0, keys), node.emit("add", place, numbers.value(past)))
    is_before = node.emit("less", place, numbers.value(numbers.of("subtract", queries, 1)))
    later = node.emit("logical_and", later, is_before)
    return node.emit("where", later, node.scalar(float(np.finfo(np.float32).min), scores), scores)


@dataclass(frozen=True)
class Heads:
    """Queries, keys and values: (batch, heads, places, elements of a head)."""

    query: SSAValue
    key: SSAValue
    value: SSAValue


@converts(
    "Attention",
    domain=MICROSOFT,
    attributes=(
        *("num_heads", "unidirectional", "scale", "qkv_hidden_sizes", "mask_filter_value"),
        *("do_rotary", "rotary_embedding_dim", "past_present_share_buffer"),
    ),
    limits="rotary embedding, shared buffers, masks of rank 4",
)
def convert_attention(node: NodeView) -> list[SSAValue]:
    """Attention; the projections to queries, keys and values are one product, which is split."""
    _refuse_buffers(node)
    _require_ranks(node)
    projected = convert_matmul(node.with_inputs([node.input(0), node.input(1)]))
    if node.optional_input(2) is not None:
        projected = node.emit("add", projected, node.input(2))
    return _projected_attention(node, projected, past=4, mask=3, bias=5)


@converts(
    "QAttention",
    domain=MICROSOFT,
    attributes=(
        *("num_heads", "unidirectional", "scale", "mask_filter_value"),
        *("do_rotary", "past_present_share_buffer"),
    ),
    limits="rotary embedding, shared buffers, masks of rank 4",
)
def convert_quantized_attention(node: NodeView) -> list[SSAValue]:
    """Attention whose projections are an i32 product, times the scales of data and weights."""
    _refuse_buffers(node)
    _require_ranks(node)
    left, right = distances(node, 0, 6, is_left=True), distances(node, 1, 7, is_left=False)
    total = node.emit("cast", convert_matmul(node.with_inputs([left, right])), dtype="float32")
    scale = node.emit("multiply", node.reshape(node.input(3), (1,)), node.reshape(node.input(4), (-1,)))
    projected = node.emit("add", node.emit("multiply", total, scale), node.input(2))
    return _projected_attention(node, projected, past=8, mask=5, bias=None)


def _refuse_buffers(node: NodeView) -> None:
    if node.attribute_int("do_rotary", 0) or node.attribute_int("past_present_share_buffer", 0):
        raise node.unsupported("rotary embedding and buffers shared by past and present are not supported")


def _require_ranks(node: NodeView) -> None:
    """Requires data of (batch, places, elements) and weights of one matrix."""
    node.require_rank(0, 3)
    node.require_rank(1, 2)


def _projected_attention(
    node: NodeView, projected: SSAValue, *, past: int, mask: int, bias: int | None
) -> list[SSAValue]:
    """Attention of queries, keys and values in one tensor; `past`, `mask` and `bias` are the indices of inputs."""
    sizes = _sizes(node, shape_of(projected.type)[-1])
    cut = node.emit("split", projected, indices_or_sections=(sizes[0], sizes[0] + sizes[1]), axis=2)
    heads = Heads(*(_split_heads(node, node.tuple_field(cut, index)) for index in range(3)))
    before = node.optional_input(past)
    if before is not None:
        parts = [node.emit("take", before, _place(node, part), axis=0, mode="fast") for part in range(2)]
        heads = Heads(
            heads.query, *(_after_past(node, *pair) for pair in zip(parts, (heads.key, heads.value), strict=True))
        )
    result = attend(node, heads, 0 if before is None else Numbers(node).extent(before, 3), mask=mask, bias=bias)
    if not any(node.outputs[1:]):
        return [result]
    return [result, node.emit("stack", node.make_tuple([heads.key, heads.value]), axis=0)]


def _place(node: NodeView, number: int) -> SSAValue:
    return node.emit_ints(number, "part")


def _sizes(node: NodeView, total: Dim) -> tuple[int, ...]:
    """The numbers of elements of queries, keys and values; a third each unless an attribute specifies them."""
    if not isinstance(total, int):
        raise node.error(f"the weights have {total} columns; their number must be known")
    sizes = node.attribute_ints("qkv_hidden_sizes") or (total // 3,) * 3
    if len(sizes) != 3 or min(sizes) < 1 or sum(sizes) != total:
        raise node.error(f"{total} columns of the weights do not split into queries, keys and values of {list(sizes)}")
    return sizes


def _count(node: NodeView) -> int:
    return node.attribute_int("num_heads", 0, check=lambda value: value >= 1)


def _split_heads(node: NodeView, value: SSAValue) -> SSAValue:
    """(batch, places, heads * elements) as (batch, heads, places, elements)."""
    shape, count = shape_of(value.type), _count(node)
    if len(shape) != 3 or not isinstance(shape[2], int) or shape[2] < 1 or shape[2] % count:
        raise node.error(f"{value.type} does not split into {count} heads")
    parted = node.emit("reshape", value, newshape=(0, 0, count, shape[2] // count))
    return node.emit("transpose", parted, axes=(0, 2, 1, 3))


def _after_past(node: NodeView, past: SSAValue, own: SSAValue) -> SSAValue:
    """The places of `past` followed by those of `own`."""
    return node.emit("concatenate", node.make_tuple([past, own]), axis=2)


@converts(
    "DecoderMaskedMultiHeadAttention",
    domain=MICROSOFT,
    attributes=("num_heads", "scale", "mask_filter_value", "past_present_share_buffer", "output_qk"),
    limits="beams, scores as output",
)
def convert_decoder_attention(node: NodeView) -> list[SSAValue]:
    """MultiHeadAttention of one new place, with the inputs in another order."""
    if node.optional_input(9) is not None or any(node.outputs[3:]):
        raise node.unsupported("beams and the scores as an output are not supported")
    order = (0, 1, 2, 10, 3, 4, 5, 6)
    ordered = node.with_inputs([node.optional_input(index) for index in order])
    if node.optional_input(5) is None or not node.attribute_int("past_present_share_buffer", 0):
        return convert_multi_head_attention(ordered)
    return _in_buffers(ordered, node.emit("cast", node.reshape(node.input(7), ()), dtype="int64"))


def _in_buffers(node: NodeView, past: SSAValue) -> list[SSAValue]:
    """Writes the new key and value at index `past` of the buffers, and attends to the places up to it."""
    numbers, heads, buffers = Numbers(node), _given_heads(node), list[SSAValue]()
    for index, new in ((6, heads.key), (7, heads.value)):
        buffer = node.input(index)
        if len(node.shape(index)) != 4:
            raise node.error(f"a buffer {buffer.type}: (batch, heads, places, elements) is expected")
        own = node.emit("equal", numbers.arange(0, numbers.extent(buffer, 2)), past)
        buffers.append(node.emit("where", node.emit("expand_dims", own, axis=1), new, buffer))
    seen = numbers.arange(0, numbers.of("add", past, 1))
    key, value = (node.emit("take", buffer, seen, axis=2, mode="fast") for buffer in buffers)
    return [attend(node, Heads(heads.query, key, value), past, mask=4, bias=5), *buffers]


@converts(
    "MultiHeadAttention",
    domain=MICROSOFT,
    attributes=("num_heads", "unidirectional", "scale", "mask_filter_value"),
    limits="shared buffers, beams, scores as output",
)
def convert_multi_head_attention(node: NodeView) -> list[SSAValue]:
    """MultiHeadAttention; queries, keys and values are separate, packed by heads, or keys and values of an encoder."""
    if node.optional_input(8) is not None or node.optional_input(9) is not None or any(node.outputs[3:]):
        raise node.unsupported("shared buffers, beams and the scores as an output are not supported")
    heads = _given_heads(node)
    past: Number = 0
    if node.optional_input(6) is not None:
        key, value = _after_past(node, node.input(6), heads.key), _after_past(node, node.input(7), heads.value)
        heads, past = Heads(heads.query, key, value), Numbers(node).extent(node.input(6), 2)
    return [attend(node, heads, past, mask=4, bias=5), heads.key, heads.value]


def _given_heads(node: NodeView) -> Heads:
    """The three tensors, with the projection bias added."""
    if len(node.shape(0)) == 5:
        return _packed(node, node.input(0), 3)
    if len(node.shape(1)) == 5:
        both = _packed(node, node.input(1), 2)
        return Heads(_split_heads(node, _biased(node, node.input(0), 0, 0)), both.key, both.value)
    query = _biased(node, node.input(0), 0, 0)
    if len(node.shape(1)) == 4:
        return Heads(_split_heads(node, query), node.input(1), node.input(2))
    hidden = node.last_extent(0)
    start = hidden if isinstance(hidden, int) else 0
    key, value = _biased(node, node.input(1), start, 1), _biased(node, node.input(2), 2 * start, 2)
    return Heads(*(_split_heads(node, each) for each in (query, key, value)))


def _biased(node: NodeView, value: SSAValue, start: int, index: int) -> SSAValue:
    """The sum with the part of the bias that belongs to input `index`."""
    bias = node.optional_input(3)
    if bias is None:
        return value
    extent = node.last_extent(index)
    if not isinstance(extent, int):
        raise node.error(f"input #{index} has {extent} elements for each place; their number must be known")
    return node.emit("add", value, node.emit("strided_slice", bias, begin=(start,), end=(start + extent,), axes=(0,)))


def _packed(node: NodeView, value: SSAValue, count: int) -> Heads:
    """(batch, places, heads, `count`, elements) as heads; if only two are packed, these are keys and values."""
    if node.optional_input(3) is not None:
        raise node.error("packed heads have no bias")
    parts = [node.emit("take", value, _place(node, part), axis=3, mode="fast") for part in range(count)]
    turned = [node.emit("transpose", part, axes=(0, 2, 1, 3)) for part in parts]
    return Heads(turned[0], turned[-2], turned[-1])


def attend(node: NodeView, heads: Heads, past: Number, *, mask: int, bias: int | None) -> SSAValue:
    """The values weighted by the softmax of products of queries and keys: (batch, places, heads * elements).

    Input `mask` masks keys, and input `bias` is added to the products; the first `past` keys precede all queries.
    16-bit floats are computed in f32.
    """
    element = element_type_of(heads.query.type)
    query, key, value = (in_f32(node, each) for each in (heads.query, heads.key, heads.value))
    width = shape_of(query.type)[-1]
    if not isinstance(width, int) or width < 1:
        raise node.error(f"heads of {width} elements; a number of 1 and more must be known")
    # onnxruntime treats a scale of 0 as absent.
    scores = node.emit("nn.batch_matmul", query, key, transpose_b=True)
    scale = node.attribute_float("scale", 0.0) or float(width) ** -0.5
    scores = node.emit("multiply", scores, node.scalar(scale, scores))
    if bias is not None and node.optional_input(bias) is not None:
        scores = node.emit("add", scores, in_f32(node, node.input(bias)))
    if node.optional_input(mask) is not None:
        scores = node.emit("add", scores, _padding_mask(node, mask, scores))
    if node.attribute_flag("unidirectional"):
        scores = _causal_mask(node, scores, past)
    weights = node.emit("nn.softmax", scores, axis=-1)
    result = node.emit("nn.batch_matmul", weights, value, transpose_b=False)
    result = node.emit("reshape", node.emit("transpose", result, axes=(0, 2, 1, 3)), newshape=(0, 0, -3))
    return node.emit("cast", result, dtype=numpy_dtype(element)) if is_half(element) else result
