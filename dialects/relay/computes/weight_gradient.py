"""The factors of the gradient of a convolution in its weight, in any layouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.layouts import layout_indices, primal_indices
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.topi.build import Body
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.windows import WindowAxis, of_any_size


@dataclass(frozen=True)
class WeightGradient:
    """The gradient of the result and the data of a convolution with a window over `axes`: layouts, extents, reads."""

    axes: str
    window: Sequence[WindowAxis[int]]
    groups: int
    grad_layout: Layout
    grad: dict[str, Dim]
    data_layout: Layout
    data: dict[str, Dim]

    @property
    def points(self) -> list[Dim]:
        """The extents of the sums: batch and positions of the window."""
        return [self.grad[axis] for axis in f"N{self.axes}"]

    @property
    def depth(self) -> Dim:
        """The number of channels of the data in a group."""
        return self.data["C"] // self.groups

    @property
    def filters(self) -> Dim:
        """The number of channels of the gradient in a group."""
        return self.grad["C"] // self.groups

    def places(self, point: Sequence[AffineExpr], taps: Sequence[AffineExpr]) -> dict[str, AffineExpr]:
        """Returns the position of the element at a tap, by spatial axis; in the padding it is outside of the data."""
        rows = zip(self.axes, self.window, point[1:], taps, strict=True)
        return {letter: axis.place(at, tap) for letter, axis, at, tap in rows}

    def read_data(self, b: Body, data: SSAValue, at: dict[str, AffineExpr]) -> SSAValue:
        """Reads an element of the data; 0 in the padding."""
        element = element_of(data)
        inside = b.in_bounds([at[axis] for axis in self.axes], [self.data[axis] for axis in self.axes])
        indices = layout_indices(self.data_layout, at)
        return b.guard(inside, element, lambda: b.read(data, *indices), lambda: b.constant(0, element))

    def read_grad(self, b: Body, grad: SSAValue, channel: AffineExpr, point: Sequence[AffineExpr]) -> SSAValue:
        """Reads the gradient of a channel at a point."""
        at = {"C": channel, **dict(zip(f"N{self.axes}", point, strict=True))}
        return b.read(grad, *layout_indices(self.grad_layout, at))

    def padded(self, build: TopiBuilder, data: SSAValue) -> SSAValue:
        """Surrounds the data by zeros as far as windows reach, so that sums read it without a condition."""
        window = dict(zip(self.axes, self.window, strict=True))
        if not any(axis.before or axis.after for axis in window.values()):
            return data
        covered = {letter: of_any_size(axis).covered(self.grad[letter]) for letter, axis in window.items()}

        def fill(b: Body) -> SSAValue:
            at = primal_indices(self.data_layout, b.spatial)
            return self.read_data(b, data, at | {letter: at[letter] - axis.before for letter, axis in window.items()})

        return build.compute("pad", self.data_layout.shape_from(self.data | covered), element_of(data), fill)
