"""`relay-simplify-expr`: expressions of ops that are known to be simpler ones.

What: chains of reshapes, of transposes and changes of layouts, of pads, casts and bounds become one op or none; ops of
the kind `zeros_like`, whose result depends on the type of an operand alone, name the type instead; adding 0 and
multiplying by 1 is nothing; constants of sums and products are joined; `x² + b x y + c y²` becomes a product of two
sums; arguments of a maximum are asked of quantised numbers themselves. Why: importers and other passes leave such
expressions behind, and what is joined here is computed once, when compiling. Re-associating: factors and summands of
constants are joined, and sums of products factored.

Before:

    %a = relay.reshape(%x) {newshape = [16, 4]}
    %b = relay.reshape(%a) {newshape = [8, 8]}
    %c = relay.add(%b, %zero)
    %y = relay.cast(%c) {dtype = f32}                                   which it is

After:

    %y = relay.reshape(%x) {newshape = [8, 8]}

Left alone: ops whose types are not known yet; `…_like` of shapes that are not known; casts in between that lose
something; sums and products whose inner one is used elsewhere too; what broadcasts to a larger shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.shared.types import is_complete
from xrelay.passes.graph.rewriting import rewrite
from xrelay.passes.relay.simplify_numbers import NUMBER_PATTERNS
from xrelay.passes.relay.simplify_shapes import SHAPE_PATTERNS


@dataclass(frozen=True)
class RelaySimplifyExprPass(ModulePass):
    """Replace expressions by simpler ones; see the module's docstring."""

    name = "relay-simplify-expr"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Simplify the module in place."""
        kinds = dict.fromkeys([*SHAPE_PATTERNS, *NUMBER_PATTERNS])
        simplify(op, {kind: [*SHAPE_PATTERNS.get(kind, ()), *NUMBER_PATTERNS.get(kind, ())] for kind in kinds})


def simplify(module: ModuleOp, patterns: Mapping[type[Operation], Sequence[RewritePattern]]) -> None:
    """Apply to ops of known types the first pattern of their class that changes something, until none does."""
    rewrite(module, {kind: FirstThatApplies(several) for kind, several in patterns.items()})


class FirstThatApplies(RewritePattern):
    """The first of several patterns that changes something. As exact as they are.

    Before: an op that some of the patterns match.

    After: what the first of those makes of it.
    """

    def __init__(self, patterns: Sequence[RewritePattern]):
        self._patterns = patterns

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Try them in order."""
        if not all(map(is_complete, op.operand_types)) or not all(map(is_complete, op.result_types)):
            return
        for pattern in self._patterns:
            pattern.match_and_rewrite(op, rewriter)
            if rewriter.has_done_action:
                return
