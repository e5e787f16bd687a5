"""Lowering of ops on whole rows, and the error for ops that have no form at the scf level."""

from __future__ import annotations

from xdsl.ir import Operation

from xrelay.dialects.loop import RowOp, SortOp, SuppressOp
from xrelay.dialects.shared.locations import location_of
from xrelay.errors import LoweringError
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.flat_buffers import FlatBuffers
from xrelay.lowering.loop_to_scf.sort import SortWriter
from xrelay.lowering.loop_to_scf.suppress import SuppressWriter
from xrelay.lowering.loop_to_scf.values import Values


def write_row(op: RowOp, values: Values, emitter: Emitter, flat: FlatBuffers) -> None:
    """Writes the loops that sort a row or suppress boxes; raises `LoweringError` inside a vectorised loop."""
    if values.lanes is not None:
        raise failure(op, "rows are whole, not lanes of a vectorised loop")
    if isinstance(op, SortOp):
        SortWriter(emitter, op, flat.accessed, flat.index_of).write()
    elif isinstance(op, SuppressOp):
        SuppressWriter(emitter, op, flat.accessed, flat.index_of).write()
    else:
        raise failure(op, "nothing stands for it at the scf level")


def failure(op: Operation, reason: str) -> LoweringError:
    """Returns the error for an op of the loop level that cannot be converted."""
    return LoweringError(f"convert-loop-to-scf cannot convert '{op.name}': {reason}", location=location_of(op))
