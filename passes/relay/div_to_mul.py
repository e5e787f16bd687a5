"""`relay-div-to-mul`: a division by a constant is a product with its reciprocal.

What: the divisors are constants of floats, whose reciprocals are taken here. Why: a processor multiplies several times
as fast as it divides, and products with constants join with others where quotients do not. Re-associating: the
reciprocal is rounded, and the product again.

Before:

    %c = relay.constant dense<4.0> : tensor<f32>
    %y = relay.divide(%x, %c) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>

After:

    %r = relay.constant dense<0.25> : tensor<f32>
    %y = relay.multiply(%x, %r) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>

Left alone: integers, whose quotients are truncated; divisors one of which is zero, infinite or NaN, or so small or
large that its reciprocal is infinite or subnormal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.ops.tensor.arithmetic import DivideOp, MultiplyOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.passes.graph.rewriting import Emitter, constant_of, rewrite


@dataclass(frozen=True)
class RelayDivToMulPass(ModulePass):
    """Multiply by reciprocals of constants; see the module's docstring."""

    name = "relay-div-to-mul"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        rewrite(op, {DivideOp: MultiplyByReciprocal()})


class MultiplyByReciprocal(RewritePattern):
    """A quotient by a constant → a product; see the module's docstring. Re-associating.

    Before:

        %y = relay.divide(%x, %four)

    After:

        %y = relay.multiply(%x, %quarter)
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Where each divisor has a reciprocal."""
        divisor = constant_of(op.operands[1])
        reciprocal = None if divisor is None else _reciprocal(divisor)
        if reciprocal is not None:
            emit = Emitter(rewriter, op)
            emit.replace(emit.call(MultiplyOp, op.operands[0], emit.insert(ConstantOp.of(reciprocal)).result))


def _reciprocal(divisor: Array) -> Array | None:
    """One over each element; `None` where one of these is no normal number."""
    dtype = divisor.dtype
    if dtype.kind != "f" and dtype.name != "bfloat16":
        return None
    # A bfloat16 has the exponents of an f32.
    limits = np.finfo(dtype if dtype.kind == "f" else np.float32)
    with np.errstate(all="ignore"):
        result = np.asarray(np.array(1, dtype) / divisor)
        size = np.abs(result.astype(np.float64))
    normal = bool(np.all((size >= float(limits.tiny)) & (size <= float(limits.max))))
    return result if normal else None
