"""`relay-expand-composites`: replaces composite ops with several non-injective parts before fusion.

Replaces an op that is defined by other ops (`CompositeOp`) before fusion, if the patterns of two or more of its parts
exceed `kInjective`: reductions, heavy ops and opaque ops. Each part can then be fused with its own neighbours. A
composite op with its own fusion pattern, or with at most one such part, is fused as a whole, and
`convert-relay-to-topi` expands it inside its kernel. Composite ops that Relay expands in SimplifyInference are also
expanded here, if any remain.

Before:

    %y = relay.contrib.two_sums(%x) : (tensor<4x8xf32>) -> tensor<4xf32>

After: its parts, with `relay.sum` twice.

Left alone: ops of unknown types, and ops that a strategy of the target implements as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.relay.structure.composite import Expansion
from xrelay.passes.graph.composites import expand_composites
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates
from xrelay.passes.types.type_upkeep import update_signatures


@dataclass(frozen=True)
class RelayExpandCompositesPass(XRelayPass):
    """Replaces composite ops with several non-injective parts; see the module's docstring."""

    name = "relay-expand-composites"
    numerics = reassociates("a composite op becomes several ops, each of which rounds")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        expand_composites(op, Expansion.INFERENCE, Expansion.BEFORE_FUSION)
        update_signatures(op)
