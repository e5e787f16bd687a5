"""GroupQueryAttention of the domain com.microsoft: groups of query heads share keys and values, which a cache holds."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.frontend.onnx.converters.definition import (
    MICROSOFT,
    NodeView,
    Number,
    Numbers,
    converts,
    element_type_of,
    extent_value,
    in_f32,
    is_half,
    numpy_dtype,
    shape_of,
)
from xrelay.frontend.onnx.converters.microsoft.rotary_embedding import angles, rotated

_PAST, _LENGTHS, _TOTAL, _COSINES, _PLACES, _BIAS, _SINKS = 3, 5, 6, 7, 9, 10, 11
"""Indices of inputs."""


@converts(
    "GroupQueryAttention",
    domain=MICROSOFT,
    attributes=(
        *("num_heads", "kv_num_heads", "scale", "softcap", "do_rotary", "rotary_interleaved", "local_window_size"),
        *("smooth_softmax", "k_quant_type", "v_quant_type", "kv_cache_bit_width", "causal", "qk_output"),
    ),
    limits="norms, quantised caches, scores as output",
)
def convert_group_query_attention(node: NodeView) -> list[SSAValue]:
    """Appends new keys and values to the cache of each batch entry; a query attends to keys up to its own place.

    The resulting cache is as long as the longest entry or the given cache, whichever is longer.
    """
    _check(node)
    count, shared = (
        node.attribute_int(name, 0, check=lambda value: value >= 1) for name in ("num_heads", "kv_num_heads")
    )
    query, key, value = _heads(node, count, shared)
    past = _past_lengths(node, query)
    places = node.emit("add", Numbers(node).arange(0, extent_value(node, query, 1)), past)
    if node.attribute_int("do_rotary", 0):
        given = node.optional_input(_PLACES)
        rotation = angles(node, places if given is None else given, (_COSINES, _COSINES + 1))
        interleaved = bool(node.attribute_int("rotary_interleaved", 0))
        query, key = (rotated(node, each, rotation, interleaved=interleaved) for each in (query, key))
    caches = [_cached(node, number, each, past) for number, each in enumerate((key, value))]
    result = _attended(node, query, caches, count // shared, places)
    results = [node.emit("reshape", result, newshape=(0, 0, -3)), *caches]
    element = node.element_type(0)
    return [node.emit("cast", each, dtype=numpy_dtype(element)) for each in results] if is_half(element) else results


def _check(node: NodeView) -> None:
    """Refuses unsupported forms."""
    flags = {name: node.attribute_int(name, usual) for name, usual in (("causal", 1), ("qk_output", 0))}
    quantised = any(
        node.attribute_text(name) != "NONE" for name in ("k_quant_type", "v_quant_type") if name in node.attribute_names
    )
    if (
        flags != {"causal": 1, "qk_output": 0}
        or quantised
        or any(node.optional_input(at) for at in range(_SINKS + 1, 17))
    ):
        raise node.unsupported("norms, scores as output, non-causal queries and quantised caches")


def _heads(node: NodeView, count: int, shared: int) -> list[SSAValue]:
    """Queries, keys and values as (batch, places, heads, elements), 16-bit floats in f32; they may be packed."""
    query = node.input(0)
    packed = node.optional_input(1) is None
    heads = count + 2 * shared if packed else count
    if len(node.shape(0)) != 3 or packed != (node.optional_input(2) is None):
        raise node.error(f"queries {query.type}: three axes are expected, with keys and values or neither")
    columns = node.shape(0)[2]
    if not isinstance(columns, int) or columns % heads or not columns or count % shared:
        raise node.error(f"{query.type} does not split into {heads} query heads and {shared} key heads")
    width = columns // heads
    parts = [query, node.optional_input(1), node.optional_input(2)]
    if packed:
        cut = node.emit("split", query, indices_or_sections=(count * width, (count + shared) * width), axis=2)
        parts = [node.tuple_field(cut, index) for index in range(3)]
    wanted = (count, shared, shared)
    present = [part for part in parts if part is not None]
    if is_half(node.element_type(0)):
        present = [node.emit("cast", part, dtype="float32") for part in present]
    return [
        node.emit("reshape", part, newshape=(0, 0, number, width)) for part, number in zip(present, wanted, strict=True)
    ]


def _past_lengths(node: NodeView, query: SSAValue) -> SSAValue:
    """The number of cached places of each batch entry, (batch, 1); 0 for the first prompt."""
    numbers = Numbers(node)
    places = extent_value(node, query, 1)
    lengths = node.emit("cast", node.input(_LENGTHS), dtype="int64")
    lengths = node.emit("reshape", lengths, newshape=(-1, 1))
    past = node.emit("subtract", node.emit("add", lengths, numbers.value(1)), places)
    is_first = node.emit("equal", _total(node), places)
    return node.emit("where", is_first, numbers.value(0), past)


def _total(node: NodeView) -> SSAValue:
    """The length of the longest entry, including new places.

    Models narrow an extent to i32. The length is the number before, so that the extent of the cache is known.
    """
    total = node.input(_TOTAL)
    if isinstance(total.owner, CastOp) and element_type_of(total.owner.data.type) == i64:
        total = total.owner.data
    return node.emit("cast", node.reshape(total, ()), dtype="int64")


def _cached(node: NodeView, number: int, new: SSAValue, past: SSAValue) -> SSAValue:
    """The cache of keys (0) or values (1), (batch, heads, places, elements), with new ones after `past` places.

    A place reads either cache, so that one kernel writes the result; a scatter would copy the cache first.
    """
    numbers, cache = Numbers(node), node.optional_input(_PAST + number)
    if cache is None:
        return node.emit("transpose", new, axes=(0, 2, 1, 3))
    cache = node.emit("cast", cache, dtype="float32") if is_half(node.element_type(0)) else cache
    extent, count = extent_value(node, cache, 2), extent_value(node, new, 1)
    length = node.emit("maximum", _total(node), extent)
    cache = _extended(node, cache, 2, numbers.of("subtract", length, extent))
    place = node.emit("subtract", numbers.arange(0, length), past)
    rows = node.emit("take", new, place, axis=1, batch_dims=1, mode="fast")
    is_new = node.emit(
        "logical_and", node.emit("greater_equal", place, numbers.value(0)), node.emit("less", place, count)
    )
    is_new = node.emit("expand_dims", node.emit("expand_dims", is_new, axis=1), axis=3)
    return node.emit("where", is_new, node.emit("transpose", rows, axes=(0, 2, 1, 3)), cache)


def _extended(node: NodeView, value: SSAValue, axis: int, more: Number) -> SSAValue:
    """Appends `more` zeros along an axis; the other extents stay known."""
    numbers = Numbers(node)
    extents = [more if each == axis else numbers.extent(value, each) for each in range(len(shape_of(value.type)))]
    element = np.zeros((), numpy_dtype(element_type_of(value.type)))
    zeros = numbers.filled(element, extents, "unused")
    return node.emit("concatenate", node.make_tuple([value, zeros]), axis=axis)


def _attended(node: NodeView, query: SSAValue, caches: list[SSAValue], share: int, places: SSAValue) -> SSAValue:
    """The weighted values for each query: (batch, places, heads, elements)."""
    key, value = (node.emit("repeat", cache, repeats=share, axis=1) if share > 1 else cache for cache in caches)
    width = shape_of(query.type)[-1]
    # onnxruntime treats a scale of 0 as absent.
    scale = node.attribute_float("scale", 0.0) or float(width if isinstance(width, int) else 1) ** -0.5
    scores = node.emit("nn.batch_matmul", node.emit("transpose", query, axes=(0, 2, 1, 3)), key, transpose_b=True)
    scores = node.emit("multiply", scores, node.scalar(scale, scores))
    cap = node.attribute_float("softcap", 0.0)
    if cap > 0:
        bounded = node.emit("tanh", node.emit("divide", scores, node.scalar(cap, scores)))
        scores = node.emit("multiply", bounded, node.scalar(cap, scores))
    if node.optional_input(_BIAS) is not None:
        scores = node.emit("add", scores, _bias(node, scores))
    scores = node.emit(
        "where", _seen(node, scores, places), scores, node.scalar(float(np.finfo(np.float32).min), scores)
    )
    result = node.emit("nn.batch_matmul", _weights(node, scores), value, transpose_b=False)
    return node.emit("transpose", result, axes=(0, 2, 1, 3))


def _bias(node: NodeView, scores: SSAValue) -> SSAValue:
    """The attention bias, padded with zeros for unused places of the cache."""
    numbers, bias = Numbers(node), node.input(_BIAS)
    if len(shape_of(bias.type)) != 4:
        raise node.error(f"a bias {bias.type}: one number for each batch, head, query and key is expected")
    bias = in_f32(node, bias)
    more = numbers.of("subtract", numbers.extent(scores, 3), numbers.extent(bias, 3))
    if more == 0:
        return bias
    return _extended(node, bias, 3, more)


def _weights(node: NodeView, scores: SSAValue) -> SSAValue:
    """The softmax of the scores; each head may have a sink (by default 0), the score of a key without a value."""
    sinks = node.optional_input(_SINKS)
    if sinks is None and not node.attribute_int("smooth_softmax", 0, check=lambda value: value in (-1, 0, 1)) > 0:
        return node.emit("nn.softmax", scores, axis=-1)
    column = node.emit("zeros_like", node.emit("strided_slice", scores, begin=(0,), end=(1,), axes=(3,)))
    if sinks is not None:
        sinks = in_f32(node, sinks)
        column = node.emit("add", column, node.reshape(sinks, (1, -1, 1, 1)))
    joined = node.emit("concatenate", node.make_tuple([column, scores]), axis=3)
    weights = node.emit("nn.softmax", joined, axis=-1)
    return node.emit("strided_slice", weights, begin=(1,), end=(2**63 - 1,), axes=(3,))


def _seen(node: NodeView, scores: SSAValue, places: SSAValue) -> SSAValue:
    """Mask of keys up to the query's own place and within its window: (batch, 1, queries, keys)."""
    keys = Numbers(node).arange(0, extent_value(node, scores, 3))
    own = node.emit("expand_dims", node.emit("expand_dims", places, axis=1), axis=3)
    seen = node.emit("less_equal", keys, own)
    window = node.attribute_int("local_window_size", -1)
    if window < 0:
        return seen
    near = node.emit("greater", keys, node.emit("subtract", own, Numbers(node).value(window)))
    return node.emit("logical_and", seen, near)
