"""`relay.image.affine_grid`, and `relay.image.grid_sample`: samples of images at coordinates from an operand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np
from xdsl.dialects.builtin import f32, f64, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def

from xrelay.dialects.relay.op_definition import (
    Array,
    AtLeast,
    Body,
    Facts,
    FloatElements,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    MixedPrecision,
    OneOf,
    OpPatternKind,
    RankOf,
    RelayOp,
    Tensors,
    TopiBuilder,
    bool_property,
    cast_once,
    element_type_of,
    ints,
    not_differentiable,
    register_relay_op,
    required_ints_property,
    shape_text,
    string_property,
    tensor_type,
)

if TYPE_CHECKING:
    from xdsl.ir.affine import AffineExpr

SAMPLINGS = ("nearest", "bilinear", "bicubic")
PADDINGS = ("zeros", "border", "reflection")
CUBIC = -0.75
"""The coefficient of the spline."""
MAX_COORDINATE: Final = float(1 << 30)
"""Coordinates farther outside are clamped to this in arrays and in gradients."""


@register_relay_op
class AffineGridOp(RelayOp):
    """The coordinates of an image of `target_shape`, transformed by matrices (N, 2, 3): a grid (N, 2, H, W).

    The grid is the operand of `image.grid_sample`. Coordinates range from -1 to 1, the outermost elements; the
    coordinate of a single element is 0. For x along columns and y along rows, `result[n, d] = data[n, d, 0] * x +
    data[n, d, 1] * y + data[n, d, 2]`.

    Constraints:
    - C4: the matrices are 2 times 3.
    - C5: `target_shape` has two numbers.

    Example:
    ```mlir
    %y = relay.image.affine_grid(%x) {target_shape = [3, 4]} : (tensor<2x2x3xf32>) -> tensor<2x2x3x4xf32>
    ```

    """

    name = "relay.image.affine_grid"
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.NEVER
    HALF_PRECISION = HalfPrecision.SINGLE
    CONSTRAINTS = {
        "C1": FloatElements(),
        "C2": RankOf(0, 3, 3),
        "C3": AtLeast("target_shape", 0),
    }

    data = operand_def()

    target_shape = required_ints_property()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of the grid; checks C4 and C5."""
        (batch, rows, columns), element = facts.operand(0)
        facts.require_equal(rows, 2, "C4", "rows of a matrix")
        facts.require_equal(columns, 3, "C4", "columns of a matrix")
        size = ints(self.target_shape)
        facts.require(len(size) == 2, "C5", f"target_shape must have two numbers, found {list(size)}")
        return tensor_type((batch, 2, *size), element)

    def evaluate(self, data: Array) -> Array:
        """Sums three terms, in double precision."""
        height, width = ints(self.target_shape)
        y, x = (np.linspace(-1, 1, count) if count != 1 else np.zeros(1) for count in (height, width))
        column, row, shift = (data.astype(np.float64)[:, :, number, None, None] for number in range(3))
        return cast_once(column * x + row * y[:, None] + shift, data.dtype)

    def compute(self, build: TopiBuilder) -> Tensors:
        """Sums three terms."""
        data, (height, width) = build.operand(0), ints(self.target_shape)
        real = build.element(data)

        def place(b: Body, index: AffineExpr, count: int) -> SSAValue:
            if count == 1:
                return b.constant(0, real)
            twice = b.times(b.number(index, real), 2)
            return b.minus(b.divide(twice, count - 1), 1)

        def fill(b: Body) -> SSAValue:
            number, axis, row, column = b.spatial
            of_column, of_row, shift = (b.read(data, number, axis, term) for term in range(3))
            moved = b.times(of_column, place(b, column, width))
            return b.plus(b.plus(moved, b.times(of_row, place(b, row, height))), shift)

        return [build.compute("affine_grid", build.result_shape, real, fill)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the sums of the gradient times the factor of each element of a matrix: x, y or 1."""
        units = np.zeros((3, 2, 3))
        units[:, 0] = np.eye(3)
        grids = build.op("image.affine_grid", build.constant(units, of), **self.properties)
        factors = build.op("take", grids, build.constant(np.array(0, np.int64)), axis=1)
        return [build.op("einsum", build.tuple(of, factors), equation="nchw,khw->nck")]


@register_relay_op
class GridSampleOp(RelayOp):
    """Samples of images, or of volumes, at coordinates between -1 and 1 along each axis.

    For data (N, C, H, W) and a grid (N, 2, H', W') the result is (N, C, H', W'); layout NCDHW adds one axis to each.
    The second axis of the grid has the coordinate along the last axis first. With `align_corners`, coordinate x of an
    axis of extent n is index `(x + 1) / 2 * (n - 1)`, so that -1 and 1 are the outermost elements. Otherwise it is `((x
    + 1) * n - 1) / 2`, so that -1 and 1 are their outer edges. A NaN coordinate is outside of the data.

    `nearest` takes the element at the index rounded half to even, `bilinear` interpolates the two nearest elements
    along each axis, and `bicubic` four by the spline with coefficient -0.75 (see `dyn.image.resize`). With `zeros`,
    elements outside of the data are 0. `border` extends the outermost elements: it clamps indices to them, except for
    `bicubic`, which interpolates the extended data. `reflection` mirrors indices and elements at the outermost
    elements, or at their outer edges without `align_corners`. Sums are computed in f32, for integers and f64 in f64.
    Sums of integers are rounded and clipped.

    Constraints:
    - C5: the data has the axes of the layout; the grid has as many axes, one coordinate for each spatial axis, and the
      same batch.
    - C6: the data has at least one element along each spatial axis.
    - C7: `bicubic` is for images.
    - C8: booleans require `nearest`, because they have no weighted sums.

    Example:
    ```mlir
    %y = relay.image.grid_sample(%x, %grid) {padding_mode = "border"}
        : (tensor<2x3x4x5xf32>, tensor<2x2x6x7xf32>) -> tensor<2x3x6x7xf32>
    ```

    """

    name = "relay.image.grid_sample"
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.NEVER
    HALF_PRECISION = HalfPrecision.SINGLE
    CONSTRAINTS = {
        "C1": OneOf("method", SAMPLINGS),
        "C2": OneOf("layout", ("NCHW", "NCDHW")),
        "C3": OneOf("padding_mode", PADDINGS),
        "C4": FloatElements(1),
    }

    data = operand_def()
    grid = operand_def()

    method = string_property("bilinear")
    layout = string_property("NCHW")
    padding_mode = string_property("zeros")
    align_corners = bool_property(True)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type with the data's batch and channels and the grid's other axes; checks C5 to C8."""
        (shape, element), grid = facts.operand(0), facts.shape(1)
        rank = len(self.layout.data)
        texts = f"data of shape {shape_text(shape)} and a grid of shape {shape_text(grid)} for {self.layout.data}"
        facts.require(len(shape) == len(grid) == rank, "C5", texts)
        facts.require_equal(grid[0], shape[0], "C5", "batches of grid and data")
        facts.require_equal(grid[1], rank - 2, "C5", "coordinates of a point of the grid")
        for extent in shape[2:]:
            facts.require_at_least(extent, 1, "C6", "a spatial extent of the data")
        method = self.method.data
        facts.require(method != SAMPLINGS[2] or rank == 4, "C7", f"{method} with layout {self.layout.data}")
        facts.require(method == SAMPLINGS[0] or element != i1, "C8", "weighted sums of booleans are not supported")
        return tensor_type((*shape[:2], *grid[2:]), element)

    def evaluate(self, data: Array, grid: Array) -> Array:
        """Sums over taps with the products of the weights of all axes."""
        from xrelay.dialects.relay.meaning.element_types import round_and_clip

        reach, mirrors = SAMPLINGS.index(self.method.data), self.padding_mode.data == "reflection"
        aligned, spatial = bool(self.align_corners.value.data), data.shape[2:]
        wide = np.float64 if np.float64 in (data.dtype, grid.dtype) or data.dtype.kind in "iu" else np.float32
        places = [self._coordinate(grid[:, len(spatial) - 1 - axis], extent) for axis, extent in enumerate(spatial)]
        batch: Array = np.expand_dims(np.arange(len(data)), tuple(range(1, grid.ndim - 1)))
        total = np.zeros((data.shape[0], *grid.shape[2:], data.shape[1]), wide if reach else data.dtype)
        for steps in product(range(1 - reach, reach + 1) if reach else (0,), repeat=len(spatial)):
            weight, inside, at = np.ones((), wide), np.ones((), np.bool_), list[Array]()
            for place, step, extent in zip(places, steps, spatial, strict=True):
                below = np.floor(place)
                index = below.astype(np.int64) + step
                weight = weight * (_weight(place.astype(wide) - below.astype(wide), step, reach) if reach else 1)
                inside = inside & (index >= 0) & (index < extent)
                index = _mirrored(index.astype(np.float64), extent, aligned=aligned) if mirrors else index
                at.append(np.clip(index, 0, extent - 1).astype(np.int64))
            values = data[(batch, slice(None), *at)]
            if self.padding_mode.data == "zeros":
                values = np.where(inside[..., None], values, np.zeros((), data.dtype))
            total = total + weight.astype(wide)[..., None] * values.astype(wide) if reach else values
        return round_and_clip(np.moveaxis(total, -1, 1), data.dtype)

    def _coordinate(self, grid: Array, extent: int) -> Array:
        """Returns the coordinates along an axis of the data, clamped or reflected according to the padding mode."""
        aligned, padding, method = bool(self.align_corners.value.data), self.padding_mode.data, self.method.data
        kind = np.float64 if grid.dtype == np.float64 else np.float32
        moved, one = grid.astype(kind) + kind(1), kind(1)
        place: Array = moved / 2 * (extent - 1) if aligned else (moved * extent - one) / 2
        place = np.rint(place) if method == SAMPLINGS[0] else place
        place = np.asarray(
            np.where(place > -MAX_COORDINATE, np.minimum(place, kind(MAX_COORDINATE)), kind(-MAX_COORDINATE)), kind
        )
        if padding == "border" and method != SAMPLINGS[2]:
            low, high = (0.0, extent - 1.0) if aligned else (-0.5, extent - 0.5)
            nearest_element = np.clip(place, 0, extent - 1).astype(kind)
            return np.where((place >= low) & (place <= high), place, nearest_element)
        return _mirrored(place, extent, aligned=aligned) if padding == "reflection" else place

    def compute(self, build: TopiBuilder) -> Tensors:
        """Sums over all taps: one, two or four for each axis."""
        from xrelay.dialects.relay.computes.interpolation import GridSamples
        from xrelay.dialects.relay.computes.scalars import rounded

        samples, target = GridSamples(build, SAMPLINGS.index(self.method.data), CUBIC), build.result_type.element_type
        shape = build.result_shape
        return [build.compute("grid_sample", shape, target, lambda b: rounded(b, samples.sample(b), target))]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns the sum of the gradient over the samples of each element, times its weights, and that of the grid.

        The gradient of a coordinate along an axis is the gradient times the difference of the elements on both sides.
        With method "nearest" the grid has no gradient.
        """
        if self.method.data == SAMPLINGS[2]:
            raise not_differentiable(self, "its method is bicubic; nearest and bilinear have rules")
        wide = f64 if f64 in (element_type_of(self.data.type), element_type_of(self.grid.type)) else f32
        data, grid, of = (build.op("cast", value, dtype=wide) for value in (self.data, self.grid, of))
        axes = [self._axis(grid, axis, build) for axis in range(len(build.shape(data)) - 2)]
        rows, given = (build.op("reshape", value, newshape=(0, 0, -1)) for value in (data, of))
        of_data, of_places = build.zeros_like(rows), [build.zeros_like(axis.slope) for axis in axes]
        steps = (0, 1) if self.method.data == SAMPLINGS[1] else (0,)
        for taps in product(steps, repeat=len(axes)):
            sides = [axis.sides[step] for axis, step in zip(axes, taps, strict=True)]
            index = build.broadcast_like(_in_rows(_number([side.index for side in sides], axes, build), build), given)
            seen = _in_rows(_product([side.inside for side in sides], build), build)
            weight = _in_rows(_product([side.weight for side in sides], build), build)
            inside = build.op("multiply", given, seen)
            updates = build.op("multiply", inside, weight)
            of_data = build.op("scatter_elements", of_data, index, updates, axis=2, reduction="add")
            if len(steps) > 1:
                found = build.op("multiply", inside, build.op("gather", rows, index, axis=2))
                total = build.reshape_like(build.op("sum", found, axis=[1]), axes[0].slope)
                for number, step in enumerate(taps):
                    others = [side.weight for at, side in enumerate(sides) if at != number]
                    share = _product([total, *others], build)
                    of_places[number] = build.op("add" if step else "subtract", of_places[number], share)
        result = build.cast_like(build.reshape_like(of_data, data), self.data)
        if len(steps) == 1:
            return [result, None]
        # The grid has the coordinate along the last axis first.
        parts = [build.op("multiply", place, axis.slope) for place, axis in zip(of_places, axes, strict=True)][::-1]
        return [result, build.cast_like(build.op("stack", build.tuple(*parts), axis=1), self.grid)]

    def _axis(self, grid: SSAValue, axis: int, build: GradientBuilder) -> _Axis:
        """Returns the derivatives of the coordinates along an axis, and the elements on both sides of them."""
        extent, aligned = build.shape(self.data)[2 + axis], bool(self.align_corners.value.data)
        if not isinstance(extent, int):
            raise not_differentiable(self, f"the extent {extent} of its data is not known")
        number = build.constant(np.array(len(build.shape(self.data)) - 3 - axis, np.int64))
        moved = build.op("add", build.op("take", grid, number, axis=1), 1.0)
        speed = (extent - 1) / 2 if aligned else extent / 2
        place = build.op("multiply", moved, speed)
        place = place if aligned else build.op("subtract", place, 0.5)
        if self.method.data == SAMPLINGS[0]:
            place = build.op("round", place)
        far = build.op("minimum", place, MAX_COORDINATE)
        place = build.op(
            "where", build.op("greater", place, -MAX_COORDINATE), far, build.op("full_like", far, -MAX_COORDINATE)
        )
        slope = build.op("full_like", place, speed)
        place, slope = self._brought_in(place, slope, extent, build)
        below = build.op("floor", place)
        ratio = build.op("subtract", place, below)
        ones = build.ones_like(ratio)
        weights = (build.op("subtract", ones, ratio), ratio) if self.method.data == SAMPLINGS[1] else (ones, ones)
        sides = [self._side(build.op("add", below, float(step)), weights[step], extent, build) for step in (0, 1)]
        return _Axis(extent, slope, (sides[0], sides[1]))

    def _brought_in(
        self, place: SSAValue, slope: SSAValue, extent: int, build: GradientBuilder
    ) -> tuple[SSAValue, SSAValue]:
        """Returns coordinates clamped or reflected according to the padding mode, and their derivatives."""
        aligned = bool(self.align_corners.value.data)
        if self.padding_mode.data == PADDINGS[2]:
            return _reflected(place, slope, extent, aligned=aligned, build=build)
        if self.padding_mode.data == PADDINGS[0]:
            return place, slope
        edge = 0.0 if aligned else 0.5
        low = build.op("greater_equal", place, -edge)
        stays = build.op("logical_and", low, build.op("less_equal", place, extent - 1 + edge))
        nearest = build.op("clip", place, a_min=0.0, a_max=float(extent - 1))
        return build.op("where", stays, place, nearest), build.op("where", stays, slope, build.zeros_like(slope))

    def _side(self, index: SSAValue, weight: SSAValue, extent: int, build: GradientBuilder) -> _Side:
        """Returns the elements at whole coordinates."""
        inside = build.ones_like(weight)
        if self.padding_mode.data == PADDINGS[0]:
            least = build.op("greater_equal", index, 0.0)
            within = build.op("logical_and", least, build.op("less", index, float(extent)))
            inside = build.cast_like(within, weight)
        elif self.padding_mode.data == PADDINGS[2]:
            index, _ = _reflected(index, index, extent, aligned=bool(self.align_corners.value.data), build=build)
        near = build.op("clip", index, a_min=0.0, a_max=float(extent - 1))
        return _Side(build.op("cast", near, dtype=i64), weight, inside)


def _mirrored(place: Array, extent: int, *, aligned: bool) -> Array:
    """Reflects coordinates at both ends."""
    low, width = (0.0, extent - 1.0) if aligned else (-0.5, float(extent))
    if not width:
        return np.zeros_like(place)
    distance = np.abs(place - low)
    times = np.floor(distance / width)
    rest = distance - times * width
    is_back = times - 2 * np.floor(times / 2) != 0
    seen: Array = np.where(is_back, low + width - rest, low + rest)
    return np.where((place >= low) & (place <= low + width), place, seen)


def _weight(ratio: Array, step: int, reach: int) -> Array:
    """Returns the weight of the element that is `step` elements after the one below a coordinate."""
    one = ratio.dtype.type(1)
    if reach == 1:
        return ratio if step else one - ratio
    d, a = np.abs(ratio - ratio.dtype.type(step)), ratio.dtype.type(CUBIC)
    near = ((a + 2) * d - (a + 3)) * d * d + one
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return near if step in (0, 1) else far


@dataclass(frozen=True)
class _Side:
    """The elements below, or above, the coordinates along an axis: indices, weights, and 0 if they are outside."""

    index: SSAValue
    weight: SSAValue
    inside: SSAValue


@dataclass(frozen=True)
class _Axis:
    """An axis of the data: the derivative of coordinates by the grid, and the elements on both sides."""

    extent: int
    slope: SSAValue
    sides: tuple[_Side, _Side]


def _reflected(
    place: SSAValue, slope: SSAValue, extent: int, *, aligned: bool, build: GradientBuilder
) -> tuple[SSAValue, SSAValue]:
    """Returns coordinates reflected at both ends, and their derivatives, which change sign."""
    low, width = (0.0, extent - 1.0) if aligned else (-0.5, float(extent))
    if not width:
        return build.zeros_like(place), build.zeros_like(slope)
    past = build.op("subtract", place, low)
    distance = build.op("abs", past)
    times = build.op("floor", build.op("divide", distance, width))
    rest = build.op("subtract", distance, build.op("multiply", times, width))
    back = build.op("not_equal", build.op("floor_mod", times, 2.0), 0.0)
    seen = build.op("where", back, build.op("subtract", low + width, rest), build.op("add", rest, low))
    turned = build.op("multiply", slope, build.op("sign", past))
    turned = build.op("where", back, build.op("negative", turned), turned)
    stays = build.op("logical_and", build.op("greater_equal", past, 0.0), build.op("less_equal", past, width))
    return build.op("where", stays, place, seen), build.op("where", stays, slope, turned)


def _number(indices: list[SSAValue], axes: list[_Axis], build: GradientBuilder) -> SSAValue:
    """Returns the row-major indices of elements."""
    number, *others = indices
    for index, axis in zip(others, axes[1:], strict=True):
        number = build.op("add", build.op("multiply", number, axis.extent), index)
    return number


def _product(factors: list[SSAValue], build: GradientBuilder) -> SSAValue:
    """Multiplies all factors."""
    return reduce(lambda one, other: build.op("multiply", one, other), factors)


def _in_rows(value: SSAValue, build: GradientBuilder) -> SSAValue:
    """Flattens the pixels of each image, with an axis for channels."""
    return build.op("reshape", build.op("expand_dims", value, axis=1), newshape=(0, 0, -1))
