"""`relay-fuse-rows`: computes reductions of rows in the kernel that reads the rows again.

Relay's fusion ends a kernel at a reduction. A normalisation then reads its data from memory once for each statistic and
once for the result. In one kernel, all stages of a row run while the row is in the cache.

Before:

    %m = relay.fused @fused_mean(%p0 = %x : tensor<64x1024xf32>) -> tensor<64x1xf32> … {
      %0 = relay.mean(%p0) {axis = [1], keepdims = true} …
    }
    %y = relay.fused @fused_subtract(%p0 = %x : tensor<64x1024xf32>, %p1 = %m : tensor<64x1xf32>) … {
      %0 = relay.subtract(%p0, %p1) …
    }

After:

    %y = relay.fused @fused_mean_subtract(%p0 = %x : tensor<64x1024xf32>) … {
      %m = relay.mean(%p0) {axis = [1], keepdims = true} …
      %0 = relay.subtract(%p0, %m) …
    }

A reduction keeps its kernel unless exactly one group reads it, in the same block and elementwise, and both groups read
a tensor with the shape of that group's result. The reduction must keep the leading axes of this shape, and reduce the
others, which have at least 64 elements together. Groups with requirements, or that name extents, are left unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.attribute_names import BINDS, DEMANDS, REQUIRES
from xrelay.dialects.shared.types import shape_of
from xrelay.index_algebra.dims import product
from xrelay.passes.fusion.fuse_ops import GroupNames
from xrelay.passes.fusion.recompute_groups import compute_in
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass

MIN_ROW: Final = 64
"""The minimum number of elements in a row of static length: a few vectors."""

STAGES: Final = (OpPatternKind.ELEM_WISE, OpPatternKind.BROADCAST, OpPatternKind.COMM_REDUCE)
"""The patterns of ops that read an element of an operand at most once."""


@dataclass(frozen=True)
class RelayFuseRowsPass(XRelayPass):
    """Moves reductions of rows into the groups that read the same rows; see the module's docstring."""

    name = "relay-fuse-rows"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place, readers before the groups that they read."""
        names = GroupNames(op)
        axes: dict[FusedOp, int] = {}
        for group in reversed([inner for inner in walk_ops(op) if isinstance(inner, FusedOp)]):
            reader = _reader(group)
            if reader is None or not (reader in axes or reader.fusion_pattern in STAGES[:2]):
                continue
            kept = _kept_axes(group, reader)
            if kept is not None and axes.setdefault(reader, kept) == kept:
                compute_in(group, reader, names)
                reader.pattern = StringAttr(OpPatternKind.OUT_ELEM_WISE_FUSABLE.relay_name)
                Rewriter.erase_op(group)


def _reader(group: FusedOp) -> FusedOp | None:
    """Returns the only group that reads a reduction, if it may compute it."""
    users = {use.operation for use in group.result.uses}
    reader = next(iter(users), None)
    if len(users) != 1 or not isinstance(reader, FusedOp) or reader.parent is not group.parent:
        return None
    is_reduction = group.fusion_pattern is OpPatternKind.COMM_REDUCE
    return reader if is_reduction and all(map(_is_stage, (group, *group.body.block.ops))) else None


def _is_stage(op: Operation) -> bool:
    """Whether an op of a group only computes, and reads each element at most once."""
    has_pattern = isinstance(op, FusedOp | RelayOp)
    is_stage = op.fusion_pattern in STAGES if has_pattern else isinstance(op, ConstantOp | YieldOp)
    return is_stage and op.attributes.keys().isdisjoint((REQUIRES, DEMANDS, BINDS))


def _kept_axes(group: FusedOp, reader: FusedOp) -> int | None:
    """Returns the number of leading axes that a reduction of rows keeps; None if both groups do not read the rows."""
    shape, reduced = shape_of(reader.result.type), shape_of(group.result.type)
    shared = {*group.arguments} & {*reader.arguments}
    if len(reduced) != len(shape) or not any(shape_of(value.type) == shape for value in shared):
        return None
    kept = next((axis for axis in range(len(shape), 0, -1) if reduced[axis - 1] != 1), 0)
    length = product(shape[kept:])
    is_row = kept > 0 and reduced[:kept] == shape[:kept]
    return kept if is_row and not (isinstance(length, int) and length < MIN_ROW) else None
