"""`relay-div-to-mul`: replaces division by a constant by multiplication with its reciprocal.

The reciprocals of float constants are computed at compile time. Processors multiply several times as fast as they
divide, and products with constants can be combined, unlike quotients. Re-associating: the reciprocal and the product
are both rounded.

Before:

    %c = relay.constant dense<4.0> : tensor<f32>
    %y = relay.divide(%x, %c) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>

After:

    %r = relay.constant dense<0.25> : tensor<f32>
    %y = relay.multiply(%x, %r) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>

Left alone: integers, whose quotients are truncated; divisors with an element that is zero, infinite or NaN, or whose
reciprocal is infinite or subnormal. With `continuous`, also quotients that a rounding, a comparison or a conversion to
integers depends on: 49 · (1 / 49) is less than 1, and its floor is 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.ops.tensor.arithmetic import DivideOp, MultiplyOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.passes.graph.discontinuities import values_of_discontinuities
from xrelay.passes.graph.rewriting import Emitter, constant_of, rewrite
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates


@dataclass(frozen=True)
class RelayDivToMulPass(XRelayPass):
    """Multiplies by reciprocals of constants; see the module's docstring."""

    name = "relay-div-to-mul"
    numerics = reassociates("the reciprocals of divisors are rounded")
    per_function = True

    continuous: bool = field(
        default=False, metadata={"help": "keep quotients that a rounding or a comparison depends on"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        kept = frozenset(values_of_discontinuities(op) if self.continuous else ())
        rewrite(op, {DivideOp: MultiplyByReciprocal(kept)})


class MultiplyByReciprocal(RewritePattern):
    """Replaces a quotient by a constant by a product with its reciprocal; see the module's docstring. Re-associating.

    Before:

        %y = relay.divide(%x, %four)

    After:

        %y = relay.multiply(%x, %quarter)
    """

    def __init__(self, kept: frozenset[SSAValue] = frozenset()):
        """`kept` are quotients that stay."""
        self._kept = kept

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Multiplies if each element of the divisor has a normal reciprocal, unless the quotient is kept."""
        divisor = None if op.results[0] in self._kept else constant_of(op.operands[1])
        reciprocal = None if divisor is None else _reciprocal(divisor)
        if reciprocal is not None:
            emit = Emitter(rewriter, op)
            emit.replace(emit.call(MultiplyOp, op.operands[0], emit.constant(reciprocal)))


def _reciprocal(divisor: Array) -> Array | None:
    """Returns the reciprocal of each element, or None if one is not a normal number."""
    dtype = divisor.dtype
    if dtype.kind != "f" and dtype.name != "bfloat16":
        return None
    # bfloat16 has the exponents of f32.
    limits = np.finfo(dtype if dtype.kind == "f" else np.float32)
    with np.errstate(all="ignore"):
        result = np.asarray(np.array(1, dtype) / divisor)
        size = np.abs(result.astype(np.float64))
    normal = bool(np.all((size >= float(limits.tiny)) & (size <= float(limits.max))))
    return result if normal else None
