"""Layouts that permute or split the axes of a value differently from its original layout in the IR.

`Layout` is sufficient for layouts that only split axes: the letters of the axes keep their order. A
`LayoutPermutation` also stores the original layout, to map "axis 1 of the original" to its letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xrelay.dialects.relay.layout.layout import Layout, LayoutAxis, LayoutError
from xrelay.index_algebra.dims import Dim, Shape


@dataclass(frozen=True)
class LayoutPermutation(Layout):
    """A layout `axes` for a value with the original layout `before`.

    An axis that `before` splits has no position in the new layout: ops along it, or along its inner part, raise
    `LayoutError`.
    """

    before: Layout

    @staticmethod
    def of(layout: Layout, before: Layout) -> Layout:
        """Returns `layout` for a value in `before`. Raises `LayoutError` if they have different axes."""
        if sorted(layout.primal) != sorted(before.primal):
            raise LayoutError(f"layouts {before} and {layout} have different axes")
        return layout if str(before) == layout.primal else LayoutPermutation(layout.axes, before)

    @property
    def plain(self) -> Layout:
        """The layout without the original."""
        return Layout(self.axes)

    @cached_property
    def text(self) -> Layout:
        """The original layout."""
        return self.before

    @cached_property
    def primal(self) -> str:
        """A letter for each original axis; lower-case for the inner part of an axis that the original splits."""
        return "".join(_letter(axis) for axis in self.before.axes)

    def factor(self, letter: str) -> int | None:
        """Returns the factor by which the new or the original layout splits `letter`."""
        own = super().factor(letter)
        return own if own is not None else self.before.factor(letter.upper())

    def index(self, letter: str) -> int:
        """Returns the position of the primal axis `letter`. Raises `LayoutError` if the original splits it."""
        if self.before.factor(letter.upper()) is not None:
            raise LayoutError(f"the text's layout {self.before} splits the axis {letter}")
        return super().index(letter)

    def primal_extents(self, shape: Sequence[Dim]) -> dict[str, Dim]:
        """Returns the extents of the plain layout."""
        return self.plain.primal_extents(shape)

    def shape_from(self, extents: dict[str, Dim]) -> Shape:
        """Returns the shape in the plain layout."""
        return self.plain.shape_from(extents)


def _letter(axis: LayoutAxis) -> str:
    return axis.letter if axis.is_primal else axis.letter.lower()
