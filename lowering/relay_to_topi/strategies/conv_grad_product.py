"""Gradients of convolutions in their weight as a matrix product for each group."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final, cast

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.layouts import primal_indices
from xrelay.dialects.relay.computes.widening import into_single
from xrelay.dialects.relay.ops.nn.conv_grad import WEIGHT_GRADIENTS, ConvBackwardWeightOp
from xrelay.dialects.shared.types import tensor_type
from xrelay.dialects.topi.build import Body
from xrelay.dialects.topi.named import BatchMatmulOp
from xrelay.index_algebra.dims import Dim, product
from xrelay.lowering.relay_to_topi.registry import implements

_FEW_FILTERS: Final = 4
"""With fewer filters in a group, its product is narrower than a vector."""

_MANY_COLUMNS: Final = 1 << 27
"""The maximum number of elements that are copied for the product: half a gigabyte of f32."""


def _no_product(op: Operation) -> str | None:
    """Returns the reason why the op is not computed as a matrix product, or None."""
    gradient = cast(ConvBackwardWeightOp, op)
    factors = gradient.factors()
    extents = (*factors.points, factors.grad["C"], factors.data["C"])
    known = [extent for extent in extents if isinstance(extent, int)]
    if len(known) < len(extents):
        return "an extent has a name"
    *points, filters, channels = known
    if filters // factors.groups < _FEW_FILTERS:
        return f"a group has {filters // factors.groups} filters"
    columns = prod(points) * channels * prod(gradient.sizes)
    return f"{columns} elements would be copied" if columns > _MANY_COLUMNS else None


@into_single
def build_product(build: TopiBuilder) -> Sequence[SSAValue]:
    """Multiplies taps × points by points × filters.

    The elements at the taps, the larger factor, are copied to rows in the order of the data.
    """
    op = cast(ConvBackwardWeightOp, build.op)
    grad, data, element, factors = build.operand(0), build.operand(1), build.result_type.element_type, op.factors()
    groups, points, depth, filters = factors.groups, factors.points, factors.depth, factors.filters
    rows, count = [depth, *op.sizes], product(points)

    def see(b: Body) -> SSAValue:
        group, row, point = b.spatial
        channel, *taps = _split(b, row, rows)
        n, *at = _split(b, point, points)
        places = factors.places([n, *at], taps)
        return factors.read_data(b, data, {"N": n, "C": b.scaled(group, depth) + channel, **places})

    def turn(b: Body) -> SSAValue:
        group, point, filter_ = b.spatial
        return factors.read_grad(b, grad, b.scaled(group, filters) + filter_, _split(b, point, points))

    seen = build.compute("taps", [groups, product(rows), count], element_of(data), see)
    turned = build.compute("points", [groups, count, filters], element_of(grad), turn)
    type = tensor_type((groups, product(rows), filters), element)
    weight = build.insert(BatchMatmulOp(seen, turned, type)).results[0]

    def lay_out(b: Body) -> SSAValue:
        at = primal_indices(op.layouts[2], b.spatial)
        row = at["I"]
        for axis, size in zip(op.AXES, op.sizes, strict=True):
            row = row * size + at[axis]
        return b.read(weight, b.quotient(at["O"], filters), row, b.remainder(at["O"], filters))

    return [build.compute("weight", build.result_shape, element, lay_out)]


def _split(b: Body, number: AffineExpr, extents: Sequence[Dim]) -> list[AffineExpr]:
    """Returns the indices of element `number` of a tensor with these extents."""
    indices: list[AffineExpr] = []
    for extent in reversed(extents[1:]):
        indices.insert(0, b.remainder(number, extent))
        number = b.quotient(number, extent)
    return [number, *indices]


for _op in WEIGHT_GRADIENTS:
    implements(_op, f"{_op.relay_name().removeprefix('nn.')}.product", condition=_no_product)(build_product)
