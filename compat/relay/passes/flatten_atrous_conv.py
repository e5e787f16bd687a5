"""`relay-flatten-atrous-conv`: replaces a convolution between space-to-batch and batch-to-space by a dilated one.

`relay.nn.space_to_batch_nd`, a convolution and `relay.nn.batch_to_space_nd` with the same block shape become one
convolution whose dilation is the block shape, which saves two copies. Frameworks without dilated convolutions wrote
them in this form. Not exact: sums may be added in another order.

Before:

    %s = relay.nn.space_to_batch_nd(%x) {block_shape = [2, 2], paddings = [2, 3, 2, 3]}
    %c = relay.nn.conv2d(%s, %w) {data_layout = "NHWC", kernel_layout = "HWIO"}
    %y = relay.nn.batch_to_space_nd(%c) {block_shape = [2, 2], crops = [0, 1, 0, 1]}

After:

    %y = relay.nn.conv2d(%x, %w) {padding = [2, 2, 2, 2], dilation = [2, 2], …}

The crops are subtracted from the padding. The ops are not changed if the convolution has strides, dilation or another
layout; if the block shapes differ; if the padding value is not the value with which the convolution pads; if a crop is
greater than the padding; or if another op reads one of the intermediate results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i64
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.ops.nn.space import BatchToSpaceNdOp, SpaceToBatchNdOp
from xrelay.dialects.relay.ops.qnn.conv import QnnConv2DOp
from xrelay.dialects.shared.types import is_complete
from xrelay.passes.graph.rewriting import constant_of, plain_owner_of, replace_by_variant, rewrite
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates


@dataclass(frozen=True)
class RelayFlattenAtrousConvPass(XRelayPass):
    """Replaces convolutions between space-to-batch and batch-to-space by dilated ones; see the module's docstring."""

    name = "relay-flatten-atrous-conv"
    numerics = reassociates("sums over windows may be taken in another order")
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        rewrite(op, {BatchToSpaceNdOp: DilateConvolution()})


class DilateConvolution(RewritePattern):
    """Replaces three ops by a dilated convolution; see the module's docstring. Not exact.

    Before:

        %s = relay.nn.space_to_batch_nd(%x)
        %c = relay.nn.conv2d(%s, %w)
        %y = relay.nn.batch_to_space_nd(%c)

    After:

        %y = relay.nn.conv2d(%x, %w) {dilation = [2, 2]}
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op`, a batch-to-space, if the block shapes and the padding values match."""
        if not isinstance(op, BatchToSpaceNdOp) or not is_complete(op.result.type):
            return
        conv = plain_owner_of(op.data, RelayOp)
        if not isinstance(conv, Conv2DOp | QnnConv2DOp) or not op.data.has_one_use():
            return
        split = plain_owner_of(conv.operands[0], SpaceToBatchNdOp)
        if split is None or not conv.operands[0].has_one_use() or not _is_plain(conv):
            return
        block = ints(split.block_shape)
        padding = _padding(ints(split.paddings), ints(op.crops), ints(conv.padding), block)
        if ints(op.block_shape) != block or len(block) != 2 or padding is None or not _pads_alike(conv, split):
            return
        changes = {
            "padding": DenseArrayBase.from_list(i64, padding),
            "dilation": DenseArrayBase.from_list(i64, list(block)),
        }
        replace_by_variant(rewriter, op, conv, [split.data, *conv.operands[1:]], changes)


def _is_plain(conv: Conv2DOp | QnnConv2DOp) -> bool:
    """Whether the convolution has channels last, and neither strides nor dilation."""
    layouts = [str(layout) for layout in (conv.layouts[0], conv.layouts[2])]
    steps = (*ints(conv.strides), *ints(conv.dilation))
    return layouts == ["NHWC", "NHWC"] and all(step == 1 for step in steps) and len(ints(conv.padding)) == 4


def _padding(
    paddings: Sequence[int], crops: Sequence[int], own: Sequence[int], block: Sequence[int]
) -> list[int] | None:
    """The padding before each axis, then after each axis; `None` if a crop is greater than the padding."""
    if not len(paddings) == len(crops) == len(own) == 2 * len(block) == 4:
        return None
    # `paddings` and `crops` have the two sides of an axis next to each other.
    sides = [2 * axis + side for side in (0, 1) for axis in (0, 1)]
    result = [paddings[at] - crops[at] + own[position] * block[position % 2] for position, at in enumerate(sides)]
    return result if all(paddings[at] >= crops[at] for at in sides) else None


def _pads_alike(conv: Conv2DOp | QnnConv2DOp, split: SpaceToBatchNdOp) -> bool:
    """Whether `split` pads with the same value as the convolution."""
    value = split.pad_value.value.data
    if not isinstance(conv, QnnConv2DOp):
        return value == 0
    zero_point = constant_of(conv.operands[2])
    return zero_point is not None and zero_point.size == 1 and float(zero_point.reshape(())) == value
