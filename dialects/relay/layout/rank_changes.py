"""Layouts with removed, new or unit axes, for ops that change the rank."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from string import ascii_uppercase

from xrelay.dialects.relay.layout.layout import Layout, LayoutAxis, LayoutError
from xrelay.dialects.relay.layout.layout_permutation import LayoutPermutation
from xrelay.index_algebra.dims import Dim


def positions(layout: Layout, letter: str) -> tuple[int, ...]:
    """Returns the positions in the layout of the original axis `letter`: its outer and, if split, its inner part."""
    inner = layout.inner_index(letter)
    outer = layout.index(letter)
    return (outer,) if inner is None else (outer, inner)


def without_axes(layout: Layout, letters: Collection[str]) -> Layout:
    """Returns `layout` without the axes `letters`. Raises `LayoutError` if the original layout splits one of them."""
    for letter in letters:
        layout.index(letter)
    axes = tuple(axis for axis in layout.axes if axis.letter not in letters)
    before = tuple(axis for axis in layout.text.axes if axis.letter not in letters)
    if not axes:
        raise LayoutError(f"no axis of layout {layout} is left")
    return LayoutPermutation.of(Layout(axes), Layout(before))


def with_unit_axes(layout: Layout, letters: Collection[str]) -> Layout:
    """Returns `layout` for a value of extent 1 along `letters`: splits of these axes get the factor 1."""
    if all(axis.factor in (None, 1) or axis.letter not in letters for axis in layout.axes):
        return layout
    axes = tuple(
        LayoutAxis(axis.letter, 1) if axis.factor is not None and axis.letter in letters else axis
        for axis in layout.axes
    )
    return LayoutPermutation.of(Layout(axes), layout.text)


def with_new_axes(layout: Layout, position: int, count: int) -> Layout:
    """Returns `layout` with `count` new axes at `position` of the original, before the axis at that position.

    Raises `LayoutError` if the alphabet has too few letters.
    """
    free = [letter for letter in reversed(ascii_uppercase) if all(axis.letter != letter for axis in layout.axes)]
    if count > len(free):
        raise LayoutError(f"layout {layout} has no letters for {count} more axes")
    new = tuple(LayoutAxis(letter) for letter in free[:count])
    before = layout.text.axes
    at = layout.axes.index(LayoutAxis(before[position].letter)) if position < len(before) else _primal_end(layout)
    text = Layout((*before[:position], *new, *before[position:]))
    return LayoutPermutation.of(Layout((*layout.axes[:at], *new, *layout.axes[at:])), text)


def keeps_order(layout: Layout, shape: Sequence[Dim]) -> bool:
    """Returns whether the elements of a value of original `shape` have the same order in `layout`.

    This holds if only axes of extent 1 move, such as for blocked channels at height and width 1.
    """
    try:
        extents = layout.text.primal_extents(shape)
        target = layout.shape_from(extents)
    except (ValueError, LayoutError):
        return False
    return _order(layout, target) == _order(layout.text, shape)


def _order(layout: Layout, shape: Sequence[Dim]) -> list[tuple[str, int | None]]:
    """Returns the axes with more than one element, in order, with the factor of separate inner parts.

    An inner part directly after its outer part is merged with it.
    """
    found: list[tuple[str, int | None]] = []
    for axis, extent in zip(layout.axes, shape, strict=True):
        if extent == 1:
            continue
        whole = (axis.letter, None)
        if axis.is_primal or whole not in found:
            # An inner part without an outer part is the whole axis.
            found.append(whole)
        elif found[-1] != whole:
            found.append((axis.letter, axis.factor))
    return found


def _primal_end(layout: Layout) -> int:
    """Returns the position after the last primal axis."""
    return 1 + max(index for index, axis in enumerate(layout.axes) if axis.is_primal)
