"""Sorting: the gradient of an element is moved to its original index."""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue, string_attribute
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.algorithm_sort import ArgsortOp, DynTopKOp, SortOp, TopKOp
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(SortOp)
def sort(op: SortOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient scattered to the indices of `argsort`."""
    order: dict[str, AttributeValue] = {"axis": op.axis.value.data, "is_ascend": op.ascends}
    places = emit.op("argsort", op.data, **order, dtype="int64")
    return [_put(op.data, places, gradient, op.axis.value.data, emit)]


@differentiates(TopKOp)
def topk(op: TopKOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient scattered to the indices of the kept elements; the indices have no gradient."""
    if op.ret_type.data == "indices":
        return [None]
    order: dict[str, AttributeValue] = {
        "k": op.k.value.data,
        "axis": op.axis.value.data,
        "is_ascend": bool(op.is_ascend.value.data),
    }
    places = emit.op("topk", op.data, **order, ret_type="indices", dtype="int64")
    values = emit.item(gradient, 0) if op.ret_type.data == "both" else gradient
    return [_put(op.data, places, values, op.axis.value.data, emit)]


@differentiates(DynTopKOp)
def dyn_topk(op: DynTopKOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient of `topk`; None for `k`."""
    if op.ret_type.data == "indices":
        return [None, None]
    attributes = {**op.properties, "ret_type": string_attribute("indices"), "dtype": i64}
    places = emit.op("dyn.topk", op.data, op.k, **attributes)
    values = emit.item(gradient, 0) if op.ret_type.data == "both" else gradient
    return [_put(op.data, places, values, op.axis.value.data, emit), None]


@differentiates(ArgsortOp)
def argsort(op: ArgsortOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns None: indices do not change with small changes of the elements."""
    return [None]


def _put(data: SSAValue, places: SSAValue, gradient: SSAValue, axis: int, emit: GradientBuilder) -> SSAValue:
    return emit.op("scatter_elements", emit.zeros_like(data), places, gradient, axis=axis, reduction="update")
