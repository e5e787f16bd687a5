"""Windows that slide over the axes of an image: the one declaration that convolutions and pools of all levels share.

A window is one `WindowAxis` for each spatial axis. Relay's numbers, and ONNX's, are read by `window_of`: strides and
dilation are one number for all axes or one each; padding is one number, one for each axis, or one for each side, those
in front of all axes first (top, left, bottom, right).
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
        """How many elements lie between the first and the last tap, both included."""
        return self.dilation * (self.size - 1) + 1

    def room(self, extent: SizeT) -> SizeT:
        """How far the window can move over an axis of `extent`; negative where it does not fit."""
        return extent + (self.before + self.after) - self.reach

    def count(self, extent: SizeT, *, partial: bool = False) -> SizeT:
        """How many windows fit; with `partial` (Relay's ceil_mode) the last one may stick out behind."""
        return (self.room(extent) + (self.stride - 1 if partial else 0)) // self.stride + 1

    def covered(self, count: SizeT) -> SizeT:
        """How many elements of the padded axis `count` windows cover: how far a transposed convolution spreads them."""
        return (count - 1) * self.stride + self.reach

    def place(self, at: PlaceT, tap: PlaceT) -> PlaceT:
        """The index of a tap of window `at` in the axis; in the padding it is negative, or not below the extent."""
        return at * self.stride + tap * self.dilation - self.before

    def padding_to_keep(self, extent: SizeT) -> SizeT:
        """How much padding makes as many windows as strides: ceil(extent / stride), ONNX's SAME."""
        return -(-extent // self.stride) * self.stride - self.stride + self.reach - extent


def of_any_size(axis: WindowAxis[int]) -> WindowAxis[Dim]:
    """A window of known size over axes whose extents may have names."""
    return WindowAxis(axis.size, axis.stride, axis.dilation, axis.before, axis.after)


Window: TypeAlias = tuple[WindowAxis[SizeT], ...]
"""One axis of a window for each spatial axis, outermost first."""


def window_of(
    sizes: Sequence[SizeT], strides: Sequence[int], dilation: Sequence[int], padding: Sequence[int]
) -> tuple[WindowAxis[SizeT], ...]:
    """The window of these sizes; the other numbers may be written short."""
    rank = len(sizes)
    sides = all_sides(padding, rank)
    rows = zip(sizes, each(strides, rank), each(dilation, rank), sides[:rank], sides[rank:], strict=True)
    return tuple(WindowAxis(*row) for row in rows)


def each(numbers: Sequence[int], rank: int) -> tuple[int, ...]:
    """One number for all axes as one for each."""
    return tuple(numbers) * rank if len(numbers) == 1 else tuple(numbers)


def all_sides(padding: Sequence[int], rank: int) -> tuple[int, ...]:
    """Padding of one number, one for each axis, or one for each side, as one for each side."""
    whole = each(padding, rank)
    return whole * 2 if len(whole) == rank else whole


def sides_of(window: Sequence[WindowAxis[SizeT]]) -> tuple[int, ...]:
    """The padding of a window, one number for each side."""
    return (*(axis.before for axis in window), *(axis.after for axis in window))
