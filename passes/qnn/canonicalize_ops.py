"""`qnn-canonicalize-ops`: operators on quantised numbers become operators on plain ones.

What: each `relay.qnn` operator is replaced by the arithmetic that it means: casts, differences from zero points,
products of 64 bits, shifts and bounds. Why early: what follows knows plain operators, folds what scales and zero points
alone decide into constants, and fuses the rest. Exact: every bit is that of the operator's own meaning.

Before:

    %r = relay.qnn.requantize(%q, %s, %z, %t, %u) : (tensor<4xi32>, tensor<f32>, …) -> tensor<4xi8>

After:

    %d = relay.subtract(%q, %z)
    %p = relay.multiply(%wide, %factor)                  of i64; the factor and the places come from %s and %t
    %w = relay.right_shift(%p_plus_half, %places)
    %r = relay.cast(%bounded) {dtype = i8}               after %u is added, between -128 and 127

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
class QnnCanonicalizeOpsPass(ModulePass):
    """Replace operators on quantised numbers by operators on plain ones; see the module's docstring."""

    name = "qnn-canonicalize-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Expand the module's operators in place."""
        expand_composites(op, Expansion.QNN)
        update_signatures(op)
