"""Gradients of convolutions with respect to their weight: a matrix product for each group, or sums of products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final, cast

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.half_precision import into_single
from xrelay.dialects.relay.computes.layouts import layout_indices, primal_indices
from xrelay.dialects.relay.ops.nn_conv_grad import WEIGHT_GRADIENTS, ConvBackwardWeightOp
from xrelay.dialects.shared.types import shape_of as shape_of_type
from xrelay.dialects.shared.types import tensor_type
from xrelay.dialects.topi.build import Body, variables
from xrelay.dialects.topi.named import BatchMatmulOp
from xrelay.dialects.topi.named.base import convert
from xrelay.dialects.topi.named.window import TAPS
from xrelay.index_algebra.dims import Dim, product
from xrelay.index_algebra.windows import of_any_size
from xrelay.lowering.relay_to_topi.registry import implements

_FEW_FILTERS: Final = 4
"""With fewer filters in a group than this, its product is narrower than a vector."""

_MANY_COLUMNS: Final = 1 << 27
"""No more elements are laid out for the product: half a gigabyte of f32."""


@dataclass(frozen=True)
class _Parts:
    """The factors of the op: extents by axis, and the element of the data at each tap."""

    op: ConvBackwardWeightOp
    grad: dict[str, Dim]
    data: dict[str, Dim]

    @staticmethod
    def of(op: Operation) -> _Parts:
        """Those of an op."""
        gradient = cast(ConvBackwardWeightOp, op)
        grad_layout, data_layout, _ = gradient.layouts
        grad = grad_layout.primal_extents(shape_of_type(gradient.grad.type))
        return _Parts(gradient, grad, data_layout.primal_extents(shape_of_type(gradient.data.type)))

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return self.op.groups.value.data

    @property
    def points(self) -> list[Dim]:
        """The extents over which is summed: batch and the places of the window."""
        return [self.grad[axis] for axis in f"N{self.op.AXES}"]

    def places(self, point: Sequence[AffineExpr], taps: Sequence[AffineExpr]) -> dict[str, AffineExpr]:
        """Returns the position of the element at a tap, by spatial axis; in the padding it is outside of the data."""
        rows = zip(self.op.AXES, self.op.window(self.op.sizes), point[1:], taps, strict=True)
        return {letter: axis.place(at, tap) for letter, axis, at, tap in rows}

    def read(self, b: Body, data: SSAValue, at: dict[str, AffineExpr]) -> SSAValue:
        """An element of the data; 0 in the padding."""
        op, element = self.op, element_of(data)
        inside = b.in_bounds([at[axis] for axis in op.AXES], [self.data[axis] for axis in op.AXES])
        return b.guard(
            inside, element, lambda: b.read(data, *layout_indices(op.layouts[1], at)), lambda: b.constant(0, element)
        )

    def read_grad(self, b: Body, grad: SSAValue, channel: AffineExpr, point: Sequence[AffineExpr]) -> SSAValue:
        """The gradient of a channel at a point."""
        at = {"C": channel, **dict(zip(f"N{self.op.AXES}", point, strict=True))}
        return b.read(grad, *layout_indices(self.op.layouts[0], at))


def _no_product(op: Operation) -> str | None:
    """Returns the reason why the op is not computed as a matrix product, or None."""
    parts = _Parts.of(op)
    extents = (*parts.points, parts.grad["C"], parts.data["C"])
    known = [extent for extent in extents if isinstance(extent, int)]
    if len(known) < len(extents):
        return "an extent has a name"
    *points, filters, channels = known
    if filters // parts.groups < _FEW_FILTERS:
        return f"a group has {filters // parts.groups} filters"
    columns = prod(points) * channels * prod(parts.op.sizes)
    return f"{columns} elements would be laid out" if columns > _MANY_COLUMNS else None


@into_single
def build_product(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Taps × points by points × filters.

    The elements at the taps, the larger factor, are laid out in rows in the order of the data.
    """
    parts, op = _Parts.of(emitter.op), cast(ConvBackwardWeightOp, emitter.op)
    grad, data, element = emitter.operand(0), emitter.operand(1), emitter.result_type.element_type
    groups, count = parts.groups, product(parts.points)
    depth, filters = parts.data["C"] // groups, parts.grad["C"] // groups
    rows = [depth, *op.sizes]

    def see(b: Body) -> SSAValue:
        group, row, point = b.spatial
        channel, *taps = _split(b, row, rows)
        n, *at = _split(b, point, parts.points)
        places = parts.places([n, *at], taps)
        return parts.read(b, data, {"N": n, "C": b.scaled(group, depth) + channel, **places})

    def turn(b: Body) -> SSAValue:
        group, point, filter_ = b.spatial
        return parts.read_grad(b, grad, b.scaled(group, filters) + filter_, _split(b, point, parts.points))

    seen = emitter.compute("taps", variables("i", [groups, product(rows), count]), element_of(data), see)
    turned = emitter.compute("points", variables("i", [groups, count, filters]), element_of(grad), turn)
    type = tensor_type((groups, product(rows), filters), element)
    weight = emitter.insert(BatchMatmulOp(seen, turned, type)).results[0]

    def lay_out(b: Body) -> SSAValue:
        at = primal_indices(op.layouts[2], b.spatial)
        row = at["I"]
        for axis, size in zip(op.AXES, op.sizes, strict=True):
            row = row * size + at[axis]
        return b.read(weight, b.quotient(at["O"], filters), row, b.remainder(at["O"], filters))

    return [emitter.compute("weight", variables("i", emitter.result_shape), element, lay_out)]


