"""Reductions of booleans."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xrelay.dialects.relay.computes.builder import TopiBuilder
from xrelay.dialects.relay.computes.reduction import all_true, any_true
from xrelay.dialects.relay.ops.tensor_logic import AllOp, AnyOp
from xrelay.lowering.relay_to_topi.registry import implements


@implements(AllOp, "all.generic")
def build_all(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes whether all elements over some axes are true."""
    return [all_true(emitter)]


@implements(AnyOp, "any.generic")
def build_any(emitter: TopiBuilder) -> Sequence[SSAValue]:
    """Computes whether any element over some axes is true."""
    return [any_true(emitter)]
