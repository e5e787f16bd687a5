"""Shapes as values: `relay.shape_of` and `relay.ndarray_size` for data with known or named extents."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.ops.shape_values import NdarraySizeOp, ShapeOfOp
from xrelay.dialects.topi.build import Body
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import product
from xrelay.lowering.relay_to_topi.registry import implements


@implements(ShapeOfOp, "shape_of.static")
def build_shape_of(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Selects among the extents by index."""
    extents, element = shape_of(emitter.operand(0)), emitter.result_type.element_type

    def fill(b: Body) -> SSAValue:
        (place,) = b.spatial
        chosen = b.size(extents[-1], element) if extents else b.constant(0, element)
        for axis, extent in enumerate(extents[:-1]):
            here = b.add(arith.CmpiOp(b.index(place), b.constant(axis, IndexType()), "eq"))
            chosen = b.add(arith.SelectOp(here, b.size(extent, element), chosen))
        return chosen

    return [emitter.compute("shape_of", {"i": len(extents)}, element, fill)]


@implements(NdarraySizeOp, "ndarray_size.static")
def build_ndarray_size(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits a scalar."""
    count, element = product(shape_of(emitter.operand(0))), emitter.result_type.element_type
    return [emitter.compute("ndarray_size", {}, element, lambda b: b.size(count, element))]
