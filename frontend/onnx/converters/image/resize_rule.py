"""The rule of Resize and Upsample: their attributes, and the region that is resized."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.resampling import COORDINATES, CROP, METHODS
from xrelay.dialects.relay.structure.weights import Array
from xrelay.frontend.onnx.node import NodeView

_MODES = ("nearest", "linear", "cubic")
"""The ONNX names of `METHODS`."""
_ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
_REPEATS = {
    "asymmetric": ("floor",),
    "half_pixel": ("round_prefer_floor", "round_prefer_ceil"),
    "half_pixel_symmetric": ("round_prefer_floor", "round_prefer_ceil"),
    "tf_half_pixel_for_nn": ("floor",),
}
"""Coordinate mode → rounding modes with which an integer factor repeats every element."""


@dataclass(frozen=True)
class ResizeRule:
    """The attributes of a node, and its region: a start and an end for each axis."""

    method: str
    coordinates: str
    rounding: str
    antialias: bool = False
    cubic_alpha: float = -0.75
    excludes: bool = False
    extrapolation: float = 0.0
    region: SSAValue | None = None
    """The starts and ends of the region as an f32 value, if it is not known."""
    known_region: Array | None = None

    @property
    def crops(self) -> bool:
        """Whether only a region is resized."""
        return self.coordinates == CROP

    @property
    def repeats(self) -> bool:
        """Whether an integer factor repeats every element."""
        return self.method == METHODS[0] and self.rounding in _REPEATS.get(self.coordinates, ())

    def known_regions(self, count: int) -> list[tuple[float, float] | None]:
        """Returns start and end of each of `count` axes; `None` if they are known only at run time."""
        known = self.known_region
        if not self.crops or known is None:
            return [None] * count
        return [(float(known[at]), float(known[at + count])) for at in range(count)]

    def keeps(self, at: int) -> bool:
        """Returns whether axis `at` keeps its elements if it keeps its extent."""
        if self.crops:
            count = 0 if self.known_region is None else self.known_region.size // 2
            return count > 0 and self.known_regions(count)[at] == (0.0, 1.0)
        return True

    def of(self, places: Sequence[int]) -> ResizeRule:
        """Returns the rule for some of the axes; others are dropped only if the region is known."""
        known = self.known_region
        if known is None or len(places) == known.size // 2:
            return self
        return replace(self, region=None, known_region=known.reshape(2, -1)[:, list(places)].reshape(-1))

    def regions(self, node: NodeView, count: int) -> SSAValue:
        """Returns the starts and ends of `count` axes as a value."""
        if self.region is not None:
            return self.region
        known = np.repeat(np.array([0, 1], np.float32), count) if self.known_region is None else self.known_region
        return node.emit_constant(known, "roi")

    def attributes(self) -> dict[str, AttributeValue]:
        """Returns the attributes of Relay's ops."""
        return {
            "method": self.method,
            "coordinate_transformation_mode": self.coordinates,
            "rounding_method": self.rounding if self.method == METHODS[0] else "",
            "cubic_alpha": self.cubic_alpha,
            "cubic_exclude": int(self.excludes),
            "extrapolation_value": self.extrapolation,
            "antialias": self.antialias,
        }


def inner_rule(node: NodeView, modes: Sequence[str] = ("nearest", "linear")) -> ResizeRule:
    """Returns the rule of Upsample and of Resize 10: positions are divided by the scale and rounded down."""
    mode = node.attribute_string("mode", "nearest", modes)
    return ResizeRule(METHODS[modes.index(mode)], "asymmetric", "floor")


def rule_of(node: NodeView) -> ResizeRule:
    """Returns the rule of Resize from opset 11 on."""
    method = METHODS[_MODES.index(node.attribute_string("mode", "nearest", _MODES))]
    coordinates = node.attribute_string("coordinate_transformation_mode", "half_pixel", COORDINATES)
    antialias = node.attribute_flag("antialias")
    if antialias and method == METHODS[0]:
        raise node.error("antialias needs mode linear or cubic")
    excludes = node.attribute_flag("exclude_outside")
    rule = ResizeRule(
        method,
        coordinates,
        node.attribute_string("nearest_mode", "round_prefer_floor", _ROUNDINGS),
        antialias,
        node.attribute_float("cubic_coeff_a", -0.75),
        excludes and method != METHODS[0],
        node.attribute_float("extrapolation_value", 0.0),
    )
    return _with_region(node, rule) if rule.crops else rule


def _with_region(node: NodeView, rule: ResizeRule) -> ResizeRule:
    """The rule with the region in input 1."""
    count = len(node.attribute_ints("axes") or node.shape(0))
    if node.optional_input(1) is None or node.shape(1) != (2 * count,):
        found = "none" if node.optional_input(1) is None else str(node.input(1).type)
        raise node.error(f"a region of {count} axes is {2 * count} numbers, found {found}")
    known = node.constant(1)
    if known is not None:
        return replace(rule, known_region=known.astype(np.float32))
    return replace(rule, region=node.emit("cast", node.input(1), dtype="float32"))
