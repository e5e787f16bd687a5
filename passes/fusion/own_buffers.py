"""Which returned values of a function lack a buffer of their own, and copies of these values."""

from __future__ import annotations

from collections.abc import Container

from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Operation, OpResult, SSAValue

from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.extents import CutOp, ExtentsOp
from xrelay.dialects.shared.container_types import ClosureType, OptionalType, SequenceType
from xrelay.dialects.shared.types import element_type_of


def needs_copy(value: SSAValue, returned: Container[SSAValue]) -> bool:
    """Whether a returned value has no buffer of its own.

    Such a value comes from outside, is a constant, is returned twice, or is a view of another value's buffer.
    Sequences, optionals and closures have no buffers and need no copy.
    """
    if isinstance(value.type, SequenceType | OptionalType | ClosureType):
        return False
    return not isinstance(value, OpResult) or isinstance(value.op, ConstantOp | ExtentsOp | CutOp) or value in returned


def copy_of(value: SSAValue) -> CastOp:
    """Returns an op that copies a tensor: a cast to its own element type."""
    copy = CastOp.call(value, dtype=element_type_of(value.type))
    copy.location = value.owner.location if isinstance(value.owner, Operation) else UnknownLoc()
    copy.result.name_hint = value.name_hint
    return copy
