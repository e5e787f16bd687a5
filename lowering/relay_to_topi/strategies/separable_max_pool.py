"""`relay.nn.max_pool2d` of large windows: the maxima of rows, then the maxima of these along the columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of
from xrelay.dialects.relay.ops.nn.pool import MaxPool2DOp
from xrelay.dialects.shared.types import tensor_type
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.windows import WindowAxis
from xrelay.lowering.relay_to_topi.registry import implements
from xrelay.lowering.relay_to_topi.strategies.named_ops import is_channels_first

LESS_WORK = 2
"""The minimum factor by which two pools must reduce the number of maxima, since their second one reads memory again."""

UNIT_WINDOW = WindowAxis(1)


def _has_little_gain(op: Operation) -> str | None:
    """Returns why a pool is not computed by rows and columns, or None if it is."""
    pool = cast(MaxPool2DOp, op)
    height, width = pool.window(pool.sizes)
    once, twice = height.size * width.size, height.stride * width.size + height.size
    if once < LESS_WORK * twice:
        return f"{twice} maxima for an element by rows and columns, {once} at once"
    return is_channels_first(op)


@implements(MaxPool2DOp, "max_pool2d.separable", priority=11, condition=_has_little_gain)
def build_separable(build: TopiBuilder) -> Sequence[SSAValue]:
    """Builds the pool along the width, then the pool along the height."""
    pool = cast(MaxPool2DOp, build.op)
    height, width = pool.window(pool.sizes)
    data, shape = build.operand(0), build.result_shape
    rows = tensor_type((*shape_of(data)[:3], *shape[3:]), element_of(data))
    maxima = pool.build_pool(build, data, rows, (UNIT_WINDOW, width))
    return [pool.build_pool(build, maxima, build.result_type, (height, UNIT_WINDOW))]
