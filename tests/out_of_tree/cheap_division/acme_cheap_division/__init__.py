"""The pass `acme-cheap-division`, which replaces divisions by constants by multiplications, and a table of patterns."""

from dataclasses import dataclass, field

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.extend.ops import get_relay_op
from xrelay.extend.passes import register_pass
from xrelay.extend.patterns import TableRow, is_constant, is_op, register_table, wildcard
from xrelay.extend.rewriting import Emitter, constant_of, rewrite

DIVIDE, MULTIPLY = get_relay_op("divide"), get_relay_op("multiply")


@dataclass(frozen=True)
class MultiplyByReciprocal(RewritePattern):
    """`divide(%x, c)` → `multiply(%x, 1 / c)` for a float c."""

    exact: bool

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """With `exact`, keeps divisions whose reciprocal is rounded."""
        divisor = constant_of(op.operands[1])
        if divisor is None or divisor.shape or divisor.dtype.kind != "f" or not np.isfinite(1 / divisor):
            return
        if not self.exact or abs(np.frexp(divisor)[0]) == 0.5:
            emit = Emitter(rewriter, op)
            emit.replace(emit.call(MULTIPLY, op.operands[0], emit.scalar(float(1 / divisor), op.operands[1].type)))


@dataclass(frozen=True)
class AcmeCheapDivisionPass(ModulePass):
    """Multiply by the reciprocal of a constant of rank 0 instead of dividing by it."""

    name = "acme-cheap-division"
    exact: bool = field(default=False, metadata={"help": "only where the reciprocal is not rounded"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites every division of the module."""
        rewrite(op, {DIVIDE: MultiplyByReciprocal(self.exact)})


register_pass(AcmeCheapDivisionPass, at="after relay-fold-constant", opt_level=1)
register_table("acme", lambda: [TableRow("acme.scale", is_op("divide")(wildcard(), is_constant()))])