def _split(b: Body, number: AffineExpr, extents: Sequence[Dim]) -> list[AffineExpr]:
    """The indices of element `number` of a tensor with these extents."""
    indices: list[AffineExpr] = []
    for extent in reversed(extents[1:]):
        indices.insert(0, b.remainder(number, extent))
        number = b.quotient(number, extent)
    return [number, *indices]


@into_single
def build_sums(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """A sum of products for each element of the weight: in any layout and of any extents."""
    parts, op = _Parts.of(emitter.op), cast(ConvBackwardWeightOp, emitter.op)
    grad, data, element = emitter.operand(0), emitter.operand(1), emitter.result_type.element_type
    depth, filters = parts.data["C"] // parts.groups, parts.grad["C"] // parts.groups

    padded = _padded(emitter, parts, data)
    before = {letter: axis.before for letter, axis in zip(op.AXES, op.window(op.sizes), strict=True)}

    def add(b: Body) -> SSAValue:
        at = primal_indices(op.layouts[2], b.spatial)
        channel = b.scaled(b.quotient(at["O"], filters), depth) + at["I"]
        places = parts.places(b.reduction, [at[axis] for axis in op.AXES])
        moved = {letter: place + before[letter] for letter, place in places.items()}
        seen = b.read(padded, *layout_indices(op.layouts[1], {"N": b.reduction[0], "C": channel, **moved}))
        factors = parts.read_grad(b, grad, at["O"], b.reduction), seen
        return b.accumulate_product(b.accumulators[0], *(convert(b, factor, element) for factor in factors))

    names = ("n", *(TAPS[axis] for axis in op.AXES))
    reduce = dict(zip(names, parts.points, strict=True))
    spatial = variables("i", emitter.result_shape)
    return [emitter.compute(op.relay_name().removeprefix("nn."), spatial, element, add, reduce=reduce, init=[0])]


def _padded(emitter: TopiBuilder, parts: _Parts, data: SSAValue) -> SSAValue:
    """The data surrounded by zeros as far as windows reach, so that sums read it without a condition."""
    op, layout = parts.op, parts.op.layouts[1]
    window = dict(zip(op.AXES, op.window(op.sizes), strict=True))
    if not any(axis.before or axis.after for axis in window.values()):
        return data
    covered = {letter: of_any_size(axis).covered(parts.grad[letter]) for letter, axis in window.items()}

    def fill(b: Body) -> SSAValue:
        at = primal_indices(layout, b.spatial)
        return parts.read(b, data, at | {letter: at[letter] - axis.before for letter, axis in window.items()})

    names = variables("i", layout.shape_from(parts.data | covered))
    return emitter.compute("pad", names, element_of(data), fill)


for _op in WEIGHT_GRADIENTS:
    _name = _op.relay_name().removeprefix("nn.")
    implements(_op, f"{_name}.product", condition=_no_product)(build_product)
    implements(_op, f"{_name}.sums", priority=5)(build_sums)
