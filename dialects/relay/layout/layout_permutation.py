"""A layout that a value gets in place of the one its text has, where the two order or split axes differently.

`Layout` alone serves where new layouts only split axes: there the letters of the axes, in order, are those of the text.
A `LayoutPermutation` remembers the text's layout, so that "axis 1 of the text" leads to the right letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xrelay.dialects.relay.layout.layout import Layout, LayoutAxis, LayoutError
from xrelay.index_algebra.dims import Dim, Shape


@dataclass(frozen=True)
class LayoutPermutation(Layout):
    """A layout `axes` for a value that the text has in the layout `before`.

    An axis that `before` splits has no place of its own in the new layout: ops that work along it, or along its inner
    part, are refused by `LayoutError`.
    """

    before: Layout

    @staticmethod
    def of(layout: Layout, before: Layout) -> Layout:
        """`layout` for a value in `before`; `LayoutError` where they have different axes."""
        if sorted(layout.primal) != sorted(before.primal):
            raise LayoutError(f"layouts {before} and {layout} have different axes")
        return layout if str(before) == layout.primal else LayoutPermutation(layout.axes, before)

    @property
    def plain(self) -> Layout:
        """The layout without the memory of the text."""
        return Layout(self.axes)

    @cached_property
    def text(self) -> Layout:
        """The text's layout."""
        return self.before

    @cached_property
    def primal(self) -> str:
        """A letter for each axis of the text; a small one for the inner part of an axis that the text splits."""
        return "".join(_letter(axis) for axis in self.before.axes)

    def factor(self, letter: str) -> int | None:
        """The factor by which the new layout or the text splits `letter`."""
        own = super().factor(letter)
        return own if own is not None else self.before.factor(letter.upper())

    def index(self, letter: str) -> int:
        """The position of the primal axis `letter`; `LayoutError` where the text splits it."""
        if self.before.factor(letter.upper()) is not None:
            raise LayoutError(f"the text's layout {self.before} splits the axis {letter}")
        return super().index(letter)

    def primal_extents(self, shape: Sequence[Dim]) -> dict[str, Dim]:
        """As the plain layout's."""
        return self.plain.primal_extents(shape)

    def shape_from(self, extents: dict[str, Dim]) -> Shape:
        """As the plain layout's."""
        return self.plain.shape_from(extents)


def _letter(axis: LayoutAxis) -> str:
    return axis.letter if axis.is_primal else axis.letter.lower()
