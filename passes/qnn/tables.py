"""Functions of 8-bit numbers as tables of 256 numbers, computed at compile time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, OpResult, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.ops.qnn.quantize import DequantizeOp, QuantizeOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp, ReinterpretOp
from xrelay.dialects.relay.ops.tensor.gather import TakeOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, shape_of, tensor_type
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay import can_evaluate, evaluate_op
from xrelay.passes.graph.rewriting import Emitter
from xrelay.passes.qnn.integer_rules import known_array

MAX_OPS = 256
"""The maximum number of ops of a function."""


def look_up(emit: Emitter, data: SSAValue, table: Array, name: str) -> SSAValue:
    """Emits a lookup in `table`, which has an element per bit pattern, by the 8-bit numbers in `data`."""
    values = emit.constant(table, name)
    unsigned = numpy_dtype(element_type_of(data.type)) == np.uint8
    bits = data if unsigned else emit.call(ReinterpretOp, data, dtype="uint8")
    return emit.call(TakeOp, values, emit.call(CastOp, bits, dtype="int32"), axis=0, mode="fast")


def function_table(quantize: QuantizeOp) -> tuple[SSAValue, Array] | None:
    """Returns the input and the table of the elementwise function that ends in `quantize`, or `None`.

    The function starts at one dequantisation of 8-bit numbers; its other operands are constants of one number.
    """
    ops = _ops_of_function(quantize)
    if ops is None:
        return None
    start = ops[0]
    values: dict[SSAValue, Array] = {start.operands[0]: all_numbers(start.operands[0])}
    for op in (*ops, quantize):
        own = [values[operand] if operand in values else _one_number(operand) for operand in op.operands]
        operands = [array for array in own if array is not None]
        try:
            result = evaluated(op, operands) if len(operands) == len(own) else None
        except InterpreterError:
            return None
        if not isinstance(result, np.ndarray) or result.shape != (256,):
            return None
        values[op.results[0]] = result
    return start.operands[0], values[quantize.result]


def _ops_of_function(quantize: QuantizeOp) -> list[RelayOp] | None:
    """The dequantisation of 8-bit numbers, and the ops from it to `quantize` in topological order.

    Returns None if there are other ops than elementwise ones, or several dequantisations.
    """
    ordered: dict[RelayOp, None] = {}
    entered = set[RelayOp]()
    shape = shape_of(quantize.result.type)
    pending = [quantize.operands[0]]
    while pending:
        value = pending[-1]
        op = value.op if isinstance(value, OpResult) else None
        if op in ordered or _one_number(value) is not None:
            pending.pop()
        elif not isinstance(op, RelayOp) or not isinstance(value.type, TensorType) or shape_of(value.type) != shape:
            return None
        elif op in entered or isinstance(op, DequantizeOp):
            ordered[op] = None
            pending.pop()
        elif not _is_elementwise(op) or len(entered) == MAX_OPS:
            return None
        else:
            entered.add(op)
            pending += op.operands
    starts = [op for op in ordered if isinstance(op, DequantizeOp)]
    if len(starts) != 1 or numpy_dtype(element_type_of(starts[0].operands[0].type)).itemsize != 1:
        return None
    return [starts[0], *(op for op in ordered if op is not starts[0])]


def _is_elementwise(op: RelayOp) -> bool:
    """Whether each element of the result is a function of the elements of the operands at the same position."""
    return (
        isinstance(op.results[0].type, TensorType)
        and all(isinstance(operand.type, TensorType) for operand in op.operands)
        and op.fusion_pattern <= OpPatternKind.BROADCAST
        and not isinstance(op, QuantizeOp)
        and can_evaluate(op)
    )


def _one_number(value: SSAValue) -> Array | None:
    known = known_array(value) if isinstance(value.type, TensorType) else None
    return known.reshape(()) if known is not None and known.size == 1 else None


def all_numbers(data: SSAValue) -> Array:
    """Returns the number of the element type of `data` for each bit pattern from 0 to 255."""
    return np.arange(256, dtype=np.uint8).view(numpy_dtype(element_type_of(data.type)))


def evaluated(op: Operation, operands: Sequence[Array]) -> object:
    """Evaluates `op` on operands of other shapes: the 256 numbers instead of its tensors."""
    types = [
        tensor_type(array.shape, element_type_of(operand.type))
        for array, operand in zip(operands, op.operands, strict=True)
    ]
    result = tensor_type((256,), element_type_of(op.results[0].type))
    probe = type(op).create(operands=Block(arg_types=types).args, result_types=[result], properties=op.properties)
    return evaluate_op(probe, operands)
