"""Padding by widths from an operand."""

from __future__ import annotations

from xrelay.dialects.relay.meaning.padding import padded
from xrelay.dialects.relay.ops.dyn_pad import DynPadOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import evaluates


@evaluates(DynPadOp)
def evaluate_dyn_pad(op: DynPadOp, data: Array, widths: Array, value: Array) -> Array:
    """Pads the data; the error for invalid widths contains axis and widths."""
    mode = op.pad_mode.data
    for axis, (extent, (before, after)) in enumerate(zip(data.shape, widths.tolist(), strict=True)):
        if min(before, after) < 0:
            raise InterpreterError(
                f"[{op.name} C2] axis {axis} is padded by {before} and {after}; none may be negative"
            )
        most = {"constant": max(before, after), "edge": before + after if extent else 0, "reflect": max(0, extent - 1)}
        if max(before, after) > most[mode]:
            raise InterpreterError(
                f"[{op.name} C4] mode {mode!r} cannot pad axis {axis} of extent {extent} by {before} and {after}"
            )
    return padded(data, widths.tolist(), mode, value)
