"""Replaces composite ops by their parts."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.structure.composite import CompositeOp, Expansion
from xrelay.dialects.shared.types import is_complete
from xrelay.passes.graph.rewriting import Emitter, rewrite_derived
from xrelay.target.strategy import is_implemented


class ExpandComposite(RewritePattern):
    """Replaces a composite op by its parts. Re-associating if the definition of the op sums in another order.

    Before:

        %y = relay.nn.log_softmax(%x) : (tensor<2x5xf32>) -> tensor<2x5xf32>

    After: the ops that `decompose` of the class creates. The last one replaces `%y`.

    Left alone: an op with unknown operand types, an op that a strategy of the target implements as a whole, and an op
    for which `where` does not hold.
    """

    def __init__(self, where: Callable[[CompositeOp], bool]):
        self._where = where

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Inserts the parts before the op, with its location."""
        if not isinstance(op, CompositeOp) or not all(map(is_complete, op.operand_types)):
            return
        if is_implemented(type(op)) or not self._where(op):
            return
        parts, value = op.decompose_on(op.operands)
        emit = Emitter(rewriter, op)
        for part in parts:
            emit.insert(part)
        emit.replace(value)


def expand_composites(top: Operation, *wanted: Expansion) -> None:
    """Replaces the composite ops below `top` whose expansion is in `wanted`, and such ops among their parts."""
    pattern = ExpandComposite(lambda op: op.expansion in wanted)
    rewrite_derived(top, CompositeOp, pattern)
