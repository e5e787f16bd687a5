"""topi: how one element of a result is computed; index spaces, scalar bodies, and named heavy operations."""

from __future__ import annotations

from xdsl.ir import Dialect

from xrelay.dialects.topi.checked_index import CheckedIndexOp
from xrelay.dialects.topi.compute import ComputeOp, YieldOp
from xrelay.dialects.topi.named import Conv2dNchwcOp, Conv2dNchwOp, MatmulOp, NamedOp, Pool2dOp, SoftmaxOp
from xrelay.dialects.topi.read import GuardOp, InBoundsOp, IndexOp, ReadOp
from xrelay.dialects.topi.sort import SortOp

TOPI = Dialect(
    "topi",
    [
        CheckedIndexOp,
        ComputeOp,
        GuardOp,
        InBoundsOp,
        IndexOp,
        ReadOp,
        SortOp,
        YieldOp,
        Conv2dNchwOp,
        Conv2dNchwcOp,
        MatmulOp,
        Pool2dOp,
        SoftmaxOp,
    ],
    [],
)

__all__ = [
    "TOPI",
    "CheckedIndexOp",
    "ComputeOp",
    "Conv2dNchwOp",
    "Conv2dNchwcOp",
    "GuardOp",
    "InBoundsOp",
    "IndexOp",
    "MatmulOp",
    "NamedOp",
    "Pool2dOp",
    "ReadOp",
    "SoftmaxOp",
    "SortOp",
    "YieldOp",
]
