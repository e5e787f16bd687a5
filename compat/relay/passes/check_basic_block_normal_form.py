"""`relay-check-basic-block-normal-form`: refuses ops outside of the block where their uses meet.

Changes nothing. The block of an op is the innermost block that contains all its uses; a use in a closure or loop is a
use by the closure or loop. The error names each op in another block, that block, and the block of its uses. Lowering
runs the ops of a block in order, so an op before the branch of its uses may be work without a use, or a recursion that
does not end.

Accepted:

    %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
      %e = relay.exp(%x)
      relay.yield %e
    } else {…}

Refused, with "relay.exp is in the body of @main, its uses meet in the first branch of relay.if":

    %e = relay.exp(%x)
    %r = relay.if %c : tensor<i1> -> tensor<4xf32> {
      relay.yield %e
    } else {…}

Not checked: kernels, fused groups, functions of several blocks, constants and lets, which cost nothing in any block,
ops with effects, and ops without a use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation
from xdsl.traits import IsTerminator

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.shared.locations import format_location
from xrelay.errors import PassError
from xrelay.passes.graph.effects import pure_functions, side_effect_free_ops
from xrelay.passes.graph.scopes import Scopes, graph_functions
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass

ORDINALS = ("first", "second")


@dataclass(frozen=True)
class RelayCheckBasicBlockNormalFormPass(XRelayPass):
    """Checks that every op is in the block where its uses meet; raises `PassError` with all violations."""

    name = "relay-check-basic-block-normal-form"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Checks every function except kernels."""
        pure_calls = pure_functions(op)
        found = [violation for function in graph_functions(op) for violation in violations(function, pure_calls)]
        if found:
            raise PassError(
                f"relay-check-basic-block-normal-form: {'; '.join(found)}",
                help="run relay-to-basic-block-normal-form",
            )


def violations(function: FuncOp, pure_calls: Collection[str]) -> Iterator[str]:
    """Yields a message for each op that is not in basic block normal form, in the order of the text."""
    if len(function.body.blocks) != 1:
        return
    scopes = Scopes(function)
    if len(scopes.blocks) == 1:
        return  # Without branches all ops are in one block.
    free = side_effect_free_ops(function, pure_calls)
    for block in scopes.blocks:
        for op in block.ops:
            if op not in free or op.has_trait(IsTerminator) or isinstance(op, ConstantOp | LetOp):
                continue
            target = scopes.where_uses_meet(op)
            if target is not None and target is not block:
                yield f"{_op_and_block(op, block)}, its uses meet in {_name(target)}"


def _op_and_block(op: Operation, block: Block) -> str:
    place = format_location(op.location)
    return f"{op.name}{f' ({place})' if place is not None else ''} is in {_name(block)}"


def _name(block: Block) -> str:
    """Returns a description of the block for messages."""
    op, region = block.parent_op(), block.parent
    if isinstance(op, FuncOp):
        return f"the body of @{op.sym_name.data}"
    if op is None or region is None:
        return "a block without an op around it"
    index = op.regions.index(region)
    if len(op.regions) == 1:
        return f"the body of a {op.name}"
    return f"the {ORDINALS[index] if index < len(ORDINALS) else f'{index + 1}th'} branch of {op.name}"
