"""Adds a pass to the compiler: `divide(x, c)` becomes `multiply(x, 1 / c)`."""

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

import xrelay
from xrelay import transform
from xrelay.extend.ops import get_relay_op
from xrelay.extend.passes import register_pass
from xrelay.extend.rewriting import Emitter, constant_of, rewrite

DIVIDE, MULTIPLY = get_relay_op("divide"), get_relay_op("multiply")


class MultiplyByReciprocal(RewritePattern):
    """Replaces a division by a constant number."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Keeps divisions by other values."""
        divisor = constant_of(op.operands[1])
        if divisor is not None and not divisor.shape and divisor != 0:
            emit = Emitter(rewriter, op)
            emit.replace(emit.call(MULTIPLY, op.operands[0], emit.scalar(float(1 / divisor), op.operands[1].type)))


@dataclass(frozen=True)
class AcmeMultiplyPass(ModulePass):
    """Multiply by the reciprocal of a constant instead of dividing by it."""

    name = "acme-multiply"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the divisions of the module."""
        rewrite(op, {DIVIDE: MultiplyByReciprocal()})


register_pass(AcmeMultiplyPass, at="after relay-fold-constant", opt_level=1)
module = xrelay.parse("""
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<8.0> : tensor<f32>
  %y = relay.divide(%x, %c) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
""")
print(transform.create_pass("acme-multiply")(module))  # the pass alone
print(xrelay.compile(module).run([np.arange(4, dtype=np.float32)])[0])  # the compiler, which runs the pass at its point
