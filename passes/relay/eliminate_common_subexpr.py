"""`relay-eliminate-common-subexpr`: what is computed twice is computed once.

What: two ops without side effects of the same kind, with the same attributes and the same operands, are one op; tuples,
fields and constants too. Why not xDSL's `cse`: it knows single blocks only; here a branch uses what is computed around
it. Commutative operands in another order are another op. Exact.

Before:

    %a = relay.add(%y, %c)
    %b = relay.add(%y, %c)
    %r = relay.multiply(%a, %b)

After:

    %a = relay.add(%y, %c)
    %r = relay.multiply(%a, %a)

Left alone: bindings, ops with regions, `relay.annotation.stop_fusion`, kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import is_side_effect_free

from xrelay.dialects.relay.annotation import StopFusionOp
from xrelay.dialects.relay.constant import ConstantOp
from xrelay.dialects.relay.op_base import RelayOp
from xrelay.dialects.relay.scope import LetOp
from xrelay.passes.relay.fuse_ops import PRIMITIVE
from xrelay.passes.relay.structure import op_key


@dataclass(frozen=True)
class RelayEliminateCommonSubexprPass(ModulePass):
    """Compute each value once. Exact."""

    name = "relay-eliminate-common-subexpr"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        eliminate_common_subexpressions(op)


def eliminate_common_subexpressions(module: ModuleOp, *, skip: Callable[[Operation], bool] | None = None) -> int:
    """Merge equal ops of every function that is not a kernel; gives the number of ops erased.

    Ops for which `skip` is true are left alone, and nothing is merged into them.
    """
    erased = 0
    for function in module.body.block.ops:
        if isinstance(function, FuncOp) and PRIMITIVE not in function.attributes:
            erased += sum(_merge_in(block, skip) for block in function.body.blocks)
    return erased


@dataclass
class _Scope:
    """The ops seen in a block so far, and where to go on in it."""

    next_op: Operation | None
    seen: dict[Hashable, Operation]


def _merge_in(block: Block, skip: Callable[[Operation], bool] | None) -> int:
    erased = 0
    scopes = [_Scope(block.first_op, {})]
    while scopes:
        op = scopes[-1].next_op
        if op is None:
            scopes.pop()
            continue
        scopes[-1].next_op = op.next_op
        if op.regions:
            scopes.extend(_Scope(inner.first_op, {}) for region in op.regions for inner in region.blocks)
        elif _may_merge(op) and not (skip is not None and skip(op)):
            erased += _merge(op, scopes)
    return erased


def _may_merge(op: Operation) -> bool:
    if isinstance(op, LetOp | StopFusionOp):
        return False
    return isinstance(op, RelayOp | ConstantOp) and is_side_effect_free(op)


def _merge(op: Operation, scopes: list[_Scope]) -> int:
    """Replace `op` by an equal one that its place sees, or remember it; how many ops were erased."""
    key = (op_key(op), op.operands)
    for scope in scopes:
        equal = scope.seen.get(key)
        if equal is not None:
            Rewriter.replace_op(op, [], equal.results)
            return 1
    scopes[-1].seen[key] = op
    return 0
