"""Implementations of operators as topi computes.

    @implements(L1NormalizeOp, "l1_normalize.generic")
    def build(emitter: TopiBuilder) -> Sequence[SSAValue]: …

Among the implementations whose condition holds, the one with the highest priority is chosen.
"""

from xrelay.dialects.relay.computes.builder import TopiBuilder, element_of, read_broadcast
from xrelay.dialects.relay.computes.widening import in_single
from xrelay.dialects.topi.build import Body, compute, variables
from xrelay.dialects.topi.shapes import shape_of
from xrelay.errors import LoweringError
from xrelay.lowering.relay_to_topi.registry import implements
from xrelay.target.strategy import DEFAULT_PRIORITY

__all__ = [
    "DEFAULT_PRIORITY",
    "Body",
    "LoweringError",
    "TopiBuilder",
    "compute",
    "element_of",
    "implements",
    "in_single",
    "read_broadcast",
    "shape_of",
    "variables",
]
