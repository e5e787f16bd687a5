"""Constant folding at import: the relay ops of a node are replaced by constants if their results are known.

If the inputs are small constants, the relay interpreter evaluates the ops, so a folded node has exactly the result that
it would have at run time. Otherwise the elements are known from the rules of the ops, as for the shape of a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.relay.ops.qnn.quantize import DequantizeOp
from xrelay.dialects.relay.structure.known_elements import KnownElements
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of, is_static, shape_of
from xrelay.errors import InterpreterError
from xrelay.frontend.onnx.node import FOLD_LIMIT, NodeView, constant_value
from xrelay.frontend.onnx.tensors import MAX_COMPUTED_BYTES
from xrelay.index_algebra.dims import ANY
from xrelay.interpreters.relay import Value, can_evaluate, evaluate_op

WORK_LIMIT = 4096
"""The maximum number of elements of an intermediate result of a folded node."""


def known_arrays(elements: KnownElements, results: Sequence[SSAValue]) -> list[Array] | None:
    """Returns the values of `results` if every element of each is a known number, as for the shape of a tensor."""
    arrays: list[Array] = []
    for result in results:
        found = elements.of(result)
        numbers = [element for element in found or () if isinstance(element, int)]
        if found is None or len(numbers) != len(found) or not is_static(result.type):
            return None
        shape = [extent for extent in shape_of(result.type) if isinstance(extent, int)]
        arrays.append(np.array(numbers, numpy_dtype(element_type_of(result.type))).reshape(shape))
    return arrays


def evaluate_formula(node: NodeView, formula: Callable[[], SSAValue], suffix: str) -> SSAValue:
    """Returns the result of `formula`, which emits ops: a constant if they depend only on constants."""
    last = node.graph.block.last_op
    result = formula()
    ops = node.graph.ops_after(last)
    arrays = fold_ops(ops, [result], MAX_COMPUTED_BYTES, MAX_COMPUTED_BYTES)
    if arrays is None:
        return result
    node.graph.erase(ops)
    return node.emit_constant(arrays[0], suffix)


def fold_ops(
    ops: Sequence[Operation], results: Sequence[SSAValue], most: int = FOLD_LIMIT, work: int = WORK_LIMIT
) -> list[Array] | None:
    """Returns the values of `results`, which `ops` compute from constants; `None` if they are not folded.

    They are folded if every op can be evaluated, and every value from outside of `ops` and every result is a constant
    of at most `most` elements. An op whose operands are outside of its domain (an integer division by zero) is
    not folded: it fails at run time. Neither is the result of a dequantise op; `constant_value` computes its value on
    demand.
    """
    if any(_elements(result.type) > most or isinstance(result.owner, DequantizeOp) for result in results):
        return None
    known: dict[SSAValue, Value] = {}
    for op in ops:
        if not can_evaluate(op) or not _operands_known(op, known, most) or _work(op) > work:
            return None
        try:
            known[op.results[0]] = evaluate_op(op, [known[operand] for operand in op.operands])
        except InterpreterError:
            return None
    values = [known[result] if result in known else constant_value(result) for result in results]
    arrays = [value for value in values if value is not None and not isinstance(value, tuple)]
    return arrays if len(arrays) == len(results) else None


def _operands_known(op: Operation, known: dict[SSAValue, Value], most: int) -> bool:
    """Returns whether every operand is known, and records the constants of earlier nodes in `known`."""
    for operand in op.operands:
        if operand not in known:
            value = constant_value(operand)
            if value is None or value.size > most:
                return False
            known[operand] = value
    return True


def _work(op: Operation) -> float:
    """The largest number of elements of an operand or the result; an extent of 0 counts as 1."""
    return max(_elements(type, least=1) for type in (*op.operand_types, op.results[0].type))


def _elements(type: Attribute, least: int = 0) -> float:
    """The number of elements of a tensor, or of all tensors of a tuple; infinite if it is not known.

    Extents below `least` count as `least`.
    """
    if isinstance(type, TupleType):
        return sum(_elements(field, least) for field in type.types)
    extents = shape_of(type) if isinstance(type, TensorType) else (ANY,)
    return prod(max(extent, least) if isinstance(extent, int) else float("inf") for extent in extents)
