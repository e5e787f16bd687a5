"""`relay-to-basic-block-normal-form`: moves each op to the block where its uses meet.

An op whose uses all lie in one branch moves there, and the function gets `relay.form = "bbnf"`. In dataflow form
position means nothing, and a pure op runs at most once and only if its value is needed; later levels run ops in the
order of the text.

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

A `relay.let` is not moved: its value is computed in the block of the let.

The block is the least common ancestor of the uses, closures taken whole: a closure may be called more than once, so no
op moves into one, and its captures are computed in the block of the closure. An op that names an extent uses the op
that makes the extent. An op that may fail or not end (a call, a division of integers, a requirement on extents that
are known at run time only, a branch with such an op), or needs the value of one, must not run unless it is needed. If
its uses meet in a block that does not need it for all conditions, each branch that needs it computes it, unless an
earlier one has (`compute_on_demand.py`). Other ops are computed in the block where their uses meet, as in Relay.

With `bind`, as Relay's `ToBasicBlockNormalForm`, a `relay.let` binds each value that only inner blocks use: expressions
have no positions, so a let keeps the scope. Without it fusion sees no lets.

One reverse walk places the ops, users before operands. Ops without a use are erased. Left alone: kernels, fused groups,
functions of several blocks, calls of functions with side effects.
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

from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.shared.attribute_names import FORM, PRIMITIVE
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


def place_ops(function: FuncOp, pure_calls: Collection[str]) -> None:
    """Moves the ops of a function in dataflow form to the blocks where their uses meet; the form stays dataflow."""
    form = function.attributes.get(FORM)
    to_basic_block_normal_form(function, pure_calls)
    if form is None:
        function.attributes.pop(FORM, None)
    else:
        function.attributes[FORM] = form


def _place(op: Operation, scopes: Scopes) -> None:
    """Moves `op`, if it is no let, to the start of the block where its uses meet; erases it without one."""
    target = scopes.where_uses_meet(op)
    if target is None:
        erase_op(op)
    elif target is not op.parent and not isinstance(op, LetOp):
        op.detach()
        Rewriter.insert_op(op, InsertPoint.at_start(target))


def _delay(function: FuncOp, scopes: Scopes, free: Container[Operation]) -> None:
    """Let ops that must not run in vain run where they are needed, in inner blocks before outer ones."""
    delayed = {op for op in ops_run_on_demand(function) if not isinstance(op, LetOp)}
    # Branches have moved: the blocks of `scopes` may no longer stand outer before inner.
    for block in reversed(fusable_blocks(function)):
        for op in reversed([op for op in block.ops if op in delayed and op in free]):
            if op.parent is block and scopes.may_run_in_vain(op):
                compute_on_demand(op, scopes.blocks_in_need(op), delayed, scopes.names)


def _serves_inner_blocks(value: SSAValue) -> bool:
    """Whether the uses of `value` all lie in blocks inside of its own."""
    block = value.owner.parent if isinstance(value.owner, Operation) else value.owner
    return value.first_use is not None and all(use.operation.parent is not block for use in value.uses)
