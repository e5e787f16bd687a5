"""`qnn-fold-quantize-scale`: divides the constants of linear ops by the scale of a following quantisation.

A layer of a quantised network multiplies integers by scales, adds a bias or another layer, and divides by the scale of
its result. The quotient of each element takes longer than all other ops of the layer, so the pass divides the scales
and biases instead. Sums, concatenations, `nn.relu`, pools, means, maxima, and ops that only move elements are
homogeneous: scaled operands scale the result. For a convolution or matrix product, the weight suffices. The pass
re-associates: numbers that are almost halfway between two steps may be rounded to the other one. Other engines multiply
by a rounded ratio of scales, too.

Before:

    %a = relay.multiply(%p, %s)                                      %s, %b : constants
    %y = relay.nn.relu(relay.add(%a, %b))
    %q = relay.qnn.quantize(%y, %t, %z)                              %t : a constant number

After:

    %a = relay.multiply(%p, %u)                                      %u : %s / %t
    %y = relay.nn.relu(relay.add(%a, %c))                            %c : %b / %t
    %q = relay.qnn.quantize(%y, %one, %z)

Left alone: scales that are no constant number; operands of linear ops, and weights of products, that are neither
constant, nor dequantised, nor multiplied by a constant; linear ops with several uses; quotients of scales that f32 does
not represent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, TupleType, f32
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.quantization import Quantization
from xrelay.dialects.relay.ops.nn.activation import ReluOp
from xrelay.dialects.relay.ops.qnn.quantize import DequantizeOp, QuantizeOp
from xrelay.dialects.relay.ops.tensor.arithmetic import MultiplyOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.types import is_complete
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.graph.rewriting import Emitter, constant_of, float_range, rewrite, rewrite_once
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.passes.qnn.integer_rules import float_constant

_UNARY = {Quantization.MOVEMENT, Quantization.CHOICE, Quantization.MEAN}


@dataclass(frozen=True)
class QnnFoldQuantizeScalePass(XRelayPass):
    """Divides constants by the scales of quantisations; see the module's docstring."""

    name = "qnn-fold-quantize-scale"
    numerics = reassociates("quotients by a scale are products with a rounded quotient of scales")
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        remarks = Remarks(self.name)
        rewrite_once(op, QuantizeOp, DivideConstants(remarks))
        rewrite(op, {})
        report(remarks.all)


class DivideConstants(RewritePattern):
    """Divides the constants of the linear ops before a quantisation by its scale. Re-associates.

    Before:

        %q = relay.qnn.quantize(relay.multiply(%p, %s), %t, %z)

    After:

        %q = relay.qnn.quantize(relay.multiply(%p, %u), %one, %z)

    """

    def __init__(self, remarks: Remarks):
        self._remarks = remarks

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if all values that linear ops combine have a constant factor."""
        if not isinstance(op, QuantizeOp):
            return
        scale, reads = float_constant(op.output_scale), _factor_reads(op)
        if scale is None or scale.size != 1 or scale == 1 or reads is None:
            return
        quotients = [_quotient(factor.array, scale) for _, _, factor in reads]
        if any(quotient is None for quotient in quotients):
            return
        for (reader, index, factor), quotient in zip(reads, quotients, strict=True):
            if quotient is not None:
                reader.operands[index] = factor.replace(quotient, rewriter)
                rewriter.handle_operation_modification(reader)
        op.operands[1] = Emitter(rewriter, op).constant(np.ones_like(scale))
        self._remarks.applied(op, "constants are divided by its scale")


@dataclass(frozen=True)
class _Factor:
    """A constant, or an op with the constant operand `index` whose result is proportional to it."""

    op: RelayOp | ConstantOp
    index: int
    array: Array

    def replace(self, array: Array, rewriter: PatternRewriter) -> SSAValue:
        """Returns the result for another constant."""
        emit = Emitter(rewriter, self.op)
        constant = emit.constant(array)
        if isinstance(self.op, ConstantOp):
            return constant
        operands = [constant if index == self.index else each for index, each in enumerate(self.op.operands)]
        return emit.insert(type(self.op).typed(operands, self.op.properties)).results[0]


def _factor_reads(op: QuantizeOp) -> list[tuple[Operation, int, _Factor]] | None:
    """Returns the operands, of linear ops before `op` or of itself, that have a constant factor.

    Each is a reader with the number of the operand. None if an operand of these ops has no constant factor.
    """
    found: list[tuple[Operation, int, _Factor]] = []
    pending: list[tuple[Operation, int]] = [(op, 0)]
    while pending:
        reader, index = pending.pop()
        value = reader.operands[index]
        if not isinstance(value, OpResult) or not _is_f32(value.type):
            return None
        if (factor := _factor(value)) is not None:
            found.append((reader, index, factor))
        elif value.has_one_use() and (indices := _scaled_operands(value.op)):
            pending += [(value.op, each) for each in indices]
        else:
            return None
    return found


def _factor(value: OpResult) -> _Factor | None:
    """Returns the constant factor of a value, or None."""
    op = value.op
    if isinstance(op, ConstantOp):
        array = constant_of(value)
        return None if array is None else _Factor(op, 0, array)
    if not isinstance(op, MultiplyOp | DequantizeOp):
        return None
    positions = (1, 0) if isinstance(op, MultiplyOp) else (1,)
    known = ((index, float_constant(op.operands[index])) for index in positions)
    return next((_Factor(op, index, array) for index, array in known if array is not None), None)


def _is_f32(type: Attribute) -> bool:
    """Whether a type is that of a tensor, or of tensors in a tuple, in f32."""
    fields = type.types.data if isinstance(type, TupleType) else (type,)
    return all(isinstance(field, TensorType) and is_complete(field) and field.element_type == f32 for field in fields)


def _scaled_operands(op: Operation) -> range:
    """Returns the operands whose positive factors are a factor of the result; an empty range for a nonlinear op."""
    kind = op.QUANTIZATION if isinstance(op, RelayOp) else None
    if kind is Quantization.PRODUCT:
        return range(1, 2)
    is_linear = isinstance(op, ReluOp | TupleOp) or kind is Quantization.JOIN
    return range(len(op.operands) if is_linear or (kind in _UNARY and len(op.operands) == 1) else 0)


def _quotient(array: Array, scale: Array) -> Array | None:
    """Returns a constant divided by a scale, or None if f32 does not represent all quotients."""
    quotients = array.astype(np.float64) / scale.astype(np.float64).reshape(())
    least, most = float_range(np.dtype(np.float32))
    sizes = np.abs(quotients[quotients != 0])
    return None if ((sizes < least) | (sizes > most)).any() else quotients.astype(np.float32)
