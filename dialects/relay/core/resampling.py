"""The rule of resizing along one axis."""

from __future__ import annotations

from dataclasses import dataclass

from xrelay.index_algebra.dims import Dim, maximum

METHODS = ("nearest_neighbor", "linear", "cubic")
COORDINATES = (
    "half_pixel",
    "align_corners",
    "asymmetric",
    "pytorch_half_pixel",
    "half_pixel_symmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)
ROUNDINGS = ("", "round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
CROP = "tf_crop_and_resize"


@dataclass(frozen=True)
class Resampling:
    """The rule by which an element of the result is computed from those of an axis."""

    method: str
    coordinates: str
    rounding: str
    """For `nearest_neighbor`: floor, ceil, round_prefer_floor or round_prefer_ceil."""
    cubic_alpha: float
    excludes: bool
    """Whether weights of indices outside of the axis are 0 and the others are normalised to a sum of 1."""
    extrapolation: float
    antialias: bool

    @property
    def reach(self) -> int:
        """The distance within which elements have a weight, for an axis that does not shrink."""
        return METHODS.index(self.method)

    @property
    def crops(self) -> bool:
        """Whether only a region of the axis is resized."""
        return self.coordinates == CROP

    @property
    def is_plain_linear(self) -> bool:
        """Whether an element is interpolated between two elements without normalising their weights."""
        return self.method == "linear" and not self.is_normalized

    @property
    def is_normalized(self) -> bool:
        """Whether the weights are divided by their sum."""
        return self.excludes or self.antialias

    def half_window(self, extent: Dim, size: Dim, *, by_scale: bool) -> Dim:
        """Returns the number of elements with a weight on each side of a coordinate.

        With a scale the size is a rounded product, so the window may be as large as for a size of half an element less.
        """
        if not self.antialias:
            return self.reach
        grown, shrunk = (2 * extent, 2 * size - 1) if by_scale else (extent, size)
        shrunk = maximum(1, shrunk)
        return maximum(self.reach, (grown * self.reach + shrunk - 1) // shrunk)

    def keeps(self, extent: Dim, size: Dim) -> bool:
        """Returns whether resizing an axis from `extent` to `size` certainly is the identity."""
        return extent == size and not self.crops
