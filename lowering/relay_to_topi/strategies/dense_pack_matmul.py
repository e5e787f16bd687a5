"""`relay.nn.contrib_dense_pack` as `topi.matmul`, if the type of the weight has the block size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.widening import into_single
from xrelay.dialects.relay.ops.nn.dense import ContribDensePackOp
from xrelay.dialects.shared.types import shape_of
from xrelay.dialects.topi.named import MatmulOp
from xrelay.lowering.relay_to_topi.registry import implements


def _named_block(op: Operation) -> str | None:
    """Returns why a packed weight has no `topi.matmul`, or None if it has one."""
    named = [extent for extent in shape_of(cast(ContribDensePackOp, op).weight.type)[2:] if not isinstance(extent, int)]
    return f"the extent {named[0]} of its blocks has a name" if named else None


@implements(ContribDensePackOp, "dense_pack.matmul", priority=15, condition=_named_block)
@into_single
def build_matmul(build: TopiBuilder) -> Sequence[SSAValue]:
    """Builds `topi.matmul` of the rows of the data and the packed weight."""
    return build.insert(MatmulOp(build.operand(0), build.operand(1), build.result_type)).results
