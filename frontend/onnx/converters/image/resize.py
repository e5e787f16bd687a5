"""Resize and Upsample: sizes or scales are constants, computed from extents, or known only at run time.

The rule of a node has its attributes, and the region that is resized.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.resampling import COORDINATES, CROP, METHODS
from xrelay.frontend.onnx.converters.definition import (
    Array,
    Dim,
    Integers,
    NodeView,
    Numbers,
    certainly_equal,
    converts,
    known_axes,
    numpy_dtype,
    shape_text,
)

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
class _ResizeRule:
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

    def of(self, places: Sequence[int]) -> _ResizeRule:
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


def _inner_rule(node: NodeView, modes: Sequence[str] = ("nearest", "linear")) -> _ResizeRule:
    """Returns the rule of Upsample and of Resize 10: positions are divided by the scale and rounded down."""
    mode = node.attribute_string("mode", "nearest", modes)
    return _ResizeRule(METHODS[modes.index(mode)], "asymmetric", "floor")


def _rule_of(node: NodeView) -> _ResizeRule:
    """Returns the rule of Resize from opset 11 on."""
    method = METHODS[_MODES.index(node.attribute_string("mode", "nearest", _MODES))]
    coordinates = node.attribute_string("coordinate_transformation_mode", "half_pixel", COORDINATES)
    antialias = node.attribute_flag("antialias")
    if antialias and method == METHODS[0]:
        raise node.error("antialias needs mode linear or cubic")
    excludes = node.attribute_flag("exclude_outside")
    rule = _ResizeRule(
        method,
        coordinates,
        node.attribute_string("nearest_mode", "round_prefer_floor", _ROUNDINGS),
        antialias,
        node.attribute_float("cubic_coeff_a", -0.75),
        excludes and method != METHODS[0],
        node.attribute_float("extrapolation_value", 0.0),
    )
    return _with_region(node, rule) if rule.crops else rule


def _with_region(node: NodeView, rule: _ResizeRule) -> _ResizeRule:
    """The rule with the region in input 1."""
    count = len(node.attribute_ints("axes") or node.shape(0))
    if node.optional_input(1) is None or node.shape(1) != (2 * count,):
        found = "none" if node.optional_input(1) is None else str(node.input(1).type)
        raise node.error(f"a region of {count} axes is {2 * count} numbers, found {found}")
    known = node.constant(1)
    if known is not None:
        return replace(rule, known_region=known.astype(np.float32))
    return replace(rule, region=node.emit("cast", node.input(1), dtype="float32"))


_SINCE_11 = (
    "coordinate_transformation_mode",
    "cubic_coeff_a",
    "exclude_outside",
    "extrapolation_value",
    "mode",
    "nearest_mode",
)
_SINCE_18 = (*_SINCE_11, "antialias", "axes", "keep_aspect_ratio_policy")
_POLICIES = ("stretch", "not_larger", "not_smaller")
_LARGEST = 1 << 40
"""Larger sizes are clamped to this one, which is too large itself."""


@converts("Upsample", since=1, until=6, attributes=("mode", "height_scale", "width_scale"))
def convert_upsample_image(node: NodeView) -> SSAValue:
    """Images, resized by two factors."""
    rule = _inner_rule(node, ("nearest", "bilinear"))
    scales = [1.0, 1.0, node.attribute_float("height_scale", 0.0), node.attribute_float("width_scale", 0.0)]
    return _by_known_scales(node, rule, range(len(node.shape(0))), scales)


@converts("Upsample", since=7, until=8, attributes=("mode", "scales"))
def convert_upsample_attribute(node: NodeView) -> SSAValue:
    """Resizes by factors in an attribute."""
    scales = node.attribute_floats("scales") or ()
    return _by_known_scales(node, _inner_rule(node), range(len(node.shape(0))), scales)


@converts("Upsample", since=9, until=9, attributes=("mode",))
@converts("Resize", since=10, until=10, attributes=("mode",))
def convert_upsample_input(node: NodeView) -> SSAValue:
    """Resizes by factors in an input."""
    return _by_scales(node, _inner_rule(node), range(len(node.shape(0))), 1)


@converts("Resize", since=11, until=17, attributes=_SINCE_11)
@converts("Resize", since=18, attributes=_SINCE_18)
def convert_resize(node: NodeView) -> SSAValue:
    """Resizes by sizes if present, else by scales."""
    rank, rule = len(node.shape(0)), _rule_of(node)
    axes = known_axes(node, node.attribute_ints("axes", range(rank)) or range(rank), rank)
    given = [index for index in (2, 3) if node.optional_input(index) is not None and node.shape(index) != (0,)]
    if len(given) != 1:
        raise node.error("either scales or sizes are expected", help="one of the inputs #2 and #3 has elements")
    return _by_scales(node, rule, axes, 2) if given == [2] else _by_sizes(node, rule, axes)


def _by_scales(node: NodeView, rule: _ResizeRule, axes: Sequence[int], index: int) -> SSAValue:
    """Resizes by the factors in an input."""
    known = node.constant(index)
    if known is not None:
        return _by_known_scales(node, rule, axes, [float(scale) for scale in known.reshape(-1)])
    if node.shape(index) != (len(axes),):
        raise node.error(f"{len(axes)} scales are expected, found {node.input(index).type}")
    scales = node.emit("cast", node.input(index), dtype="float32")
    wide = node.emit("floor", node.emit("multiply", scales, _extents(node, axes, "float32")))
    # A NaN or negative extent becomes a negative size, which is an error at run time.
    legal = node.emit("greater_equal", wide, node.scalar(0, wide))
    wide = node.emit("minimum", wide, node.scalar(_LARGEST, wide))
    sizes = node.emit("cast", node.emit("where", legal, wide, node.scalar(-1, wide)), dtype="int64")
    return _resized(node, rule, axes, sizes, scales)


def _by_known_scales(node: NodeView, rule: _ResizeRule, axes: Sequence[int], scales: Sequence[float]) -> SSAValue:
    """Resizes by known scales; extent times scale is rounded down."""
    factors = [np.float32(scale) for scale in scales]
    if len(factors) != len(axes) or not all(isfinite(scale) and scale > 0 for scale in factors):
        raise node.error(f"scales {list(map(float, scales))} are not supported, only {len(axes)} positive numbers are")
    extents = [node.shape(0)[axis] for axis in axes]
    sizes = [_scaled(node, *pair) for pair in zip(extents, factors, strict=True)]
    kept = [at for at in range(len(axes)) if factors[at] != 1 or not rule.keeps(at)]
    # If the scale is the ratio of the extents, use the exact ratio (a scale of 0).
    given = [
        0.0 if isinstance(size, int) and isinstance(n, int) and n and np.float32(size / n) == scale else float(scale)
        for size, n, scale in zip(sizes, extents, factors, strict=True)
    ]
    chosen = [axes[at] for at in kept]
    wanted: Integers = tuple(size for at in kept if isinstance(size := sizes[at], int))
    if len(wanted) < len(kept):
        if rule.repeats and all(factors[at].is_integer() for at in kept):
            return _repeated(node, chosen, [int(factors[at]) for at in kept])
        ratios = [_ratio(factors[at]) for at in kept]
        wide = node.emit("multiply", _extents(node, chosen, "int64"), _integers(node, [r.numerator for r in ratios]))
        wanted = node.emit("divide", wide, _integers(node, [r.denominator for r in ratios]))
    return _resized(node, rule.of(kept), chosen, wanted, [given[at] for at in kept])


def _ratio(scale: np.float32) -> Fraction:
    """The simplest fraction that equals the scale in f32."""
    simple = Fraction(float(scale)).limit_denominator(1000)
    return simple if np.float32(float(simple)) == scale else Fraction(float(scale))


def _scaled(node: NodeView, extent: Dim, scale: np.float32) -> Dim:
    """The extent times the scale, rounded down; for a named extent in integers, which must fit 64 bits."""
    if isinstance(extent, int):
        wide = float(extent) * float(scale)
        if wide >= _LARGEST:
            raise node.error(f"an extent of {extent} times the scale {scale} is too large")
        return int(np.floor(np.float32(extent) * scale))
    ratio = _ratio(scale)
    if max(ratio.numerator, ratio.denominator) >= 1 << 63:
        raise node.error(f"a scale of {scale} needs a known extent, found {extent}")
    return extent * ratio.numerator // ratio.denominator


def _by_sizes(node: NodeView, rule: _ResizeRule, axes: Sequence[int]) -> SSAValue:
    """Resizes to the sizes, or by one scale for all axes that stays within or reaches them."""
    if node.shape(3) != (len(axes),):
        raise node.error(f"{len(axes)} sizes are expected, found {node.input(3).type}")
    policy = node.attribute_string("keep_aspect_ratio_policy", "stretch", _POLICIES)
    elements, extents = node.elements(3) or (None,) * len(axes), [node.shape(0)[axis] for axis in axes]
    if policy != "stretch":
        return _keeping_aspect(node, rule, axes, within=policy == "not_larger")
    stays = [size is not None and certainly_equal(size, extent) for size, extent in zip(elements, extents, strict=True)]
    kept = [at for at in range(len(axes)) if not (stays[at] and rule.keeps(at))]
    sizes: Integers = tuple(size for at in kept if isinstance(size := elements[at], int))
    if len(sizes) < len(kept):
        sizes = node.emit("cast", node.input(3), dtype="int64")
        if len(kept) < len(axes):
            sizes = node.emit("take", sizes, _integers(node, kept), axis=0, mode="fast")
    return _resized(node, rule.of(kept), [axes[at] for at in kept], sizes, [0.0] * len(kept))


def _keeping_aspect(node: NodeView, rule: _ResizeRule, axes: Sequence[int], *, within: bool) -> SSAValue:
    """Resizes by the least or greatest scale of all sizes; extents times it are rounded to the nearest."""
    wanted, extents = node.known_ints(3), [each for axis in axes if isinstance(each := node.shape(0)[axis], int)]
    if wanted is not None and len(extents) == len(axes) and all(extents):
        choose = min if within else max
        scale = choose(size / extent for size, extent in zip(wanted, extents, strict=True))
        sizes = tuple(int(scale * extent + 0.5) for extent in extents)
        return _resized(node, rule, axes, sizes, [scale] * len(axes))
    shape = _extents(node, axes, "float64")
    ratios = node.emit("divide", node.emit("cast", node.input(3), dtype="float64"), shape)
    scale = node.emit("min" if within else "max", ratios, axis=(0,), keepdims=True)
    half = node.scalar(0.5, shape)
    wide = node.emit("floor", node.emit("add", node.emit("multiply", scale, shape), half))
    scales = node.emit("broadcast_to", node.emit("cast", scale, dtype="float32"), shape=(len(axes),))
    return _resized(node, rule, axes, node.emit("cast", wide, dtype="int64"), scales)


def _extents(node: NodeView, axes: Sequence[int], dtype: str) -> SSAValue:
    """The extents of the axes as a list."""
    extents = node.emit("take", node.emit("shape_of", node.input(0)), _integers(node, axes), axis=0, mode="fast")
    return extents if dtype == "int64" else node.emit("cast", extents, dtype=dtype)


def _integers(node: NodeView, values: Sequence[int]) -> SSAValue:
    return node.emit_ints(values, "numbers")


def _resized(
    node: NodeView, rule: _ResizeRule, axes: Sequence[int], sizes: Integers, scales: Sequence[float] | SSAValue
) -> SSAValue:
    """The data resized to these sizes, by simpler ops for some known sizes; a scale of 0 is the ratio of extents."""
    if isinstance(sizes, tuple) and not isinstance(scales, SSAValue):
        simple = _of_known_sizes(node, rule, axes, sizes, is_exact=not any(scales))
        if simple is not None:
            return simple
    if not axes:
        return node.input(0)
    if not isinstance(scales, SSAValue):
        scales = node.emit_constant(np.array(scales, np.float32), "scales")
    operands = Numbers(node).value(sizes), scales, rule.regions(node, len(axes))
    return node.emit("dyn.image.resize", node.input(0), *operands, axes=tuple(axes), **rule.attributes())


def _of_known_sizes(
    node: NodeView, rule: _ResizeRule, axes: Sequence[int], sizes: Sequence[int], *, is_exact: bool
) -> SSAValue | None:
    """A constant, repeated elements or an image op, if one of them is the result; `is_exact` if all scales are 0."""
    shape = list(node.shape(0))
    for axis, size in zip(axes, sizes, strict=True):
        if size < 0 or (size and shape[axis] == 0):
            raise node.error(f"sizes {list(sizes)} are not supported for a shape of {shape_text(node.shape(0))}")
        shape[axis] = size
    known = [extent for extent in shape if isinstance(extent, int)]
    node.require_size(known, numpy_dtype(node.element_type(0)).itemsize)
    if 0 in known and len(known) == len(shape):
        return node.emit_filled(np.zeros((), numpy_dtype(node.element_type(0))), known, "empty")
    factors = _whole_factors(node, axes, sizes) if rule.repeats else None
    if factors is not None:
        return _repeated(node, axes, factors)
    return _as_image(node, rule, axes, sizes) if is_exact else None


def _whole_factors(node: NodeView, axes: Sequence[int], sizes: Sequence[int]) -> list[int] | None:
    """The ratios of the sizes and the extents of the axes, or None if one is unknown or not an integer."""
    pairs = zip([node.shape(0)[axis] for axis in axes], sizes, strict=True)
    factors = [size // n for n, size in pairs if isinstance(n, int) and n and size % n == 0]
    return factors if len(factors) == len(axes) else None


def _repeated(node: NodeView, axes: Sequence[int], factors: Sequence[int]) -> SSAValue:
    """Each element repeated by an integer factor along each axis."""
    result = node.input(0)
    for axis, factor in zip(axes, factors, strict=True):
        if factor != 1:
            result = node.emit("repeat", result, repeats=factor, axis=axis)
    return result


def _as_image(node: NodeView, rule: _ResizeRule, axes: Sequence[int], sizes: Sequence[int]) -> SSAValue | None:
    """Relay's image op, if batch and channels are unchanged and everything else is known; else `None`."""
    shape = node.shape(0)
    given = dict(zip(axes, zip(sizes, rule.known_regions(len(axes)), strict=True), strict=True))
    wanted = [(given[axis][0] if axis in given else shape[axis]) for axis in range(2, len(shape))]
    known = [size for size in wanted if isinstance(size, int)]
    if len(shape) not in (3, 4, 5) or any(axis < 2 for axis in axes) or len(known) != len(wanted) or rule.antialias:
        return None
    spans = [given[axis][1] if axis in given else (0.0, 1.0) for axis in range(2, len(shape))]
    if rule.crops and None in spans:
        return None
    attributes = rule.attributes()
    del attributes["antialias"]
    if rule.crops:
        attributes["roi"] = _starts_and_ends([span for span in spans if span is not None])
    return node.emit(
        f"image.resize{len(wanted)}d", node.input(0), size=known, layout=f"NC{'DHW'[-len(wanted) :]}", **attributes
    )


def _starts_and_ends(spans: Sequence[tuple[float, float]]) -> list[float]:
    return [*(start for start, _ in spans), *(end for _, end in spans)]
