"""`relay-flatten-folds`: reads the data of a single minimum or maximum as one row.

Kernels of tensors with equal numbers of elements are then equal, and share their code. A loop over one row also has
less bookkeeping, and threads share it in equal parts.

Before:

    %m = relay.fused @fused_min(%p0 = %x : tensor<2x64x64x32xf32>) -> tensor<f32> {
      %0 = relay.min(%p0) …
      relay.yield %0 …
    }

After: the reshape is a view of the same buffer.

    %v = relay.reshape(%x) {newshape = [-1]} …
    %m = relay.fused @fused_min(%p0 = %v : tensor<262144xf32>) -> tensor<f32> {
      %0 = relay.min(%p0) …
      relay.yield %0 …
    }

Left alone: results of more than one element, since the other axes are their own; data of unknown extents; data that the
group computes, or reads elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.ops.tensor.reduce import MaxOp, MinOp
from xrelay.dialects.relay.ops.tensor.shape import ReshapeOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.shared.types import is_static, shape_of
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass


@dataclass(frozen=True)
class RelayFlattenFoldsPass(XRelayPass):
    """Reads the data of a single minimum or maximum as one row; see the module's docstring."""

    name = "relay-flatten-folds"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        rows: dict[SSAValue, SSAValue] = {}
        for fold in ops_of(op, MaxOp, MinOp):
            if shape_of(fold.result.type) == () and _reads_parameter(fold):
                _flatten(fold, rows)


def _reads_parameter(fold: MaxOp | MinOp) -> bool:
    """Whether an op of a group reads a parameter of several axes that no other op of the group reads."""
    data = fold.data
    is_parameter = isinstance(data, BlockArgument) and isinstance(data.owner.parent_op(), FusedOp)
    return is_parameter and data.has_one_use() and is_static(data.type) and len(shape_of(data.type)) > 1


def _flatten(fold: MaxOp | MinOp, rows: dict[SSAValue, SSAValue]) -> None:
    """Passes the parameter of a group as a row. Groups that read the same data share its row."""
    group, parameter = fold.parent_op(), fold.data
    assert isinstance(group, FusedOp), "see _reads_parameter"
    assert isinstance(parameter, BlockArgument), "see _reads_parameter"
    data = group.arguments[parameter.index]
    if data not in rows:
        reshape = ReshapeOp.call(data, newshape=[-1])
        reshape.location = fold.location
        owner = data.owner
        place = InsertPoint.at_start(owner) if isinstance(owner, Block) else InsertPoint.after(owner)
        Rewriter.insert_op(reshape, place)
        rows[data] = reshape.result
    row = rows[data]
    group.operands = [row if position == parameter.index else each for position, each in enumerate(group.operands)]
    Rewriter.replace_value_with_new_type(parameter, row.type)
    flat = type(fold).call(fold.data)
    flat.location = fold.location
    Rewriter.replace_op(fold, flat)
