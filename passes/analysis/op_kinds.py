"""What an op is to fusion, told from its class alone.

Asked of every op of a graph several times; `isinstance` walks xDSL's abstract base classes for each answer, the cache
here asks once a class.
"""

from __future__ import annotations

from enum import Enum, auto
from functools import cache

from xdsl.ir import Operation

from xrelay.dialects.relay.annotation import StopFusionOp
from xrelay.dialects.relay.constant import ConstantOp
from xrelay.dialects.relay.function import FnOp, InvokeOp
from xrelay.dialects.relay.fused import FusedOp
from xrelay.dialects.relay.op_base import RelayOp
from xrelay.dialects.relay.scope import IfOp, LetOp
from xrelay.dialects.relay.tuples import TupleGetItemOp, TupleOp


class OpKind(Enum):
    """The constructs of the language as Relay's fusion tells them apart."""

    OPERATOR = auto()
    """A call of a Relay operator: work for a kernel."""
    WALL = auto()
    """`relay.annotation.stop_fusion`."""
    TUPLE = auto()
    FIELD = auto()
    """`relay.tuple_get_item`."""
    CONSTANT = auto()
    BINDING = auto()
    """`relay.let`; its result is a variable."""
    REGIONS = auto()
    """`relay.if` and `relay.fn`, whose regions are expressions of the same function."""
    INVOCATION = auto()
    """`relay.invoke`."""
    GROUP = auto()
    """`relay.fused`."""
    OTHER = auto()
    """A call of another function, or an op that is not of this dialect."""

    @property
    def is_call(self) -> bool:
        """Whether Relay would have a call node for the op."""
        return self in _CALLS


_CALLS = frozenset({OpKind.OPERATOR, OpKind.WALL, OpKind.INVOCATION, OpKind.GROUP, OpKind.OTHER})

_KINDS: dict[type[Operation], OpKind] = {
    StopFusionOp: OpKind.WALL,
    TupleOp: OpKind.TUPLE,
    TupleGetItemOp: OpKind.FIELD,
    ConstantOp: OpKind.CONSTANT,
    LetOp: OpKind.BINDING,
    IfOp: OpKind.REGIONS,
    FnOp: OpKind.REGIONS,
    InvokeOp: OpKind.INVOCATION,
    FusedOp: OpKind.GROUP,
}


def kind_of(op: Operation) -> OpKind:
    """What `op` is to fusion."""
    return _kind_of_class(type(op))


@cache
def _kind_of_class(op: type[Operation]) -> OpKind:
    known = _KINDS.get(op)
    if known is not None:
        return known
    return OpKind.OPERATOR if issubclass(op, RelayOp) else OpKind.OTHER
