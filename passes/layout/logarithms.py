"""The ops whose results become the operand of a logarithm.

The error of a product of parts is relative to its largest result. The difference of two logarithms is the ratio of
their operands, so the small energies of a spectrum need small relative errors of their own.
"""

from __future__ import annotations

from typing import Final

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.ops.nn.dense import ContribDensePackOp, DenseOp
from xrelay.dialects.relay.ops.nn.matmul import MatmulOp
from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, MaximumOp, MultiplyOp, PowerOp, SubtractOp
from xrelay.dialects.relay.ops.tensor.reduce import MeanOp, SumOp
from xrelay.dialects.relay.ops.tensor.unary import AbsOp, ClipOp, Log2Op, Log10Op, LogOp, SqrtOp
from xrelay.dialects.shared.op_lists import is_kind, ops_of

REFUSAL: Final = "its result becomes the operand of a logarithm, where small numbers need small errors"
"""Why a product before a logarithm is not split."""

_KEEPING: Final = (
    *(AddOp, SubtractOp, MultiplyOp, PowerOp, MaximumOp, AbsOp, ClipOp, SqrtOp, SumOp, MeanOp),
    *(Conv2DOp, DenseOp, MatmulOp, ContribDensePackOp),
)
"""Ops with small results for small operands: those from a spectrum to the logarithms of its energies."""


def ops_before_logarithms(module: ModuleOp) -> set[Operation]:
    """Returns the ops from which a logarithm is reached through sums, products, powers and moves of elements."""
    found: set[Operation] = set()
    pending: list[Operation] = [*ops_of(module, LogOp, Log2Op, Log10Op)]
    while pending:
        for value in pending.pop().operands:
            owner = value.owner
            if isinstance(owner, Block) or owner in found or not (is_kind(type(owner), _KEEPING) or _moves(owner)):
                continue
            found.add(owner)
            pending.append(owner)
    return found


def _moves(op: Operation) -> bool:
    return isinstance(op, RelayOp) and op.fusion_pattern is OpPatternKind.INJECTIVE
