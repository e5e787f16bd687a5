"""Removes layout transforms: merges successive transforms, and changes the layout of ops between transforms.

Two successive `relay.layout_transform`s become one, or none if the second inverts the first; equal transforms are
merged. Then ops that support any layout (elementwise ops, pools, concatenations, …) move to another layout together if
this moves less data, since the cost of a transform is the data that it moves (`layout_regions.py`).

Before:

    %a = relay.layout_transform(%x) {src_layout = "NHWC", dst_layout = "NCHW"}
    %b = relay.nn.relu(%a)
    %c = relay.layout_transform(%b) {src_layout = "NCHW", dst_layout = "NHWC"}

After:

    %c = relay.nn.relu(%x)
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, SSAValue

from xrelay.dialects.relay.core.attribute_values import string_attribute
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.layout.layout import LayoutError, transform_shape
from xrelay.dialects.relay.ops.tensor.transform import LayoutTransformOp
from xrelay.dialects.shared.types import shape_of
from xrelay.passes.graph.replacements import Replacements
from xrelay.passes.layout.layout_regions import RegionMover, transforms_of
from xrelay.passes.layout.layout_versions import erase_unused


def save_transforms(blocks: Sequence[Block], *, fixed: frozenset[type[RelayOp]] = frozenset()) -> None:
    """Removes unnecessary transforms from these blocks; ops of the classes `fixed` keep their layouts.

    Values are unchanged, except that reductions may sum in another order.
    """
    for block in blocks:
        join_transforms(block)
    for block in blocks:
        if RegionMover(block, fixed).run():
            join_transforms(block)


def join_transforms(block: Block) -> None:
    """Merges successive transforms, removes pairs that cancel, and merges equal transforms."""
    transforms = transforms_of(block)
    known: dict[tuple[SSAValue, str, str], SSAValue] = {}
    results = Replacements()
    for op in transforms:
        data = results.of(op.data)
        _read_through(op, data)
        source, target = op.src_layout.data, op.dst_layout.data
        made = op.data if source == target else known.setdefault((op.data, source, target), op.result)
        if made is not op.result:
            results.add(op.result, made)
    results.apply()
    erase_unused(*reversed(transforms))


def _read_through(op: LayoutTransformOp, data: SSAValue) -> None:
    """Makes `op` transform the operand of the transform that defines `data`, if the result is the same."""
    before = data.owner
    op.operands = [data]
    if not isinstance(before, LayoutTransformOp) or str(before.layouts[1]) != str(op.layouts[0]):
        return
    source, target = before.layouts[0], op.layouts[1]
    try:
        shape = transform_shape(shape_of(before.data.type), source, target)
    except LayoutError:
        return
    # The shapes differ if the first transform pads blocks and the second keeps the padding.
    if shape == shape_of(op.result.type):
        op.operands = [before.data]
        op.properties["src_layout"] = string_attribute(str(source))
