"""`relay-to-a-normal-form`: binds every intermediate value by a `relay.let`.

What: behind each op of a function, of its branches and of its closures, each result is bound by a flat `relay.let`, and
all its uses take the bound value; the function says `relay.form = "anf"`. Ops are brought to the block where their uses
meet first (`relay-to-basic-block-normal-form`), so that a binding stands in the innermost scope that sees all its uses.
Why flat: in Relay the rest of the program is the body of the let, nested once a binding; here 100,000 bindings are
100,000 lines. It is the form in which every op runs once, in the order of the text.

Before:

    %e = relay.exp(%x)
    %r = relay.add(%e, %e)
    func.return %r

After:

    %0 = relay.exp(%x)
    %e = relay.let "e" = %0
    %1 = relay.add(%e, %e)
    %r = relay.let "r" = %1
    func.return %r

Constants, parameters and values that a let binds already are names as they are. Left alone: kernels
(`relay.primitive`), the inside of fused groups, functions of several blocks and of lower levels. Running it twice
changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from xrelay.dialects.shared.attribute_names import FORM, PRIMITIVE
from xrelay.passes.graph.effects import pure_functions
from xrelay.passes.graph.functions import fusable_blocks, is_graph
from xrelay.passes.relay.let_bindings import bind_values
from xrelay.passes.relay.to_basic_block_normal_form import to_basic_block_normal_form

ANF = "anf"


@dataclass(frozen=True)
class RelayToANormalFormPass(ModulePass):
    """Bind every intermediate value by a `relay.let`; see the module's docstring. Exact."""

    name = "relay-to-a-normal-form"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        pure_calls = pure_functions(op)
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and PRIMITIVE not in function.attributes:
                to_a_normal_form(function, pure_calls)


def to_a_normal_form(function: FuncOp, pure_calls: Collection[str]) -> int:
    """Bring one function into A-normal form; gives the number of lets made.

    `pure_calls` are the functions of the module without side effects (`pure_functions`).
    """
    if not is_graph(function):
        return 0
    to_basic_block_normal_form(function, pure_calls)
    made = bind_values(fusable_blocks(function), lambda value: True)
    function.attributes[FORM] = StringAttr(ANF)
    return made
