"""Sorts ops by class into the constructs that fusion tells apart.

Asked of every op of a graph several times; `isinstance` walks xDSL's abstract base classes for each answer but that of
the very class, the caches here ask once a class.
"""

from __future__ import annotations

from enum import Enum, auto
from functools import cache
from typing import TypeGuard

from xdsl.ir import Operation

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.annotation import CheckpointOp, CompilerBeginOp, CompilerEndOp, StopFusionOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.extents import CutOp, ExtentsOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.graph_op import GraphOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.op_lists import is_kind


class OpKind(Enum):
    """The constructs of the language as Relay's fusion tells them apart."""

    OPERATOR = auto()
    """A call of a Relay operator: work for a kernel."""
    WALL = auto()
    """`relay.annotation.stop_fusion`, `checkpoint`, `compiler_begin` and `compiler_end`."""
    TUPLE = auto()
    FIELD = auto()
    """`relay.tuple_get_item`."""
    CONSTANT = auto()
    BINDING = auto()
    """`relay.let`; its result is a variable."""
    REGIONS = auto()
    """`relay.if`, `relay.loop` and `relay.fn`, whose regions are expressions of the same function."""
    INVOCATION = auto()
    """`relay.invoke`."""
    GROUP = auto()
    """`relay.fused`."""
    OTHER = auto()
    """A call of a function, an op that stays in the graph function, an op that names extents, or a foreign op."""


CALLS = (OpKind.OPERATOR, OpKind.WALL, OpKind.INVOCATION, OpKind.GROUP, OpKind.OTHER)
"""The kinds of op for which Relay has a call node; no set, as the hash of an enumeration's member is Python code."""

_KINDS: dict[type[Operation], OpKind] = {
    StopFusionOp: OpKind.WALL,
    CheckpointOp: OpKind.WALL,
    CompilerBeginOp: OpKind.WALL,
    CompilerEndOp: OpKind.WALL,
    TupleOp: OpKind.TUPLE,
    TupleGetItemOp: OpKind.FIELD,
    ConstantOp: OpKind.CONSTANT,
    LetOp: OpKind.BINDING,
    IfOp: OpKind.REGIONS,
    LoopOp: OpKind.REGIONS,
    FnOp: OpKind.REGIONS,
    InvokeOp: OpKind.INVOCATION,
    FusedOp: OpKind.GROUP,
    ExtentsOp: OpKind.OTHER,
    CutOp: OpKind.OTHER,
}


def kind_of(op: Operation) -> OpKind:
    """What `op` is to fusion."""
    return _kind_of_class(type(op))


def is_constant(op: Operation) -> TypeGuard[ConstantOp]:
    """Whether `op` is a `relay.constant`."""
    return kind_of(op) is OpKind.CONSTANT


def is_relay_op(op: Operation) -> TypeGuard[RelayOp]:
    """Whether `op` is a `RelayOp`."""
    return _is_relay_class(type(op))


def is_computation(op: Operation) -> TypeGuard[RelayOp]:
    """Whether `op` is a `RelayOp` that computes its value: neither a binding, which names one, nor a wall."""
    return is_relay_op(op) and kind_of(op) not in (OpKind.BINDING, OpKind.WALL)


def short_name(op: Operation) -> str:
    """The op's name as Relay has it: `nn.relu`."""
    return _short_name_of_class(type(op))


@cache
def _is_relay_class(op: type[Operation]) -> bool:
    return is_kind(op, (RelayOp,))


@cache
def _short_name_of_class(op: type[Operation]) -> str:
    return op.name.removeprefix("relay.")


@cache
def _kind_of_class(op: type[Operation]) -> OpKind:
    known = _KINDS.get(op)
    if known is not None:
        return known
    return OpKind.OPERATOR if is_kind(op, (RelayOp,)) and not is_kind(op, (GraphOp,)) else OpKind.OTHER
