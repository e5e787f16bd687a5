"""Sorting along an axis."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute

from xrelay.dialects.relay.ops.algorithm_sort import ArgsortOp, DynTopKOp, FirstOp, OrderOp, SortOp, TopKOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.numerics.sorting import stable_order
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import Value, evaluates


def _places(dtype: Attribute | None, order: Array) -> Array:
    return order.astype(np.int32 if dtype is None else numpy_dtype(dtype))


def _order(op: OrderOp, data: Array) -> Array:
    return stable_order(data, op.axis.value.data, descending=not op.ascends)


@evaluates(SortOp)
def evaluate_sort(op: SortOp, data: Array) -> Array:
    """Returns the sorted elements."""
    return np.take_along_axis(data, _order(op, data), op.axis.value.data)


@evaluates(ArgsortOp)
def evaluate_argsort(op: ArgsortOp, data: Array) -> Array:
    """Returns the sorting indices."""
    return _places(op.dtype, _order(op, data))


@evaluates(TopKOp)
def evaluate_topk(op: TopKOp, data: Array) -> Value:
    """Returns the first k sorted elements and their indices."""
    k = op.k.value.data
    return _first(op, data, k if k >= 1 else data.shape[op.axis.value.data])


@evaluates(DynTopKOp)
def evaluate_dyn_topk(op: DynTopKOp, data: Array, k: Array) -> Value:
    """Like `topk`, after checking that k is in range."""
    extent = data.shape[op.axis.value.data]
    if not 0 <= k.item() <= extent:
        raise InterpreterError(f"[{op.name} C2] k is {k.item()}, the axis has {extent} elements")
    return _first(op, data, int(k.item()))


def _first(op: FirstOp, data: Array, count: int) -> Value:
    axis = op.axis.value.data
    order = np.take(_order(op, data), range(count), axis)
    values, indices = np.take_along_axis(data, order, axis), _places(op.dtype, order)
    return {"values": values, "indices": indices}.get(op.ret_type.data, (values, indices))
