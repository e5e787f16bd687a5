"""Gradients of pools: each element sums its shares of the windows that contain it.

Along an axis of stride s, the element at index p of the padded data is in the windows p floordiv s - k for k = 0, …,
ceil(reach / s) - 1, at offset p mod s + k * s from the start of that window. If there are fewer windows in total, all
of them are considered: the element is at offset p - k * s from the start of window k. Elements are computed
independently, so they can be vectorised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Final, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.computes.half_precision import in_single
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn_pool_grad import AVG_POOL_GRADIENTS, MAX_POOL_GRADIENTS, PoolGradOp
from xrelay.dialects.topi.build import Body, IndexLike, Number, variables
from xrelay.dialects.topi.named.pool import Taps, divided_by_taps
from xrelay.dialects.topi.named.window import TAPS
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.windows import WindowAxis
from xrelay.lowering.relay_to_topi.pool import relayout
from xrelay.lowering.relay_to_topi.pool_indices import number_maxima
from xrelay.lowering.relay_to_topi.registry import implements

_FEW_TAPS: Final = 1 << 31
"""The limit below which taps have 32-bit numbers, which are as wide as most elements and vectorise well."""


class _Covering:
    """The current element's k-th window along each axis, and the tap of the window at the element."""

    def __init__(self, b: Body, op: PoolGradOp, counts: Sequence[Dim]):
        self._body, self._at = b, list[IndexLike](b.spatial[:2])
        self.taps: list[AffineExpr] = []
        conditions: list[tuple[IndexLike, Dim]] = []
        for axis, at, number, count in zip(op.window(op.sizes), b.spatial[2:], b.reduction, counts, strict=True):
            place, is_long = at + axis.before, _sees_all(axis, count)
            if is_long:
                window, behind = number, place - number * axis.stride
            else:
                window, behind = place // axis.stride - number, place % axis.stride + number * axis.stride
                conditions.append((window, count))
            self._at.append(window)
            self.taps.append(behind // axis.dilation)
            if is_long or axis.reach % axis.stride:
                conditions.append((behind, axis.reach))
            if axis.dilation > 1:
                conditions.append((behind % axis.dilation, 1))
        self._exists = b.in_bounds([index for index, _ in conditions], [size for _, size in conditions])

    def read(self, tensor: SSAValue, otherwise: Number) -> SSAValue:
        """Reads a tensor at the window; `otherwise` if there is no such window or it does not contain the element."""
        b, element = self._body, element_of(tensor)
        return b.guard(self._exists, element, lambda: b.read(tensor, *self._at), lambda: b.constant(otherwise, element))


@in_single
def build_max_pool_grad(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits the number of each window's greatest tap; an element sums the windows whose greatest tap it is."""
    op, out_grad, data = cast(PoolGradOp, emitter.op), _plain(emitter, 0), _plain(emitter, 1)
    sizes, counts, type = op.sizes, shape_of(out_grad)[2:], i32 if prod(op.sizes) < _FEW_TAPS else i64
    window = op.window(sizes)
    winners = number_maxima(emitter, data, window, counts, lambda b: _number(b.reduction, sizes), type)

    def share(b: Body, covering: _Covering) -> SSAValue:
        own = b.add(arith.IndexCastOp(b.index(_number(covering.taps, sizes)), type))
        wins = b.add(arith.CmpiOp(covering.read(winners, -1), own, "eq"))
        return b.add(arith.SelectOp(wins, covering.read(out_grad, 0), b.constant(0, element_of(data))))

    return [_collected(emitter, shape_of(data), counts, share)]


@in_single
def build_avg_pool_grad(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Emits the share of each window; each element sums the shares of its windows."""
    op, out_grad, padded = cast(PoolGradOp, emitter.op), _plain(emitter, 0), emitter.flag("count_include_pad")
    extents = op.layouts[0].primal_extents(emitter.result_shape)
    shape, counts = [extents[axis] for axis in op.image_axes], shape_of(out_grad)[2:]

    def divide(b: Body) -> SSAValue:
        rows = zip(op.window(op.sizes), shape[2:], counts, b.spatial[2:], strict=True)
        return divided_by_taps(b, b.read(out_grad, *b.spatial), [Taps(*row, padded=padded) for row in rows])

    names = variables("i", shape_of(out_grad))
    shares = emitter.compute("pool_shares", names, element_of(out_grad), divide)
    return [_collected(emitter, shape, counts, lambda b, covering: covering.read(shares, 0))]


def _plain(emitter: TopiBuilder, index: int) -> SSAValue:
    """Returns operand `index` in the plain layout."""
    op = cast(PoolGradOp, emitter.op)
    value, layout, plain = emitter.operand(index), op.layouts[1 - index], Layout.parse(op.image_axes)
    return value if layout == plain else relayout(emitter, value, layout, plain)


def _collected(
    emitter: TopiBuilder, shape: Sequence[Dim], counts: Sequence[Dim], share: Callable[[Body, _Covering], SSAValue]
) -> SSAValue:
    """Sums the shares of all windows for each element of plain data of `shape`; converts to the result's layout."""
    op, element = cast(PoolGradOp, emitter.op), emitter.result_type.element_type
    rows = zip(op.AXES, op.window(op.sizes), counts, strict=True)
    reduce: dict[str, Dim] = {
        TAPS[letter]: count if _sees_all(axis, count) else _most_windows(axis) for letter, axis, count in rows
    }

    def collect(b: Body) -> SSAValue:
        return b.accumulate(b.accumulators[0], share(b, _Covering(b, op, counts)))

    label = op.relay_name().removeprefix("nn.")
    result = emitter.compute(label, variables("i", shape), element, collect, reduce=reduce, init=[0])
    layout, plain = op.layouts[0], Layout.parse(op.image_axes)
    return result if layout == plain else relayout(emitter, result, plain, layout)


def _most_windows(axis: WindowAxis[int]) -> int:
    """Returns the maximum number of windows that contain an element."""
    return -(-axis.reach // axis.stride)


def _sees_all(axis: WindowAxis[int], count: Dim) -> bool:
    """Returns whether an axis has fewer windows than may contain an element."""
    return isinstance(count, int) and count < _most_windows(axis)


def _number(taps: Sequence[AffineExpr], sizes: Sequence[int]) -> AffineExpr:
    """Returns the row-major number of a tap."""
    number: AffineExpr = AffineConstantExpr(0)
    for tap, size in zip(taps, sizes, strict=True):
        number = number * size + tap
    return number


for _op in MAX_POOL_GRADIENTS:
    implements(_op, f"{_op.relay_name().removeprefix('nn.')}.generic")(build_max_pool_grad)
for _op in AVG_POOL_GRADIENTS:
    implements(_op, f"{_op.relay_name().removeprefix('nn.')}.generic")(build_avg_pool_grad)
