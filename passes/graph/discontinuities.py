"""Values that discontinuous functions depend on: a rounding error in them may change a result by a whole step."""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.ops.tensor.arithmetic import FloorDivideOp, RemainderOp, TruncDivideOp, TruncModOp
from xrelay.dialects.relay.ops.tensor.rounding import RoundingOp, SignOp
from xrelay.dialects.shared.op_lists import all_ops, is_kind
from xrelay.dialects.shared.types import element_of_any_rank
from xrelay.passes.graph.op_kinds import OpKind, kind_of
from xrelay.passes.graph.tuple_leaves import leaf_types

DISCONTINUOUS = (RoundingOp, SignOp, RemainderOp, FloorDivideOp, TruncDivideOp, TruncModOp)
"""Ops of floats whose results are floats and jump at some operands."""

CONTAINERS = (OpKind.TUPLE, OpKind.FIELD, OpKind.BINDING, OpKind.REGIONS)
"""Kinds of op that pass values on."""


def values_of_discontinuities(top: Operation) -> set[SSAValue]:
    """Returns the values below `top` that a discontinuous function depends on, except through a sum of products.

    Functions of other types, such as comparisons, conversions to integers and indices of maxima, are discontinuous, and
    so are functions that are not known: calls, and ops of other dialects. Values before a convolution or a product of
    matrices are not included, since passes take these sums in any order.
    """
    found = set[SSAValue]()
    pending = [operand for op in all_ops(top) if _is_discontinuous(op) for operand in op.operands]
    while pending:
        value = pending.pop()
        if value not in found:
            found.add(value)
            pending += _sources(value)
    return found


def _is_discontinuous(op: Operation) -> bool:
    if not isinstance(op, RelayOp):
        return not op.regions and not op.has_trait(IsTerminator)
    if kind_of(op) in CONTAINERS:
        return False
    elements = map(element_of_any_rank, leaf_types([result.type for result in op.results]))
    return is_kind(type(op), DISCONTINUOUS) or not all(isinstance(element, AnyFloat) for element in elements)


def _sources(value: SSAValue) -> list[SSAValue]:
    """Returns the values from which `value` is computed, or none for a sum of products or a parameter."""
    op = value.owner.parent_op() if isinstance(value.owner, Block) else value.owner
    if op is None or isinstance(op, FuncOp):
        return []
    if isinstance(op, RelayOp) and op.PATTERN is OpPatternKind.OUT_ELEM_WISE_FUSABLE:
        return []
    ends = [block.last_op for region in op.regions for block in region.blocks]
    return [*op.operands, *(operand for end in ends if end is not None for operand in end.operands)]
