"""`qnn-canonicalize-ops`: expands quantised operators into plain ones.

Replaces each `relay.qnn` operator by the arithmetic that defines it: casts, differences from zero points, 64-bit
products, shifts and clips. It runs early, so that later passes fold expressions of scales and zero points and fuse the
other ops. The results equal those of the operator's definition bit for bit.

Before:

    %r = relay.qnn.requantize(%q, %s, %z, %t, %u) : (tensor<4xi32>, tensor<f32>, …) -> tensor<4xi8>

After:

    %d = relay.subtract(%q, %z)
    %p = relay.multiply(%wide, %factor)                  of i64; the factor and the places come from %s and %t
    %w = relay.right_shift(%p_plus_half, %places)
    %r = relay.cast(%bounded) {dtype = i8}               after %u is added, between -128 and 127

Leaves ops of unknown types unchanged, and ops for which the target has a strategy.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.relay.structure.composite import Expansion
from xrelay.passes.graph.composites import expand_composites
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.types.type_upkeep import update_signatures


@dataclass(frozen=True)
class QnnCanonicalizeOpsPass(XRelayPass):
    """Expands quantised operators into plain ones; see the module's docstring."""

    name = "qnn-canonicalize-ops"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Expands the module's operators in place."""
        expand_composites(op, Expansion.QNN)
        update_signatures(op)
