"""`relay.nn.max_pool2d` and `max_pool3d` of large windows: the maxima of rows, then of these along the other axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.ops.nn.pool import MaxPool2DOp, MaxPool3DOp, MaxPoolOp
from xrelay.dialects.shared.types import tensor_type
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.windows import WindowAxis
from xrelay.lowering.relay_to_topi.registry import implements
from xrelay.lowering.relay_to_topi.strategies.named_ops import is_channels_first

LESS_WORK = 2
"""The minimum factor by which pools along one axis must reduce the number of maxima, since each reads memory again."""

UNIT_WINDOW = WindowAxis(1)

FIRST_AXIS = 2
"""The position of the first axis of an image, after batch and channels."""


def _has_little_gain(op: Operation) -> str | None:
    """Returns why a pool is not computed along one axis after the other, or None if it is."""
    pool = cast(MaxPoolOp, op)
    window = pool.window(pool.sizes)
    once = prod(axis.size for axis in window)
    # The strides along outer axes apply only after the maxima along an inner axis.
    apart = sum(axis.size * prod(outer.stride for outer in window[:number]) for number, axis in enumerate(window))
    if once < LESS_WORK * apart:
        return f"{apart} maxima for an element along one axis after the other, {once} at once"
    return is_channels_first(op)


@implements(MaxPool2DOp, "max_pool2d.separable", priority=11, condition=_has_little_gain)
@implements(MaxPool3DOp, "max_pool3d.separable", priority=11, condition=_has_little_gain)
def build_separable(build: TopiBuilder) -> Sequence[SSAValue]:
    """Builds the pool along the width, then the pools along the height and, if there is one, the depth."""
    pool = cast(MaxPoolOp, build.op)
    window = pool.window(pool.sizes)
    data = build.operand(0)
    for number in reversed(range(len(window))):
        alone = [axis if place == number else UNIT_WINDOW for place, axis in enumerate(window)]
        axis = FIRST_AXIS + number
        shape = (*shape_of(data)[:axis], *build.result_shape[axis:])
        data = pool.build_pool(build, data, tensor_type(shape, element_of(data)), alone)
    return [data]
