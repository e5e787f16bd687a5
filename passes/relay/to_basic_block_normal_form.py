"""`relay-to-basic-block-normal-form`: moves each op to the block where its uses meet.

What: an op whose uses all lie in one branch moves there, and the function says `relay.form = "bbnf"`. Why: in dataflow
form position means nothing, and a pure op runs at most once and only where its value is needed; every later level runs
what stands before it.

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

The block is the least common ancestor of the uses, closures taken whole: a closure may be called more than once, so
nothing moves into one, and what it needs from outside is computed where it is made. To name an extent that an op makes
is a use of it, as in the requirements that inlining leaves: the extent is known behind that op alone. An op that may
fail or not end (a call, a division of integers, what demands something of extents that only the run tells, a branch
with such an op), or needs the value of one, must not run in vain: where its uses meet in a block that does not need it
for all conditions, each branch that needs it computes it, unless an earlier one has (`compute_on_demand.py`). Other ops
are computed where their uses meet, needed or not, as in Relay.

With `bind`, as Relay's `ToBasicBlockNormalForm`, a `relay.let` binds each value that inner blocks alone use, where it
is computed: an expression, which has no positions, has its scope then. Without it position says as much, and fusion
sees no lets.

One reverse walk finds the places: the users of an op have found theirs before it looks for its own. Ops without a use
go. Left alone: kernels, fused groups, functions of several blocks, calls of functions with side effects.
"""

from __future__ import annotations

from collections.abc import Collection, Container
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from xrelay.dialects.attribute_names import FORM, PRIMITIVE
from xrelay.passes.graph.effects import ops_run_on_demand, pure_functions, side_effect_free_ops
from xrelay.passes.graph.functions import fusable_blocks, is_graph
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.graph.scopes import Scopes
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.relay.compute_on_demand import compute_on_demand
from xrelay.passes.relay.let_bindings import bind_values

BBNF = "bbnf"


@dataclass(frozen=True)
class RelayToBasicBlockNormalFormPass(ModulePass):
    """Move every op to the block where its uses meet. Exact."""

    name = "relay-to-basic-block-normal-form"

    bind: bool = field(default=False, metadata={"help": "bind what inner blocks alone use by a let"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        pure_calls = pure_functions(op)
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and PRIMITIVE not in function.attributes:
                to_basic_block_normal_form(function, pure_calls)
                if self.bind and is_graph(function):
                    bind_values(fusable_blocks(function), _serves_inner_blocks)


def to_basic_block_normal_form(function: FuncOp, pure_calls: Collection[str]) -> None:
    """Bring one function into basic block normal form; functions in it or in A-normal form stay as they are.

    `pure_calls` are the functions of the module without side effects (`pure_functions`).
    """
    form = function.attributes.get(FORM)
    if len(function.body.blocks) != 1 or (isinstance(form, StringAttr) and form.data != "dataflow"):
        return
    function.attributes[FORM] = StringAttr(BBNF)
    scopes = Scopes(function)
    free = side_effect_free_ops(function, pure_calls)
    # Last first, and what is inside an op before the op: the users of an op are placed before it is.
    for op in reversed(list(walk_ops(function))):
        if op.parent in scopes.blocks and op in free and not op.has_trait(IsTerminator):
            _place(op, scopes)
    _delay(function, scopes, free)


def _place(op: Operation, scopes: Scopes) -> None:
    """Move `op` to the start of the block where its uses meet, if that is not where it stands; erase it without one."""
    target = scopes.where_uses_meet(op)
    if target is None:
        erase_op(op)
    elif target is not op.parent:
        op.detach()
        Rewriter.insert_op(op, InsertPoint.at_start(target))


def _delay(function: FuncOp, scopes: Scopes, free: Container[Operation]) -> None:
    """Let ops that must not run in vain run where they are needed, in inner blocks before outer ones."""
    delayed = ops_run_on_demand(function)
    # Branches have moved: the blocks of `scopes` may no longer stand outer before inner.
    for block in reversed(fusable_blocks(function)):
        for op in reversed([op for op in block.ops if op in delayed and op in free]):
            if op.parent is block and scopes.may_run_in_vain(op):
                compute_on_demand(op, scopes.blocks_in_need(op), delayed, scopes.names)


def _serves_inner_blocks(value: SSAValue) -> bool:
    """Whether the uses of `value` all lie in blocks inside of its own."""
    block = value.owner.parent if isinstance(value.owner, Operation) else value.owner
    return value.first_use is not None and all(use.operation.parent is not block for use in value.uses)
