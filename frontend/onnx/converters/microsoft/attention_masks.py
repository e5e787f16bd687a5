"""Masks of attention in the domain com.microsoft, which mark padding keys by flags or by lengths."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.shared.types import shape_of
from xrelay.frontend.onnx.converters.shared.extents import extent_value
from xrelay.frontend.onnx.converters.shared.numbers import Number, Numbers
from xrelay.frontend.onnx.node import NodeView
from xrelay.index_algebra.dims import certainly_differ, certainly_equal


def padding_mask(node: NodeView, index: int, scores: SSAValue) -> SSAValue:
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


def causal_mask(node: NodeView, scores: SSAValue, past: Number) -> SSAValue:
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
