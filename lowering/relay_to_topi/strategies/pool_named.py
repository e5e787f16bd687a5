"""Pools of images in channels-first layouts, also with channels in blocks, as the named ops of topi."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.widening import for_any_width
from xrelay.dialects.relay.ops.nn.pool import AVG_POOLS, MAX_POOLS, WindowPoolOp
from xrelay.dialects.shared.types import shape_of
from xrelay.lowering.relay_to_topi.registry import implements


def _is_channels_first(op: Operation) -> str | None:
    """Returns why the layouts of an op are not channels-first, or None if they are."""
    pool = cast(WindowPoolOp, op)
    (layout, out_layout), plain = pool.layouts, pool.image_axes
    if layout != out_layout:
        return f"layouts {layout} and {out_layout} differ"
    is_blocked = layout.primal == plain and layout.factor("C") is not None and len(layout) == len(plain) + 1
    block = shape_of(pool.data.type)[-1]
    if is_blocked and not isinstance(block, int):
        return f"the extent {block} of its blocks has a name"
    return None if str(layout) == plain or is_blocked else f"layout {layout} is neither {plain} nor {plain}[x]c"


def build_named(build: TopiBuilder) -> Sequence[SSAValue]:
    """Builds topi's pool of the data."""
    return [cast(WindowPoolOp, build.op).named(build, build.operand(0), build.result_type)]


for _pool in (*MAX_POOLS, *AVG_POOLS):
    _build = build_named if _pool in MAX_POOLS else for_any_width(build_named)
    implements(_pool, f"{_pool.relay_name()}.pool{len(_pool.AXES)}d", condition=_is_channels_first)(_build)
