"""`relay-to-a-normal-form`: binds every intermediate value by a `relay.let`.

A flat `relay.let` after each op of a function, its branches and its closures binds each result, and all uses take the
bound value. The function gets the attribute `relay.form = "anf"`. First, ops are moved to the innermost block that
contains all their uses (`relay-to-basic-block-normal-form`), so that each binding is in the innermost scope of its
uses. In this form every op runs once, in the order of the text. In Relay the rest of the program is the body of the
let, so that each binding is nested; here bindings are consecutive ops of a block.

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

Constants, parameters and bound values need no further binding. Kernels (`relay.primitive`), fused groups, functions
with several blocks and functions of lower levels are not changed. The pass is idempotent.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from xrelay.dialects.shared.attribute_names import FORM
from xrelay.passes.graph.effects import pure_functions
from xrelay.passes.graph.scopes import fusable_blocks, graph_functions, is_graph
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.to_basic_block_normal_form import bind_values, to_basic_block_normal_form

ANF = "anf"


@dataclass(frozen=True)
class RelayToANormalFormPass(XRelayPass):
    """Binds every intermediate value by a `relay.let`; see the module's docstring. Exact."""

    name = "relay-to-a-normal-form"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        pure_calls = pure_functions(op)
        for function in graph_functions(op):
            to_a_normal_form(function, pure_calls)


def to_a_normal_form(function: FuncOp, pure_calls: Collection[str]) -> None:
    """Converts one function to A-normal form.

    `pure_calls` are the functions of the module without side effects (`pure_functions`).
    """
    if not is_graph(function):
        return
    to_basic_block_normal_form(function, pure_calls)
    bind_values(fusable_blocks(function), lambda value: True)
    function.attributes[FORM] = StringAttr(ANF)
