"""Layouts: the meaning of a tensor's axes, e.g. `NCHW`, `NCHW16c`, `OIHW16i32o`.

A capital letter is a primal axis. A number with a lower-case letter is the inner part of that axis, split by the
number. `NCHW16c` of shape (1, 4, 56, 56, 16) is `NCHW` of shape (1, 64, 56, 56). Source: Relay's layout strings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from xrelay.errors import XRelayError
from xrelay.index_algebra.dims import Dim, Shape, ceil_div


class LayoutError(XRelayError):
    """A layout string is ill-formed, or does not fit a shape."""


@dataclass(frozen=True)
class LayoutAxis:
    """One axis: its primal letter (capital) and, for the inner part of a split axis, the factor."""

    letter: str
    factor: int | None = None

    @property
    def is_primal(self) -> bool:
        """Whether this is the outer (or only) part of its axis."""
        return self.factor is None

    def __str__(self) -> str:
        return self.letter if self.factor is None else f"{self.factor}{self.letter.lower()}"


@dataclass(frozen=True)
class Layout:
    """An ordered list of axes. Each primal letter occurs once, each inner part at most once and after its primal."""

    axes: tuple[LayoutAxis, ...]

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.axes)

    @staticmethod
    def parse(text: str) -> Layout:
        """Returns the layout for `text`. Raises `LayoutError` if it is ill-formed."""
        return _parse(text)

    def __str__(self) -> str:
        return self._string

    @cached_property
    def _string(self) -> str:
        return "".join(str(axis) for axis in self.axes)

    def __len__(self) -> int:
        return len(self.axes)

    @cached_property
    def primal(self) -> str:
        """The primal letters in order: `NCHW` for `NCHW16c`."""
        return "".join(axis.letter for axis in self.axes if axis.is_primal)

    @cached_property
    def text(self) -> Layout:
        """The original layout of a value in the IR before it was given this layout: the same axes, not split."""
        return Layout.parse(self.primal)

    def factor(self, letter: str) -> int | None:
        """Returns the factor by which `letter` is split, or None if it is not split."""
        return self._factors.get(letter)

    @cached_property
    def _factors(self) -> dict[str, int]:
        return {axis.letter: axis.factor for axis in self.axes if axis.factor is not None}

    def index(self, letter: str) -> int:
        """Returns the position of the primal axis `letter`. Raises `LayoutError` if there is no such axis."""
        for position, axis in enumerate(self.axes):
            if axis.letter == letter and axis.is_primal:
                return position
        raise LayoutError(f"layout {self} has no axis {letter}")

    def inner_index(self, letter: str) -> int | None:
        """Returns the position of the inner part of `letter`, or None if it is not split."""
        for position, axis in enumerate(self.axes):
            if axis.letter == letter and not axis.is_primal:
                return position
        return None

    def primal_extents(self, shape: Sequence[Dim]) -> dict[str, Dim]:
        """Returns the extent of each primal axis of a tensor of `shape` in this layout.

        Raises `LayoutError` if the rank differs or an inner extent is not the factor.
        """
        if len(shape) != len(self.axes):
            raise LayoutError(f"layout {self} has {len(self.axes)} axes, the shape {_shape_text(shape)} {len(shape)}")
        extents: dict[str, Dim] = {}
        for axis, extent in zip(self.axes, shape, strict=True):
            if axis.factor is None:
                extents[axis.letter] = extent * (self.factor(axis.letter) or 1)
            elif extent != axis.factor and isinstance(extent, int):
                raise LayoutError(f"axis {axis} of layout {self} has extent {extent} in {_shape_text(shape)}")
        return extents

    def shape_from(self, extents: dict[str, Dim]) -> Shape:
        """Returns the shape of a tensor in this layout whose primal axes have `extents`; split axes are rounded up."""
        missing = [letter for letter in self.primal if letter not in extents]
        if missing:
            raise LayoutError(f"layout {self} has the axis {missing[0]}, which {''.join(extents)} lacks")
        return tuple(
            axis.factor if axis.factor is not None else ceil_div(extents[axis.letter], self.factor(axis.letter) or 1)
            for axis in self.axes
        )


def transform_shape(shape: Sequence[Dim], source: Layout, target: Layout) -> Shape:
    """Returns the shape in `target` of a tensor of `shape` in `source`. Raises `LayoutError` if their axes differ."""
    if sorted(source.primal) != sorted(target.primal):
        raise LayoutError(f"layouts {source} and {target} have different axes")
    return target.shape_from(source.primal_extents(shape))


@cache
def _parse(text: str) -> Layout:
    pieces = re.findall(r"[A-Z]|\d+[a-z]", text)
    if "".join(pieces) != text or not text:
        raise LayoutError(f"{text!r} is not a layout", help="write e.g. NCHW, NHWC, NCHW16c or OIHW16i16o")
    axes = tuple(
        LayoutAxis(piece) if piece.isupper() else LayoutAxis(piece[-1].upper(), int(piece[:-1])) for piece in pieces
    )
    seen: set[str] = set()
    for axis in axes:
        if str(axis)[-1] in seen:
            raise LayoutError(f"layout {text!r} has the axis {str(axis)[-1]} twice")
        if not axis.is_primal and axis.letter not in seen:
            raise LayoutError(f"layout {text!r} splits the axis {axis.letter} before naming it")
        if axis.factor == 0:
            raise LayoutError(f"layout {text!r} splits the axis {axis.letter} by 0")
        seen.add(str(axis)[-1])
    return Layout(axes)


def _shape_text(shape: Sequence[Dim]) -> str:
    return "(" + ", ".join(str(dim) for dim in shape) + ")"
