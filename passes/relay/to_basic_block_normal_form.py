"""`relay-to-basic-block-normal-form`: moves each op to the innermost block that contains all its uses.

An op whose uses are all in one branch moves there, and the function gets the attribute `relay.form = "bbnf"`. In
dataflow form the position of an op has no meaning; later levels run the ops of a block in the order of the text.

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

The block is the least common ancestor of the uses. A closure may be called several times and the body of a loop runs
many times, so no op moves into them: captured values are computed in the block of the closure or loop. An op that names
an extent counts as a use of the op that introduces the extent. An op whose uses have their common block outside of a
branch is computed even if the branch that runs does not need it, as in Relay.

With `bind`, as in Relay's `ToBasicBlockNormalForm`, a `relay.let` binds each value that only inner blocks use, because
expressions have no positions and only a let keeps the scope. By default there are no lets, so that fusion is not
affected.

A single reverse walk places the ops, users before operands. Unused ops are erased. Kernels, fused groups, functions
with several blocks, and calls of functions with side effects are not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.shared.attribute_names import COMPILER, FORM, PRIMITIVE
from xrelay.passes.graph.effects import PureFunctions, side_effect_free_ops
from xrelay.passes.graph.replacements import Replacements, erase_op
from xrelay.passes.graph.scopes import Scopes, fusable_blocks, graph_functions, is_graph
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass

BBNF = "bbnf"


@dataclass(frozen=True)
class RelayToBasicBlockNormalFormPass(XRelayPass):
    """Moves every op to the innermost block that contains all its uses. Exact."""

    name = "relay-to-basic-block-normal-form"
    numerics = EXACT

    bind: bool = field(default=False, metadata={"help": "bind values that only inner blocks use by a let"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        pure_calls = PureFunctions(op)
        for function in graph_functions(op):
            to_basic_block_normal_form(function, pure_calls)
            if self.bind and is_graph(function):
                bind_values(fusable_blocks(function), _serves_inner_blocks)


def to_basic_block_normal_form(function: FuncOp, pure_calls: Container[str]) -> None:
    """Converts a function from dataflow form to basic block normal form; other functions are not changed.

    `pure_calls` are the functions of the module without side effects (`PureFunctions`).
    """
    form = function.attributes.get(FORM)
    if len(function.body.blocks) != 1 or (isinstance(form, StringAttr) and form.data != "dataflow"):
        return
    function.attributes[FORM] = StringAttr(BBNF)
    scopes = Scopes(function)
    free = side_effect_free_ops(function, pure_calls)
    # In reverse order, inner ops before outer ones, so that the users of an op are placed before the op.
    for op in reversed(list(walk_ops(function))):
        if op.parent in scopes.blocks and op in free and not op.has_trait(IsTerminator):
            _move_to_uses(op, scopes)


def place_ops(module: ModuleOp) -> None:
    """Moves the ops of functions in dataflow form to the innermost blocks that contain all their uses.

    The form remains dataflow. Kernels and functions for external compilers are not changed.
    """
    pure_calls = PureFunctions(module)
    for function in module.body.block.ops:
        if isinstance(function, FuncOp) and not {PRIMITIVE, COMPILER} & function.attributes.keys():
            place_ops_of(function, pure_calls)


def place_ops_of(function: FuncOp, pure_calls: Container[str]) -> None:
    """Moves the ops of one function as `place_ops` does; a function without inner blocks is not changed."""
    if len(fusable_blocks(function)) == 1:
        return
    form = function.attributes.get(FORM)
    to_basic_block_normal_form(function, pure_calls)
    if form is None:
        function.attributes.pop(FORM, None)
    else:
        function.attributes[FORM] = form


def _move_to_uses(op: Operation, scopes: Scopes) -> None:
    """Moves `op` to the start of the innermost block with all its uses, except for a let; erases `op` if unused."""
    target = scopes.where_uses_meet(op)
    if target is None:
        erase_op(op)
    elif target is not op.parent and not isinstance(op, LetOp):
        op.detach()
        Rewriter.insert_op(op, InsertPoint.at_start(target))


def _serves_inner_blocks(value: SSAValue) -> bool:
    """Whether `value` is used, but only in blocks nested in its own block."""
    block = value.owner.parent if isinstance(value.owner, Operation) else value.owner
    return value.first_use is not None and all(use.operation.parent is not block for use in value.uses)


def bind_values(blocks: Sequence[Block], chooses: Callable[[SSAValue], bool]) -> None:
    """Binds the results in `blocks` that `chooses` accepts by lets, for all uses; each let has a name of its own.

    Constants, and values that only lets use, need no further binding.
    """
    names = {op.variable.data for block in blocks for op in block.ops if isinstance(op, LetOp)}
    numbers: dict[str, int] = {}
    bound = Replacements()
    for op in [op for block in blocks for op in block.ops]:
        if isinstance(op, ConstantOp | LetOp) or op.has_trait(IsTerminator):
            continue
        for value in op.results:
            is_bound = value.first_use is not None and all(isinstance(use.operation, LetOp) for use in value.uses)
            if chooses(value) and not is_bound:
                hint = value.name_hint if value.name_hint is not None else "x"
                let = LetOp.call(value, variable=fresh_name(hint, names, numbers))
                let.location = op.location
                let.result.name_hint, value.name_hint = value.name_hint, None
                Rewriter.insert_op(let, InsertPoint.after(op))
                bound.add(value, let.result)
    bound.apply(lambda user, old: isinstance(user, LetOp) and user.value is old)
