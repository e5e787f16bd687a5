"""Checks that functions at the loop level write exactly the buffers that they declare as outputs.

Callers rely on `loop.num_outputs`: they allocate the outputs uninitialized, and expect inputs to be read only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from xrelay.dialects.loop import LoadOp, RowOp, StoreOp
from xrelay.dialects.loop.signature import dim_arguments, input_arguments, output_arguments, scratch_count
from xrelay.dialects.shared.attribute_names import LOOP_KERNEL, NUM_OUTPUTS
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import all_ops
from xrelay.errors import VerificationError


def check_declared_outputs(module: ModuleOp) -> None:
    """Raises `VerificationError` if `loop.num_outputs` contradicts the arguments or the writes of a function."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp) and NUM_OUTPUTS in op.attributes}
    counted = {name: op for name, op in functions.items() if op.body.blocks}
    for function in counted.values():
        _check_count(function)
    # Kernels first: the writes of a caller follow from their declarations.
    for function in sorted(counted.values(), key=lambda function: LOOP_KERNEL not in function.attributes):
        _check_writes(function, counted)


def _check_count(function: FuncOp) -> None:
    """Checks that the function has at least as many buffers as declared outputs."""
    count, buffers = function.attributes[NUM_OUTPUTS], len(function.body.block.args)
    buffers -= len(dim_arguments(function)) + scratch_count(function)
    if not isinstance(count, IntegerAttr) or not 0 <= count.value.data <= buffers:
        raise _error(function, f"{NUM_OUTPUTS} is {count}, and @{function.sym_name.data} takes {buffers} buffers")


def _check_writes(function: FuncOp, functions: dict[str, FuncOp]) -> None:
    """Checks that outputs are written and inputs are not."""
    uses = _uses(function, functions)
    for position, value in enumerate(output_arguments(function)):
        is_empty = isa(value.type, MemRefType) and 0 in value.type.get_shape()
        if not is_empty and value not in uses.written and value not in uses.unknown:
            raise _error(function, f"@{function.sym_name.data} never writes its output {position}")
    for position, value in enumerate(input_arguments(function)):
        if value in uses.written:
            raise _error(function, f"@{function.sym_name.data} writes its input {position}")


def _error(function: FuncOp, message: str) -> VerificationError:
    hint = f"count the last buffers, which the function writes, in {NUM_OUTPUTS}"
    return VerificationError(message, location=location_of(function), help=hint)


@dataclass
class _Uses:
    """The buffers that a function writes, and those that it may write through other values."""

    written: set[SSAValue] = field(default_factory=set[SSAValue])
    unknown: set[SSAValue] = field(default_factory=set[SSAValue])


def _uses(function: FuncOp, functions: dict[str, FuncOp]) -> _Uses:
    uses = _Uses()
    for op in all_ops(function):
        if isinstance(op, StoreOp):
            uses.written.add(op.memref)
        elif isinstance(op, RowOp):
            uses.written.update(op.writes)
        elif isinstance(op, CallOp) and (callee := functions.get(op.callee.string_value())) is not None:
            start, end = len(input_arguments(callee)), len(callee.body.block.args) - len(dim_arguments(callee))
            uses.written.update(op.arguments[start:end])
        elif not isinstance(op, LoadOp | memref.DeallocOp):
            uses.unknown.update(op.operands)
    return uses
