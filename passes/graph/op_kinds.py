"""Classifies ops by the constructs that fusion distinguishes.

Passes classify every op of a graph several times. `isinstance` walks xDSL's abstract base classes unless the class
matches exactly, so the results are cached by class.
"""

from __future__ import annotations

from enum import Enum, auto
from functools import cache
from typing import TypeGuard

from xdsl.ir import Operation

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.annotation import CheckpointOp, CompilerBeginOp, CompilerEndOp, StopFusionOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.containers import GraphOp
from xrelay.dialects.relay.structure.extents import CutOp, ExtentsOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.op_lists import is_kind


class OpKind(Enum):
    """The constructs of the language that Relay's fusion distinguishes."""

    OPERATOR = auto()
    """A call of a Relay operator, which becomes part of a kernel."""
    BARRIER = auto()
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
    """A call of a function, an op that stays in the graph function or names extents, or an op of another dialect."""


CALLS = (OpKind.OPERATOR, OpKind.BARRIER, OpKind.INVOCATION, OpKind.GROUP, OpKind.OTHER)
"""The kinds of op that are call nodes in Relay. It is no set, because hashing a member of an enumeration is slow."""

_KINDS: dict[type[Operation], OpKind] = {
    StopFusionOp: OpKind.BARRIER,
    CheckpointOp: OpKind.BARRIER,
    CompilerBeginOp: OpKind.BARRIER,
    CompilerEndOp: OpKind.BARRIER,
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
    """Returns the kind of `op`."""
    return _kind_of_class(type(op))


def is_constant(op: Operation) -> TypeGuard[ConstantOp]:
    """Whether `op` is a `relay.constant`."""
    return kind_of(op) is OpKind.CONSTANT


def is_relay_op(op: Operation) -> TypeGuard[RelayOp]:
    """Whether `op` is a `RelayOp`."""
    return _is_relay_class(type(op))


def is_computation(op: Operation) -> TypeGuard[RelayOp]:
    """Whether `op` is a `RelayOp` that computes its value, neither a binding nor a wall."""
    return is_relay_op(op) and kind_of(op) not in (OpKind.BINDING, OpKind.BARRIER)


def short_name(op: Operation) -> str:
    """Returns the op's name in Relay, such as `nn.relu`."""
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
