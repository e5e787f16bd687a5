"""Ops that are not part of kernels: they stay in the function that calls kernels, down to the loop level."""

from __future__ import annotations

from typing import ClassVar

from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind


class GraphOp(RelayOp):
    """Base of the ops on sequences, optionals and closures, and of `relay.fail`."""

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
