"""Sliding windows over the spatial axes of an image, as convolutions and pools of all levels use them.

A window has one `WindowAxis` per spatial axis. `window_of` reads the attributes of Relay and ONNX: strides and dilation
are one number for all axes or one number per axis; padding is one number, one number per axis, or one number per side,
with the sides before all axes first (top, left, bottom, right).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from xdsl.ir.affine import AffineExpr

from xrelay.index_algebra.dims import Dim

SizeT = TypeVar("SizeT", int, Dim)
PlaceT = TypeVar("PlaceT", int, AffineExpr)


@dataclass(frozen=True)
class WindowAxis(Generic[SizeT]):
    """A window of `size` taps along one axis, with `before` and `after` elements of padding around the axis."""

    size: SizeT
    stride: int = 1
    dilation: int = 1
    before: int = 0
    after: int = 0

    @property
    def reach(self) -> SizeT:
        """The number of elements from the first tap to the last, both included."""
        return self.dilation * (self.size - 1) + 1

    def room(self, extent: SizeT) -> SizeT:
        """The distance that the window can move over an axis of `extent`; negative if the window does not fit."""
        return extent + (self.before + self.after) - self.reach

    def count(self, extent: SizeT, *, partial: bool = False) -> SizeT:
        """The number of windows that fit; with `partial` (Relay's ceil_mode) the last one may extend past the end."""
        return (self.room(extent) + (self.stride - 1 if partial else 0)) // self.stride + 1

    def covered(self, count: SizeT) -> SizeT:
        """The number of padded elements that `count` windows cover: the output extent of a transposed convolution."""
        return (count - 1) * self.stride + self.reach

    def place(self, at: PlaceT, tap: PlaceT) -> PlaceT:
        """The index in the axis of a tap of window `at`; in the padding it is negative, or not below the extent."""
        return at * self.stride + tap * self.dilation - self.before

    def padding_to_keep(self, extent: SizeT) -> SizeT:
        """The padding for which there are ceil(extent / stride) windows: ONNX's SAME."""
        return -(-extent // self.stride) * self.stride - self.stride + self.reach - extent


def of_any_size(axis: WindowAxis[int]) -> WindowAxis[Dim]:
    """The same window, for axes with symbolic extents."""
    return WindowAxis(axis.size, axis.stride, axis.dilation, axis.before, axis.after)


Window: TypeAlias = tuple[WindowAxis[SizeT], ...]
"""One `WindowAxis` per spatial axis, outermost first."""


def window_of(
    sizes: Sequence[SizeT], strides: Sequence[int], dilation: Sequence[int], padding: Sequence[int]
) -> tuple[WindowAxis[SizeT], ...]:
    """The window of these sizes; the other attributes may be abbreviated (see the module)."""
    rank = len(sizes)
    sides = all_sides(padding, rank)
    rows = zip(sizes, each(strides, rank), each(dilation, rank), sides[:rank], sides[rank:], strict=True)
    return tuple(WindowAxis(*row) for row in rows)


def each(numbers: Sequence[int], rank: int) -> tuple[int, ...]:
    """One number per axis: a single number is repeated."""
    return tuple(numbers) * rank if len(numbers) == 1 else tuple(numbers)


def all_sides(padding: Sequence[int], rank: int) -> tuple[int, ...]:
    """One number per side: a single number, or one per axis, is repeated."""
    whole = each(padding, rank)
    return whole * 2 if len(whole) == rank else whole


def sides_of(window: Sequence[WindowAxis[SizeT]]) -> tuple[int, ...]:
    """The padding of a window, one number per side."""
    return (*(axis.before for axis in window), *(axis.after for axis in window))
