"""Functions of 8-bit numbers as tables of 256 numbers, computed at compile time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, OpResult, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.ops.qnn.quantize import DequantizeOp, QuantizeOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp, ReinterpretOp
from xrelay.dialects.relay.ops.tensor.gather import TakeOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, shape_of, tensor_type
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay import can_evaluate, evaluate_op
from xrelay.passes.graph.rewriting import Emitter
from xrelay.passes.qnn.quantized import known_array

MOST_OPS = 256
"""The maximum number of ops of a function."""


def look_up(emit: Emitter, data: SSAValue, table: Array, name: str) -> SSAValue:
    """Emits a lookup in `table`, which has an element per bit pattern, by the 8-bit numbers in `data`."""
    values = emit.insert(ConstantOp.of(table, name)).result
    unsigned = numpy_dtype(element_type_of(data.type)) == np.uint8
    bits = data if unsigned else emit.call(ReinterpretOp, data, dtype="uint8")
    return emit.call(TakeOp, values, emit.call(CastOp, bits, dtype="int32"), axis=0, mode="fast")


def function_table(quantize: QuantizeOp) -> tuple[SSAValue, Array] | None:
    """Returns the input and the table of the elementwise function that ends in `quantize`, or `None`.

    The function starts at one dequantisation of 8-bit numbers; its other operands are constants of one number.
    """
    ops = _ops_between(quantize)
    if ops is None:
        return None
    start, *path = ops
    values: dict[SSAValue, Array] = {start.operands[0]: _all_numbers(start.operands[0])}
    for op in (start, *path, quantize):
        operands: list[Array] = []
        for operand in op.operands:
            own = values.get(operand)
            own = _one_number(operand) if own is None else own
            if own is None:
                return None
            operands.append(own)
        try:
            result = _evaluated(op, operands)
        except InterpreterError:
            return None
        if not isinstance(result, np.ndarray) or result.shape != (256,):
            return None
        values[op.results[0]] = result
    return start.operands[0], values[quantize.result]


def _ops_between(quantize: QuantizeOp) -> list[RelayOp] | None:
    """The dequantisation and the ops from it to `quantize`, in order; `None` if they are not such a function."""
    found: dict[Operation, None] = {}
    starts: dict[Operation, None] = {}
    shape = shape_of(quantize.result.type)
    pending = [quantize.operands[0]]
    while pending:
        value = pending.pop()
        if _one_number(value) is not None:
            continue
        op = value.op if isinstance(value, OpResult) else None
        if not isinstance(op, RelayOp) or not isinstance(value.type, TensorType) or shape_of(value.type) != shape:
            return None
        if isinstance(op, DequantizeOp):
            starts[op] = None
        elif op not in found:
            if not _is_elementwise(op) or len(found) == MOST_OPS:
                return None
            found[op] = None
            pending += op.operands
    if len(starts) != 1:
        return None
    start = next(iter(starts))
    if not isinstance(start, RelayOp) or numpy_dtype(element_type_of(start.operands[0].type)).itemsize != 1:
        return None
    return [start, *_in_order(found)]


def _in_order(ops: Mapping[Operation, None]) -> list[RelayOp]:
    """`ops` in topological order."""
    ordered: dict[RelayOp, None] = {}
    pending = [op for op in ops if isinstance(op, RelayOp)]
    while pending:
        makers = (operand.op for operand in pending[-1].operands if isinstance(operand, OpResult))
        missing = [op for op in makers if op in ops and op not in ordered and isinstance(op, RelayOp)]
        if missing:
            pending += missing
        else:
            ordered.setdefault(pending.pop())
    return list(ordered)


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


def _all_numbers(data: SSAValue) -> Array:
    return np.arange(256, dtype=np.uint8).view(numpy_dtype(element_type_of(data.type)))


def _evaluated(op: Operation, operands: Sequence[Array]) -> object:
    """The value of `op` for operands of other shapes."""
    types = [
        tensor_type(array.shape, element_type_of(operand.type))
        for array, operand in zip(operands, op.operands, strict=True)
    ]
    result = tensor_type((256,), element_type_of(op.results[0].type))
    probe = type(op).create(operands=Block(arg_types=types).args, result_types=[result], properties=op.properties)
    return evaluate_op(probe, operands)
