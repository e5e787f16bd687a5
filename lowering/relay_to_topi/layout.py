"""`relay.layout_transform`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.layouts import relayout
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.tensor_transform import LayoutTransformOp
from xrelay.lowering.relay_to_topi.registry import implements


@implements(LayoutTransformOp, "layout_transform.generic")
def build_layout_transform(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Reads each element at its indices in the source layout."""
    source, target = Layout.parse(emitter.text("src_layout")), Layout.parse(emitter.text("dst_layout"))
    return [relayout(emitter, emitter.operand(0), source, target)]
