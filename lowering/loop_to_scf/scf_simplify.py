"""`scf-simplify`: `canonicalize` and `cse` in two traversals, for programs in which hardly anything folds.

`convert-loop-to-scf` folds constants itself, so none of the hundreds of patterns that `canonicalize` tries on a kernel
applies; only dead code and common subexpressions are left. xDSL's drivers keep worklists and query each op's traits
again and again; here they are queried once per class. If something does fold, `canonicalize` runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriter, PatternRewriteWalker
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern
from xdsl.transforms.common_subexpression_elimination import cse
from xdsl.transforms.dead_code_elimination import is_trivially_dead, region_dce

from xrelay.dialects.shared.op_lists import all_ops
from xrelay.lowering.loop_to_scf.op_facts import Effects, facts_of
from xrelay.lowering.loop_to_scf.share_equal_ops import share_equal_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass


@dataclass(frozen=True)
class ScfSimplifyPass(XRelayPass):
    """Erases dead ops, folds, and merges common subexpressions.

    ```
    %zero = arith.constant 0 : index                       %zero = arith.constant 0 : index
    %unused = arith.addi %i, %n : index                    %a = memref.load %X[%i] : memref<8xf32>
    %a = memref.load %X[%i] : memref<8xf32>                scf.for %k = %zero to %n step %one {
    scf.for %k = %zero to %n step %one {            →        memref.store %a, %Y[%k] : memref<8xf32>
      %again = arith.constant 0 : index                      %b = memref.load %X[%zero] : memref<8xf32>
      memref.store %a, %Y[%k] : memref<8xf32>                …
      %b = memref.load %X[%again] : memref<8xf32>          }
      …
    }
    ```

    An op is replaced with an equal op that precedes it in its block or in a block around it. Loads are merged only
    within a block without a write between them, except loads from an argument that is marked `llvm.noalias` and only
    read. Apart from those loads, the result is that of `canonicalize,cse`. A function with branches between blocks is
    left to these two passes, and a function to which a pattern applies is canonicalized first.
    """

    name = "scf-simplify"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Simplifies every function of the module in place."""
        canonical = GreedyRewritePatternApplier([CanonicalizationRewritePattern()], ctx=ctx, folding_enabled=True)
        for function in op.ops:
            if isinstance(function, FuncOp) and function.body.blocks:
                _simplify(function, PatternRewriteWalker(canonical, post_walk_func=region_dce))


def _simplify(function: FuncOp, canonicalizer: PatternRewriteWalker) -> None:
    ops = all_ops(function)
    if any(region.first_block is not region.last_block for op in ops if op.regions for region in op.regions):
        canonicalizer.rewrite_region(function.body)
        cse(function)
        return
    alive = _erase_dead(ops)
    if _changes_something(alive):
        canonicalizer.rewrite_region(function.body)
    share_equal_ops(function)


def _erase_dead(ops: list[Operation]) -> list[Operation]:
    """Erases unused ops without effects from `ops`, which are in the order of the text; returns the others."""
    alive: list[Operation] = []
    observed: set[Operation] = set()
    for op in reversed(ops):
        facts, is_dead = facts_of(op), False
        if facts.may_be_erased and op not in observed and not _is_used(op):
            is_dead = not op.regions or is_trivially_dead(op)
        if is_dead:
            op.detach()
            op.erase()
            continue
        alive.append(op)
        if (op in observed or facts.effects > Effects.READS) and (parent := op.parent_op()) is not None:
            observed.add(parent)
    return alive


def _is_used(op: Operation) -> bool:
    return bool([result for result in op.results if result.first_use is not None])


def _changes_something(ops: list[Operation]) -> bool:
    """Whether an op folds or a pattern applies to it; the first such pattern has then been applied."""
    for op in ops:
        facts = facts_of(op)
        if not facts.is_foldable(op):
            continue
        if facts.folder is not None and facts.folder.fold(op) is not None:
            return True
        rewriter = PatternRewriter(op)  # inserts before this op
        for pattern in facts.patterns:
            pattern.match_and_rewrite(op, rewriter)
            if rewriter.has_done_action:
                return True
    return False
