"""`relay-check-basic-block-normal-form`: every op stands in the block where its uses meet, or the pass names it.

What: changes nothing; for each op that stands outside the innermost block that holds all its uses, the error names the
op, the block where it stands, and the block where it belongs. All violations are reported together. Why a pass of its
own: lowering runs what stands before it, so an op above its branch is work that one run may not need, or a recursion
that does not end.

Accepted:

    %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
      %e = relay.exp(%x)
      relay.yield %e
    } else {…}

Refused, with "relay.exp stands in the body of @main, its uses meet in the first branch of relay.if":

    %e = relay.exp(%x)
    %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
      relay.yield %e
    } else {…}

Not looked at: kernels, fused groups, functions of several blocks, constants, which cost nothing where they stand, ops
with effects, and ops without a use.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator

from xrelay.dialects.attribute_names import PRIMITIVE
from xrelay.dialects.locations import format_location
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.errors import PassError
from xrelay.passes.graph.effects import side_effect_free_ops
from xrelay.passes.graph.scopes import Scopes

ORDINALS = ("first", "second")


@dataclass(frozen=True)
class RelayCheckBasicBlockNormalFormPass(ModulePass):
    """Check that every op stands where its uses meet; `PassError` with all violations."""

    name = "relay-check-basic-block-normal-form"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Look at every function that is no kernel."""
        found = [
            violation
            for function in op.body.block.ops
            if isinstance(function, FuncOp) and PRIMITIVE not in function.attributes
            for violation in violations(function)
        ]
        if found:
            raise PassError(
                f"relay-check-basic-block-normal-form: {'; '.join(found)}",
                help="run relay-to-basic-block-normal-form",
            )


def violations(function: FuncOp) -> Iterator[str]:
    """What is not in basic block normal form, one sentence each, in the order of the text."""
    if len(function.body.blocks) != 1:
        return
    scopes = Scopes(function)
    if len(scopes.blocks) == 1:
        return  # Without branches there is nothing to stand outside of.
    free = side_effect_free_ops(function)
    for block in scopes.blocks:
        for op in block.ops:
            target = scopes.where_uses_meet(op) if _is_placed(op, free) else None
            if target is not None and target is not block:
                place = format_location(op.location)
                at = f" ({place})" if place is not None else ""
                yield f"{op.name}{at} stands in {_name(block)}, its uses meet in {_name(target)}"


def _is_placed(op: Operation, free: Container[Operation]) -> bool:
    """Whether it matters where `op` stands, and it may be moved; `free` are the ops without side effects."""
    if op.has_trait(IsTerminator) or isinstance(op, ConstantOp):
        return False
    return op in free or isinstance(op, CallOp)


def _name(block: Block) -> str:
    """The block for a reader."""
    op, region = block.parent_op(), block.parent
    if isinstance(op, FuncOp):
        return f"the body of @{op.sym_name.data}"
    if op is None or region is None:
        return "a block without an op around it"
    index = op.regions.index(region)
    if len(op.regions) == 1:
        return f"the body of a {op.name}"
    return f"the {ORDINALS[index] if index < len(ORDINALS) else f'{index + 1}th'} branch of {op.name}"
