"""`relay-to-basic-block-normal-form`: moves each op to the block where its uses meet.

An op whose uses all lie in one branch moves there, and the function gets `relay.form = "bbnf"`. In dataflow form
position means nothing; later levels run the ops of a block in the order of the text.

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

The block is the least common ancestor of the uses. A closure may be called more than once and the body of a loop runs
many times, so no op moves into one: captured values are computed in the block of the closure or loop. An op that names
an extent uses the op that makes the extent. An op whose uses meet outside of a branch is computed although the branch
taken may not need it, as in Relay.

With `bind`, as Relay's `ToBasicBlockNormalForm`, a `relay.let` binds each value that only inner blocks use: expressions
have no positions, so a let keeps the scope. Without it fusion sees no lets.

One reverse walk places the ops, users before operands. Ops without a use are erased. Left alone: kernels, fused groups,
functions of several blocks, calls of functions with side effects.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.shared.attribute_names import COMPILER, FORM, PRIMITIVE
from xrelay.passes.graph.effects import pure_functions, side_effect_free_ops
from xrelay.passes.graph.functions import fusable_blocks, is_graph
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.graph.scopes import Scopes
from xrelay.passes.infra.verify import walk_ops
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


def place_ops(module: ModuleOp) -> None:
    """Moves the ops of functions in dataflow form to the blocks where their uses meet; the form stays dataflow.

    Kernels and functions for compilers from outside stay as they are.
    """
    pure_calls = pure_functions(module)
    for function in module.body.block.ops:
        if isinstance(function, FuncOp) and not {PRIMITIVE, COMPILER} & function.attributes.keys():
            place_ops_of(function, pure_calls)


def place_ops_of(function: FuncOp, pure_calls: Collection[str]) -> None:
    """Moves the ops of one function as `place_ops` does; a function without inner blocks stays as it is."""
    if len(fusable_blocks(function)) == 1:
        return
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


def _serves_inner_blocks(value: SSAValue) -> bool:
    """Whether the uses of `value` all lie in blocks inside of its own."""
    block = value.owner.parent if isinstance(value.owner, Operation) else value.owner
    return value.first_use is not None and all(use.operation.parent is not block for use in value.uses)
