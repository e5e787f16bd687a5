"""`relay.sort`, `relay.argsort` and `relay.topk`: a `topi.sort`, with a conversion of the indices."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.ops.algorithm_sort import ArgsortOp, SortOp, TopKOp
from xrelay.dialects.shared.types import shape_of as shape_of_type
from xrelay.dialects.topi import SortOp as TopiSortOp
from xrelay.dialects.topi.build import variables
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim
from xrelay.lowering.relay_to_topi.registry import implements


def sort(emitter: TopiBuilder, count: Dim | None = None) -> TopiSortOp:
    """Emits a sort along the op's axis that keeps the first `count` elements."""
    data = emitter.operand(0)
    axis = emitter.integer("axis") % len(shape_of(data))
    return emitter.insert(TopiSortOp(data, axis, descending=not emitter.flag("is_ascend"), count=count))


def as_places(emitter: TopiBuilder, indices: SSAValue, element: Attribute) -> SSAValue:
    """Converts i64 indices to another element type."""
    if element == i64:
        return indices
    return emitter.compute(
        "places",
        variables("i", shape_of(indices)),
        element,
        lambda b: convert_scalar(b, b.read(indices, *b.spatial), element),
    )


@implements(SortOp, "sort.generic")
def build_sort(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Returns the sorted values."""
    return [sort(emitter).values]


@implements(ArgsortOp, "argsort.generic")
def build_argsort(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Returns the sorting indices."""
    return [as_places(emitter, sort(emitter).indices, emitter.result_type.element_type)]


@implements(TopKOp, "topk.generic")
def build_topk(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Returns values, indices, or both."""
    axis = emitter.integer("axis") % len(shape_of(emitter.operand(0)))
    last = emitter.result_types[-1]
    op = sort(emitter, shape_of_type(last)[axis])
    if emitter.text("ret_type") == "values":
        return [op.values]
    indices = as_places(emitter, op.indices, last.element_type)
    return [indices] if emitter.text("ret_type") == "indices" else [op.values, indices]
