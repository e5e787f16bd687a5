"""Values that become named extents: `relay.extents` and `relay.cut`."""

from __future__ import annotations

from collections.abc import MutableMapping

from xdsl.ir import Operation

from xrelay.dialects.relay.structure.extents import CutOp, ExtentsOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InterpreterError
from xrelay.index_algebra.dims import MAX_EXTENT
from xrelay.interpreters.relay.registry import Value, evaluates


@evaluates(ExtentsOp)
def evaluate_extents(op: ExtentsOp, data: Array) -> Array:
    """Returns the operand after checking that its elements are valid extents (C3)."""
    for index, element in enumerate(data.reshape(-1).tolist()):
        if not 0 <= element < MAX_EXTENT:
            description = op.description(index)
            message = (
                f"{description.subject} is {element}"
                if element > 0
                else description.failure.replace("{value}", str(element))
            )
            raise InterpreterError(f"[{op.name} C3] {message}", help=WANTED)
    return data


WANTED = "extents are 0 or more, and less than 2**47"


@evaluates(CutOp)
def evaluate_cut(op: CutOp, data: Array, count: Array) -> Array:
    """Slices the data; checks C4."""
    axis, length = op.axis_number, int(count)
    if not 0 <= length <= data.shape[axis]:
        raise InterpreterError(f"[{op.name} C4] the count is {length}, axis {axis} has {data.shape[axis]} elements")
    return data[(slice(None),) * axis + (slice(length),)]


def note_extents(op: Operation, value: Value, sizes: MutableMapping[str, int]) -> None:
    """Binds the names of a `relay.extents` op to the elements of its `value`; ignores other ops."""
    if isinstance(op, ExtentsOp) and not isinstance(value, tuple):
        sizes.update(zip(op.names, value.reshape(-1).tolist(), strict=False))
