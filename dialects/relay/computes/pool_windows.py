"""Windows of pools: the greatest element of each window, and the windows that contain an element."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType, i1
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.topi.build import Body, IndexLike, Number, compute, is_unsigned, variables
from xrelay.dialects.topi.named.pool import lowest
from xrelay.dialects.topi.named.window import TAPS
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.windows import WindowAxis


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
        value = b.guard(
            inside, element, lambda: b.read(data, *b.spatial[:2], *taps), lambda: b.constant(first, element)
        )
        here = b.add(arith.IndexCastOp(b.index(number(b)), type))
        nothing = b.add(arith.CmpiOp(found, b.constant(-1, type), "eq"))
        taken = b.add(arith.AndIOp(inside, b.add(arith.OrIOp(nothing, _greater(b, value, best)))))
        return [b.add(arith.SelectOp(taken, value, best)), b.add(arith.SelectOp(taken, here, found))]

    letters = list(TAPS)[-len(window) :]
    reduce: dict[str, Dim] = {TAPS[letter]: axis.size for letter, axis in zip(letters, window, strict=True)}
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
    greater = b.add(arith.CmpfOp(value, best, "ogt"))
    new_nan = b.add(arith.AndIOp(b.add(arith.CmpfOp(value, value, "uno")), b.add(arith.CmpfOp(best, best, "ord"))))
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
        return b.guard(self._exists, element, lambda: b.read(tensor, *self._at), lambda: b.constant(otherwise, element))


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
    reduce: dict[str, Dim] = {
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
