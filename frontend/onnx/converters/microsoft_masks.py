"""The masks of attention in the domain com.microsoft, which say by flags or by lengths what keys are padding."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.types import shape_of
from xrelay.frontend.onnx.converters.extents import extent_value
from xrelay.frontend.onnx.converters.numbers import Number, Numbers
from xrelay.frontend.onnx.node import NodeView
from xrelay.index_algebra.dims import certainly_differ, certainly_equal


def padding_mask(node: NodeView, index: int, scores: SSAValue) -> SSAValue:
    """What is added to the scores, (batch, heads, queries, keys): `mask_filter_value` where a key is padding, else 0.

    Input `index` has a flag for each key, (batch, keys), or for each pair, (batch, queries, keys), 0 where it is
    padding; or where the keys end, (batch), or end and begin, (2 * batch).
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
    """True for each key before the end, and from the beginning on, of its entry of the batch."""
    batch, own = shape_of(scores.type)[0], node.shape(index)[0]
    keys = node.emit("cast", Numbers(node).arange(0, extent_value(node, scores, 3)), dtype="int32")
    if not certainly_differ(own, batch):
        ends = node.input(index)
        if not certainly_equal(own, batch):
            # Numbers for another batch, of which there may be one, would be broadcast.
            places = {"lhs_begin": 0, "lhs_end": 1, "rhs_begin": 0, "rhs_end": 1}
            ends = node.emit("reshape_like", ends, scores, **places)
        return node.emit("less", keys, _of_entries(node, ends))
    if not isinstance(own, int) or not isinstance(batch, int) or own != 2 * batch:
        raise node.error(f"a mask of {own} numbers for a batch of {batch} is not supported")
    halves = node.emit("split", node.input(index), indices_or_sections=2, axis=0)
    end, begin = (_of_entries(node, node.tuple_field(halves, half)) for half in range(2))
    return node.emit("logical_and", node.emit("less", keys, end), node.emit("greater_equal", keys, begin))


def _of_entries(node: NodeView, numbers: SSAValue) -> SSAValue:
    """Numbers of the entries of the batch, such that they broadcast with the scores."""
    return node.emit("expand_dims", numbers, axis=1, num_newaxis=3)


def causal_mask(node: NodeView, scores: SSAValue, past: Number) -> SSAValue:
    """The scores, the least number in place of those of keys behind the query; `past` keys are before the first one.

    The last query sees all keys, as in onnxruntime: there may be more of them than queries.
    """
    numbers = Numbers(node)
    queries, keys = (extent_value(node, scores, axis) for axis in (2, 3))
    place = node.emit("expand_dims", numbers.arange(0, queries), axis=1)
    later = node.emit("greater", numbers.arange(0, keys), node.emit("add", place, numbers.value(past)))
    is_before = node.emit("less", place, numbers.value(numbers.of("subtract", queries, 1)))
    later = node.emit("logical_and", later, is_before)
    return node.emit("where", later, node.scalar(float(np.finfo(np.float32).min), scores), scores)
