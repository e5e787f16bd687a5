"""Windows of pools and convolutions: their greatest elements, those that contain an element, and adaptive ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, i1, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.layouts import layout_indices, primal_indices
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.topi.build import Body, IndexLike, Number, compute, is_unsigned, lowest, variables
from xrelay.dialects.topi.named.base import TAPS
from xrelay.dialects.topi.shapes import shape_of
from xrelay.dialects.upstream.arith_extras import IndexCastOp
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.windows import WindowAxis, of_any_size


def number_maxima(
    build: TopiBuilder,
    data: SSAValue,
    window: Sequence[WindowAxis[int]],
    counts: Sequence[Dim],
    number: Callable[[Body], AffineExpr],
    type: IntegerType,
) -> SSAValue:
    """Returns the `number` of the first greatest tap of each window of plain data; -1 for windows without data.

    Each tap inside the image is compared with the greatest of the previous taps.
    """
    element, (batch, channels, *sizes) = element_of(data), shape_of(data)
    first = lowest(element)

    def fill(b: Body) -> list[SSAValue]:
        best, found = b.accumulators
        taps = taps_of(b, window)
        inside = b.in_bounds(taps, sizes)
        value = b.guard(inside, element, lambda: b.read(data, *b.spatial[:2], *taps), first)
        here = b.add(arith.IndexCastOp(b.index(number(b)), type))
        nothing = b.compare(found, "eq", -1)
        taken = b.logical_and(inside, b.logical_or(nothing, _greater(b, value, best)))
        return [b.select(taken, value, best), b.select(taken, here, found)]

    letters = list(TAPS)[-len(window) :]
    reduce = {TAPS[letter]: axis.size for letter, axis in zip(letters, window, strict=True)}
    spatial = variables("i", [batch, channels, *counts])
    fold = compute("max_pool_indices", spatial, [element, type], fill, reduce=reduce, init=[first, -1])
    return build.insert(fold).results[1]


def taps_of(b: Body, window: Sequence[WindowAxis[int]]) -> list[AffineExpr]:
    """Returns the indices in the image of the current tap of the current window."""
    return [axis.place(at, tap) for axis, at, tap in zip(window, b.spatial[2:], b.reduction, strict=True)]


def _greater(b: Body, value: SSAValue, best: SSAValue) -> SSAValue:
    """Returns whether an element is greater than the greatest of the previous ones; NaN is the greatest."""
    if not isinstance(value.type, AnyFloat):
        return b.add(arith.CmpiOp(value, best, "ugt" if is_unsigned(value.type) else "sgt"))
    greater = b.compare(value, "gt", best)
    new_nan = b.logical_and(b.add(arith.CmpfOp(value, value, "uno")), b.add(arith.CmpfOp(best, best, "ord")))
    return b.add(arith.OrIOp(greater, new_nan, i1))


class CoveringWindow:
    """The k-th window that contains the current element, for each axis, and its tap at the element.

    Along an axis of stride s, the element at index p of the padded data is in the windows p floordiv s - k for k = 0,
    …, ceil(reach / s) - 1, at offset p mod s + k * s from the start of that window. If there are fewer windows in
    total, all of them are considered: the element is at offset p - k * s from the start of window k. Elements are
    computed independently, so they can be vectorised.
    """

    def __init__(self, b: Body, window: Sequence[WindowAxis[int]], counts: Sequence[Dim]):
        self._body, self._at = b, list[IndexLike](b.spatial[:2])
        self.taps: list[AffineExpr] = []
        conditions: list[tuple[IndexLike, Dim]] = []
        for axis, at, number, count in zip(window, b.spatial[2:], b.reduction, counts, strict=True):
            place, is_long = at + axis.before, _sees_all(axis, count)
            if is_long:
                covering, offset = number, place - number * axis.stride
            else:
                covering, offset = place // axis.stride - number, place % axis.stride + number * axis.stride
                conditions.append((covering, count))
            self._at.append(covering)
            self.taps.append(offset // axis.dilation)
            if is_long or axis.reach % axis.stride:
                conditions.append((offset, axis.reach))
            if axis.dilation > 1:
                conditions.append((offset % axis.dilation, 1))
        self._exists = b.in_bounds([index for index, _ in conditions], [size for _, size in conditions])

    def read(self, tensor: SSAValue, otherwise: Number) -> SSAValue:
        """Reads a tensor at the window; `otherwise` if there is no such window or it does not contain the element."""
        b, element = self._body, element_of(tensor)
        return b.guard(self._exists, element, lambda: b.read(tensor, *self._at), otherwise)


def summed_over_windows(
    build: TopiBuilder,
    label: str,
    shape: Sequence[Dim],
    window: Sequence[WindowAxis[int]],
    counts: Sequence[Dim],
    share: Callable[[Body, CoveringWindow], SSAValue],
) -> SSAValue:
    """Sums the shares of all windows that contain an element, for each element of plain data of `shape`."""
    letters = list(TAPS)[-len(window) :]
    reduce = {
        TAPS[letter]: count if _sees_all(axis, count) else _most_windows(axis)
        for letter, axis, count in zip(letters, window, counts, strict=True)
    }

    def collect(b: Body) -> SSAValue:
        return b.accumulate(b.accumulators[0], share(b, CoveringWindow(b, window, counts)))

    return build.compute(label, shape, build.result_type.element_type, collect, reduce=reduce, init=[0])


def _most_windows(axis: WindowAxis[int]) -> int:
    """Returns the maximum number of windows that contain an element."""
    return -(-axis.reach // axis.stride)


def _sees_all(axis: WindowAxis[int], count: Dim) -> bool:
    """Returns whether an axis has fewer windows than may contain an element."""
    return isinstance(count, int) and count < _most_windows(axis)


class AdaptiveWindows:
    """The windows over the axes `letters` of the first operand, in its layout."""

    def __init__(self, build: TopiBuilder, letters: str, layout: Layout, out_layout: Layout):
        self._build, self._data = build, build.operand(0)
        target = out_layout.primal_extents(build.result_shape)
        self._places = {layout.index(letter): letter for letter in letters}
        self.extents = build.shape(self._data)
        self.shape = [
            target[self._places[axis]] if axis in self._places else extent for axis, extent in enumerate(self.extents)
        ]

    def max_length(self, axis: int) -> Dim:
        """Returns an upper bound for the length of windows along an axis of the data."""
        extent, count = self.extents[axis], self.shape[axis]
        if isinstance(extent, int) and isinstance(count, int):
            return max((-(-(i + 1) * extent // count) - i * extent // count for i in range(count)), default=0)
        return extent if count == 0 or count == 1 else 1 if count == extent else (extent - 1) // count + 2

    def bounds(self, b: Body, axis: int) -> tuple[AffineExpr, AffineExpr]:
        """Returns the half-open range of the current window along an axis."""
        index, extent, count = b.spatial[axis], self.extents[axis], self.shape[axis]
        if extent == count:
            return index, index + 1
        last = b.scaled(index + 1, extent) + b.expr(count - 1)
        return b.quotient(b.scaled(index, extent), count), b.quotient(last, count)

    def build_fold(self, label: str, first: Number, fold: Callable[[Body, SSAValue, SSAValue], SSAValue]) -> SSAValue:
        """Builds a fold over the elements of each window, in the layout of the data."""
        element = self._build.element(self._data)

        def body(b: Body) -> SSAValue:
            at, insides = [*b.spatial], list[AffineExpr]()
            for axis, tap in zip(self._places, b.reduction, strict=True):
                begin, end = self.bounds(b, axis)
                at[axis] = begin + tap
                insides.append(end - at[axis] - 1)
            inside = b.in_bounds(insides, [self.extents[axis] for axis in self._places])
            value = b.guard(inside, element, lambda: b.read(self._data, *at), first)
            return fold(b, b.accumulators[0], value)

        reduce = {TAPS[letter]: self.max_length(axis) for axis, letter in self._places.items()}
        return self._build.compute(label, self.shape, element, body, reduce=reduce, init=[first])

    def size(self, b: Body) -> SSAValue:
        """Returns the number of elements of the current window in the element type of the data."""
        total = b.constant(1, IndexType())
        for axis in self._places:
            begin, end = self.bounds(b, axis)
            total = b.times(total, b.index(end - begin))
        return b.convert(b.add(IndexCastOp(total, i64)), self._build.element(self._data))


@dataclass(frozen=True)
class WeightGradient:
    """The gradient of the result and the data of a convolution with a window over `axes`: layouts, extents, reads."""

    axes: str
    window: Sequence[WindowAxis[int]]
    groups: int
    grad_layout: Layout
    grad: dict[str, Dim]
    data_layout: Layout
    data: dict[str, Dim]

    @property
    def points(self) -> list[Dim]:
        """The extents of the sums: batch and positions of the window."""
        return [self.grad[axis] for axis in f"N{self.axes}"]

    @property
    def depth(self) -> Dim:
        """The number of channels of the data in a group."""
        return self.data["C"] // self.groups

    @property
    def filters(self) -> Dim:
        """The number of channels of the gradient in a group."""
        return self.grad["C"] // self.groups

    def places(self, point: Sequence[AffineExpr], taps: Sequence[AffineExpr]) -> dict[str, AffineExpr]:
        """Returns the position of the element at a tap, by spatial axis; in the padding it is outside of the data."""
        rows = zip(self.axes, self.window, point[1:], taps, strict=True)
        return {letter: axis.place(at, tap) for letter, axis, at, tap in rows}

    def read_data(self, b: Body, data: SSAValue, at: dict[str, AffineExpr]) -> SSAValue:
        """Reads an element of the data; 0 in the padding."""
        element = element_of(data)
        inside = b.in_bounds([at[axis] for axis in self.axes], [self.data[axis] for axis in self.axes])
        indices = layout_indices(self.data_layout, at)
        return b.guard(inside, element, lambda: b.read(data, *indices), 0)

    def read_grad(self, b: Body, grad: SSAValue, channel: AffineExpr, point: Sequence[AffineExpr]) -> SSAValue:
        """Reads the gradient of a channel at a point."""
        at = {"C": channel, **dict(zip(f"N{self.axes}", point, strict=True))}
        return b.read(grad, *layout_indices(self.grad_layout, at))

    def padded(self, build: TopiBuilder, data: SSAValue) -> SSAValue:
        """Surrounds the data by zeros as far as windows reach, so that sums read it without a condition."""
        window = dict(zip(self.axes, self.window, strict=True))
        if not any(axis.before or axis.after for axis in window.values()):
            return data
        covered = {letter: of_any_size(axis).covered(self.grad[letter]) for letter, axis in window.items()}

        def fill(b: Body) -> SSAValue:
            at = primal_indices(self.data_layout, b.spatial)
            return self.read_data(b, data, at | {letter: at[letter] - axis.before for letter, axis in window.items()})

        return build.compute("pad", self.data_layout.shape_from(self.data | covered), element_of(data), fill)
