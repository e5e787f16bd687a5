"""`relay-to-graph-normal-form`: replaces each `relay.let` by the value that it binds.

Rewrites and fusion follow the edges of the graph, but do not look through bindings. A function in A-normal form is in
dataflow form afterwards.

Before:

    %0 = relay.exp(%x)
    %e = relay.let "e" = %0
    %r = relay.add(%e, %e)

After:

    %e = relay.exp(%x)
    %r = relay.add(%e, %e)

Bound values without a use are left for `relay-dead-code-elimination`. Kernels (`relay.primitive`) are not changed.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.shared.attribute_names import FORM
from xrelay.passes.graph.replacements import Replacements
from xrelay.passes.graph.scopes import fusable_blocks, graph_functions
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.to_a_normal_form import ANF
from xrelay.passes.types.type_upkeep import update_signatures


@dataclass(frozen=True)
class RelayToGraphNormalFormPass(XRelayPass):
    """Replaces lets by the values that they bind; see the module's docstring. Exact."""

    name = "relay-to-graph-normal-form"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        for function in graph_functions(op):
            to_graph_normal_form(function)
        update_signatures(op)


def to_graph_normal_form(function: FuncOp) -> None:
    """Removes the lets of one function."""
    lets = [op for block in fusable_blocks(function) for op in block.ops if isinstance(op, LetOp)]
    values = Replacements()
    for let in lets:
        # Lets are in the order of the text, so the replacement of the bound value is known already.
        value = values.of(let.value)
        if value.name_hint is None:
            value.name_hint = let.result.name_hint
        values.add(let.result, value)
    values.apply()
    for let in lets:
        Rewriter.erase_op(let)
    if function.attributes.get(FORM) == StringAttr(ANF):
        del function.attributes[FORM]
