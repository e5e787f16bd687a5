"""Updates at indices from an operand: scatter_elements, scatter_nd."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.checked_indices import checked_indices
from xrelay.dialects.relay.ops.tensor_scatter import ScatterElementsOp, ScatterNDOp
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.build_scatter import scatter
from xrelay.dialects.topi.scatter import Combine
from xrelay.dialects.topi.shapes import shape_of
from xrelay.lowering.relay_to_topi.gather import tuple_parts
from xrelay.lowering.relay_to_topi.registry import implements


@implements(ScatterElementsOp, "scatter_elements.generic")
def build_scatter_elements(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Scatters each update to the index along the axis, and to its own indices along the others."""
    data, indices, updates = (emitter.operand(index) for index in range(3))
    axis = emitter.integer("axis") % len(shape_of(data))
    known = checked_indices(emitter, indices, shape_of(data)[axis])

    def fill(b: Body) -> tuple[list[SSAValue], SSAValue]:
        at = list(b.variables)
        at[axis] = b.read(known, *b.spatial)
        return at, b.read(updates, *b.spatial)

    space, combine = variables("i", shape_of(updates)), Combine(emitter.text("reduction"))
    return [emitter.insert(scatter("scatter_elements", space, combine, data, fill)).result]


@implements(ScatterNDOp, "scatter_nd.generic")
def build_scatter_nd(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Scatters each update to the components of its index tuple and its indices in the slice."""
    data, indices, updates = (emitter.operand(index) for index in range(3))
    rank = len(shape_of(indices)) - 1
    parts = tuple_parts(emitter, indices, shape_of(data))

    def fill(b: Body) -> tuple[list[SSAValue], SSAValue]:
        at = [b.read(part, *b.spatial[:rank]) for part in parts]
        return [*at, *b.variables[rank:]], b.read(updates, *b.spatial)

    space, combine = variables("i", shape_of(updates)), Combine(emitter.text("mode"))
    return [emitter.insert(scatter("scatter_nd", space, combine, data, fill)).result]
