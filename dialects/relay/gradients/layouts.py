"""Conversions between layouts in gradients."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder
from xrelay.dialects.relay.layout.layout import Layout


def converted(value: SSAValue, source: Layout, target: Layout, build: GradientBuilder) -> SSAValue:
    """Converts a tensor from one layout to another."""
    if source == target:
        return value
    return build.op("layout_transform", value, src_layout=str(source), dst_layout=str(target))
