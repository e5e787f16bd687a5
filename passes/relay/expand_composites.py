"""`relay-expand-composites`: composite ops of several heavy parts become their parts before fusion.

What: an op that other ops define (`CompositeOp`) and that has two or more parts heavier than injective is replaced by
its parts. Why here: each part may then take its own neighbours into its kernel. A composite with a fusion pattern of
its own, or with one heavy part at most, fuses whole and is expanded inside its kernel, as `convert-relay-to-topi` meets
it. Composites that Relay expands in SimplifyInference are gone by then; one that is not is expanded here.

Before:

    %y = relay.contrib.two_sums(%x) : (tensor<4x8xf32>) -> tensor<4xf32>

After: its parts, a `relay.sum` and another of them among them.

Left alone: ops whose types are not known yet, and ops that a strategy of the target takes whole.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xrelay.dialects.relay.structure.composite import Expansion
from xrelay.passes.graph.composites import expand_composites
from xrelay.passes.types.type_upkeep import update_signatures


@dataclass(frozen=True)
class RelayExpandCompositesPass(ModulePass):
    """Replace composite ops of several heavy parts by their parts; see the module's docstring."""

    name = "relay-expand-composites"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Expand the module's composites in place."""
        expand_composites(op, Expansion.INFERENCE, Expansion.BEFORE_FUSION)
        update_signatures(op)
