"""`qnn-select-integers`: moves and selects quantised numbers themselves, not the floats that they represent.

Maxima of windows, transpositions and similar ops between a dequantisation and a quantisation with the same scale and
zero point have the same results on the integers, which need a quarter of the memory. Exact: an integer that is
dequantised and quantised again is the same integer.

Before:

    %x = relay.qnn.dequantize(%q, %s, %z)                        %q : ui8; %s and %z are constant numbers
    %m = relay.nn.max_pool2d(%x) {pool_size = [3, 3]}
    %y = relay.qnn.quantize(%m, %s, %z) {out_dtype = ui8}

After:

    %y = relay.nn.max_pool2d(%q) {pool_size = [3, 3]}

Left alone: other scales, zero points or types; integers of 32 bits, and scales for which floats overflow or lose
digits; values with other uses; ops that read several tensors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.quantization import Quantization
from xrelay.dialects.relay.ops.qnn.quantize import DequantizeOp, QuantizeOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.graph.rewriting import Emitter, rewrite, rewrite_once
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.simplify_numbers import uniform_number

LEAST, MOST = 1e-30, 1e30
"""The limits of the scales for which products with integers have all digits in f32."""

MAX_BYTES = 2
"""The greatest size of integers that f32 represents with one more digit, so that quotients are rounded to them."""


@dataclass(frozen=True)
class QnnSelectIntegersPass(XRelayPass):
    """Moves and selects quantised numbers; see the module's docstring."""

    name = "qnn-select-integers"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        remarks = Remarks(self.name)
        rewrite_once(op, QuantizeOp, SelectIntegers(remarks))
        rewrite(op, {})
        report(remarks.all)


class SelectIntegers(RewritePattern):
    """Applies the ops between a dequantisation and a quantisation to the integers; see the module's docstring."""

    def __init__(self, remarks: Remarks):
        self._remarks = remarks

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if the ops before it only move or select elements of a dequantised tensor."""
        if not isinstance(op, QuantizeOp):
            return
        between, source = _ops_before(op.operands[0])
        if not isinstance(source, DequantizeOp) or not between or not _is_inverse(op, source):
            return
        emit, value = Emitter(rewriter, op), source.operands[0]
        for each in reversed(between):
            properties = {name: given for name, given in each.properties.items() if name != "out_dtype"}
            value = emit.insert(type(each).typed([value, *each.operands[1:]], properties)).results[0]
        self._remarks.applied(op, "integers are moved and selected")
        emit.replace(value)


def _ops_before(value: SSAValue) -> tuple[list[RelayOp], Operation | None]:
    """Returns the ops before `value` that move or select elements, the last first, and the op before them."""
    found: list[RelayOp] = []
    while value.has_one_use() and isinstance(owner := value.owner, RelayOp) and _selects(owner):
        found.append(owner)
        value = owner.operands[0]
    return found, value.owner if isinstance(value.owner, Operation) else None


def _selects(op: RelayOp) -> bool:
    """Whether the elements of the result of an op are those of its only operand."""
    if op.QUANTIZATION not in (Quantization.MOVEMENT, Quantization.CHOICE) or len(op.operands) != 1:
        return False
    types = op.operands[0].type, op.results[0].type
    return all(isinstance(each, TensorType) and each.element_type == f32 for each in types)


def _is_inverse(op: QuantizeOp, source: DequantizeOp) -> bool:
    """Whether a quantisation of dequantised integers yields the same integers."""
    scale, zero_point = uniform_number(op.operands[1]), uniform_number(op.operands[2])
    if scale is None or zero_point is None or not LEAST < scale < MOST or abs(zero_point) > np.iinfo(np.uint16).max:
        return False
    integer = element_type_of(source.operands[0].type)
    is_short = numpy_dtype(integer).itemsize <= MAX_BYTES and element_type_of(op.results[0].type) == integer
    return is_short and (scale, zero_point) == (uniform_number(source.operands[1]), uniform_number(source.operands[2]))
