"""`relay-to-basic-block-normal-form`: every op stands in the block where all its uses meet.

What: an op whose uses all lie in one branch (or closure) moves there; afterwards an op runs exactly when its block
does, and the function says `relay.form = "bbnf"`. Why: in dataflow form position means nothing, and what one branch
alone needs must not run for the other (it may not even end); every later level runs what stands before it.

Before:

    %e = relay.exp(%x)                                 dataflow form
    %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
      relay.yield %e : tensor<4xf32>
    } else {…}

After:

    %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
      %e = relay.exp(%x)
      relay.yield %e : tensor<4xf32>
    } else {…}

The block is the least common ancestor of the uses. One reverse walk suffices: the users of an op have found their
places before it looks for its own. Left alone: kernels, fused groups, functions of several blocks, ops without a use.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from xrelay.dialects.attribute_names import FORM, PRIMITIVE
from xrelay.passes.graph.effects import side_effect_free_ops
from xrelay.passes.graph.scopes import Scopes
from xrelay.passes.infra.verify import walk_ops

BBNF = "bbnf"


@dataclass(frozen=True)
class RelayToBasicBlockNormalFormPass(ModulePass):
    """Move every op to the block where its uses meet. Exact."""

    name = "relay-to-basic-block-normal-form"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and PRIMITIVE not in function.attributes:
                to_basic_block_normal_form(function)


def to_basic_block_normal_form(function: FuncOp) -> None:
    """Bring one function into basic block normal form; functions in it or in A-normal form stay as they are."""
    form = function.attributes.get(FORM)
    if len(function.body.blocks) != 1 or (isinstance(form, StringAttr) and form.data != "dataflow"):
        return
    scopes, free = Scopes(function), side_effect_free_ops(function)
    # Last first, and what is inside an op before the op: the users of an op are placed before it is.
    for op in reversed(list(walk_ops(function))):
        if op.parent not in scopes.blocks or not op.results or op.has_trait(IsTerminator):
            continue
        if op in free or isinstance(op, CallOp):
            _place(op, scopes)
    function.attributes[FORM] = StringAttr(BBNF)


def _place(op: Operation, scopes: Scopes) -> None:
    """Move `op` to the start of the block where its uses meet, if that is not where it stands."""
    target = scopes.where_uses_meet(op)
    if target is not None and target is not op.parent:
        op.detach()
        Rewriter.insert_op(op, InsertPoint.at_start(target))
