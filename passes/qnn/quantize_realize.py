"""`relay-quantize-realize`: converts a program that `relay-quantize-annotate` has rounded to integer arithmetic.

Applies `relay-fake-quantization-to-integer` between the roundings, and after the last rounding: the 32-bit sums of the
last product are dequantised. Then it removes the pairs of quantisation and dequantisation that
`relay-quantize-annotate` has inserted and no integer op uses, so that an op that stays in floats reads its original
operand. The user's own roundings stay.

Before:

    %a = relay.qnn.dequantize(%q, %s, %z) {relay.simulated}
    %b = relay.qnn.dequantize(%v, %t, %z) {relay.simulated}
    %c = relay.nn.conv2d(%a, %b)
    %y = relay.nn.relu(%c)

After:

    %c = relay.qnn.conv2d(%q, %v, %z, %z, %s, %t)            of i32
    %d = relay.maximum(%c, %zero)
    %y = relay.qnn.dequantize(%d, %u, %zero)                 %u is the product of %s and %t

Quantised constants are evaluated: the program contains 8-bit weights. Constants that are added to 32-bit sums are
rounded to their steps, as biases are. Results differ from the annotated program by at most one step at each place where
integers are rounded. Refuses, with a remark, the regions that `relay-fake-quantization-to-integer` refuses. A program
without roundings is unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.ops.qnn.quantize import DequantizeOp, QuantizeOp, RequantizeOp
from xrelay.dialects.relay.ops.tensor.unary import ClipOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.weights import WeightAttr
from xrelay.dialects.shared.attribute_names import SIMULATED
from xrelay.errors import PassError
from xrelay.interpreters.relay import evaluate_op
from xrelay.passes.graph.remarks import report
from xrelay.passes.graph.rewriting import Emitter, constant_of, owner_of, rewrite
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import XRelayPass, quantises
from xrelay.passes.qnn.integer_regions import IntegerRegions

NAME = "relay-quantize-realize"

ROUNDINGS = ("UPWARD", "TONEAREST")


@dataclass(frozen=True)
class RelayQuantizeRealizePass(XRelayPass):
    """Converts an annotated program to integer arithmetic; see the module's docstring."""

    name = NAME
    numerics = quantises("a result may be one step from the rounded float")
    per_function = True

    rounding: str = field(
        default="UPWARD",
        metadata={"help": "rounding of halves in new requantisations: UPWARD, or TONEAREST (away from 0)"},
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        if self.rounding not in ROUNDINGS:
            raise PassError(f"{NAME}: rounding is {self.rounding!r}", help=f"it is {' or '.join(ROUNDINGS)}")
        before = {each for each in walk_ops(op) if isinstance(each, RequantizeOp)}
        regions = IntegerRegions(op, frozenset(), name=NAME, rounds_constants=True)
        regions.rewrite(hard_fail=False)
        regions.rewrite_single_ops()
        for each in walk_ops(op):
            if isinstance(each, RequantizeOp) and each not in before:
                each.rounding = StringAttr(self.rounding)
        _take_back(op)
        rewrite(op, {QuantizeOp: EvaluateWeight()})
        report(regions.remarks.all)


class EvaluateWeight(RewritePattern):
    """Replaces a quantised constant by its integers. Exact.

    Before:

        %v = relay.qnn.quantize(%w, %t, %z)                   of constants

    After:

        %v = relay.constant #relay.weight<"w.i8", …>
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites `op` if all its operands are constants."""
        known = [constant for operand in op.operands if (constant := constant_of(operand)) is not None]
        if not isinstance(op, QuantizeOp) or len(known) != len(op.operands):
            return
        emit = Emitter(rewriter, op)
        integers = evaluate_op(op, known)
        assert isinstance(integers, np.ndarray), "a quantisation has one result"
        emit.replace(emit.constant(integers, f"{_name(op.operands[0])}.{op.out_dtype}"))


def _name(value: SSAValue) -> str:
    """The name of a constant weight."""
    constant = owner_of(value, ConstantOp)
    return constant.value.data.name if constant is not None and isinstance(constant.value, WeightAttr) else "constant"


def _take_back(module: ModuleOp) -> None:
    """Replaces annotations on float ops by the values that they round."""
    for op in [each for each in walk_ops(module) if isinstance(each, DequantizeOp) and SIMULATED in each.attributes]:
        before = _rounded_float(op.operands[0])
        if before is not None and before.type == op.result.type:
            op.result.replace_all_uses_with(before)
        else:
            del op.attributes[SIMULATED]


def _rounded_float(integers: SSAValue) -> SSAValue | None:
    """The floats that were rounded to `integers`; `None` if these come from integers."""
    clip = owner_of(integers, ClipOp)
    if clip is not None:
        integers = clip.operands[0]
    quantize = owner_of(integers, QuantizeOp)
    return None if quantize is None else quantize.operands[0]
