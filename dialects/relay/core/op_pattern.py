"""Fusion patterns: how an operator may be fused with its neighbours."""

from __future__ import annotations

from enum import IntEnum


class OpPatternKind(IntEnum):
    """Relay's OpPatternKind; a greater value is harder to fuse (`combine` is the maximum).

    Source: TOpPattern in TVM 0.16's relay/op_attr_types.h; the numbers are part of the user interface.
    """

    ELEM_WISE = 0
    """Output index equals input index: relu, exp, an addition of equal shapes."""
    BROADCAST = 1
    """Output axes map to input axes in order, some repeated: bias_add."""
    INJECTIVE = 2
    """Each output element reads one input element: transpose, reshape, concatenate."""
    COMM_REDUCE = 3
    """A commutative reduction: sum, mean, max."""
    OUT_ELEM_WISE_FUSABLE = 4
    """A heavy op whose result may be used by elementwise ops in the same kernel: conv2d, dense."""
    TUPLE = 7
    """A tuple: it can be fused only into an injective consumer."""
    OPAQUE = 8
    """Never fused."""

    @property
    def relay_name(self) -> str:
        """Relay's name, e.g. `kOutEWiseFusable`."""
        return _RELAY_NAMES[self]


_RELAY_NAMES = {
    OpPatternKind.ELEM_WISE: "kElemWise",
    OpPatternKind.BROADCAST: "kBroadcast",
    OpPatternKind.INJECTIVE: "kInjective",
    OpPatternKind.COMM_REDUCE: "kCommReduce",
    OpPatternKind.OUT_ELEM_WISE_FUSABLE: "kOutEWiseFusable",
    OpPatternKind.TUPLE: "kTuple",
    OpPatternKind.OPAQUE: "kOpaque",
}
