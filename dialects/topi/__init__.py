"""topi: how one element of a result is computed; index spaces, scalar bodies, and named heavy operations."""

from __future__ import annotations

from xdsl.ir import Dialect

from xrelay.dialects.topi.compute import ComputeOp, YieldOp
from xrelay.dialects.topi.read import GuardOp, InBoundsOp, IndexOp, ReadOp

TOPI = Dialect(
    "topi",
    [ComputeOp, GuardOp, InBoundsOp, IndexOp, ReadOp, YieldOp],
    [],
)

__all__ = ["TOPI", "ComputeOp", "GuardOp", "InBoundsOp", "IndexOp", "ReadOp", "YieldOp"]
