"""`relay-simplify-expr`: replaces expressions by simpler ones.

Importers and other passes leave such expressions:

- Chains of reshapes, of transposes and layout transforms, of pads, of casts and of clips become one op or disappear.
- Ops such as `zeros_like`, whose result depends only on the type of an operand, become ops with this type (`zeros`).
- Additions of 0 and multiplications by 1 disappear.
- Constants in chains of sums and products are combined, so that they are computed at compile time.
- `x² + b x y + c y²` becomes a product of two sums.
- `argmax`, `argmin` and `argsort` of dequantised numbers use the integers.

Not exact: combined constants and factored sums change rounding.

Before:

    %a = relay.reshape(%x) {newshape = [16, 4]}
    %b = relay.reshape(%a) {newshape = [8, 8]}
    %c = relay.add(%b, %zero)
    %y = relay.cast(%c) {dtype = f32}                                   %c is f32

After:

    %y = relay.reshape(%x) {newshape = [8, 8]}

Not changed: ops whose types are not inferred yet; `…_like` of dynamic shapes; casts through a type that loses
information; inner sums and products with other uses; operands that are broadcast to a larger shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.shared.types import is_complete
from xrelay.passes.graph.rewriting import rewrite
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.passes.relay.simplify_numbers import NUMBER_PATTERNS
from xrelay.passes.relay.simplify_shapes import SHAPE_PATTERNS


@dataclass(frozen=True)
class RelaySimplifyExprPass(XRelayPass):
    """Replaces expressions by simpler ones; see the module's docstring."""

    name = "relay-simplify-expr"
    numerics = reassociates("constants in sums and products are combined, and binomials become products of sums")
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Simplifies the module in place."""
        kinds = dict.fromkeys([*SHAPE_PATTERNS, *NUMBER_PATTERNS])
        simplify(op, {kind: [*SHAPE_PATTERNS.get(kind, ()), *NUMBER_PATTERNS.get(kind, ())] for kind in kinds})


def simplify(module: ModuleOp, patterns: Mapping[type[Operation], Sequence[RewritePattern]]) -> None:
    """Applies to each op with known types the first pattern of its class that matches, until no pattern matches."""
    rewrite(module, {kind: ApplyFirstPattern(several) for kind, several in patterns.items()})


class ApplyFirstPattern(RewritePattern):
    """Applies the first of several patterns that matches. Exact if the patterns are.

    Before: an op that some of the patterns match.

    After: the result of the first of these patterns.
    """

    def __init__(self, patterns: Sequence[RewritePattern]):
        self._patterns = patterns

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Tries the patterns in order."""
        if not all(map(is_complete, op.operand_types)) or not all(map(is_complete, op.result_types)):
            return
        for pattern in self._patterns:
            pattern.match_and_rewrite(op, rewriter)
            if rewriter.has_done_action:
                return
