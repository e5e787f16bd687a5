"""topi: computations of single elements of a result, as index spaces, scalar bodies, and named heavy operations."""

from __future__ import annotations

from xdsl.ir import Dialect

from xrelay.dialects.shared.extents import ExtentsAttr
from xrelay.dialects.topi.compute import Combine, CombineAttr, ComputeOp, ScanOp, ScatterOp
from xrelay.dialects.topi.index_space import BodyOp, GuardOp, IndexSpaceOp, YieldOp
from xrelay.dialects.topi.named import (
    BatchMatmulOp,
    Conv1dNcwcOp,
    Conv1dNcwcTermsOp,
    Conv1dNcwOp,
    Conv2dNchwcOp,
    Conv2dNchwcTermsOp,
    Conv2dNchwcWinogradOp,
    Conv2dNchwOp,
    Conv3dNcdhwcOp,
    Conv3dNcdhwcTermsOp,
    Conv3dNcdhwOp,
    MatmulOp,
    MatmulSplitOp,
    NamedOp,
    Pool1dOp,
    Pool2dOp,
    Pool3dOp,
    SoftmaxOp,
)
from xrelay.dialects.topi.read import CheckedIndexOp, InBoundsOp, IndexOp, ReadOp
from xrelay.dialects.topi.tensor_ops import PositionsOp, SortOp, SuppressOp

TOPI = Dialect(
    "topi",
    [
        CheckedIndexOp,
        ComputeOp,
        GuardOp,
        InBoundsOp,
        IndexOp,
        PositionsOp,
        ReadOp,
        ScanOp,
        ScatterOp,
        SortOp,
        SuppressOp,
        YieldOp,
        BatchMatmulOp,
        Conv1dNcwOp,
        Conv1dNcwcOp,
        Conv1dNcwcTermsOp,
        Conv2dNchwOp,
        Conv2dNchwcOp,
        Conv2dNchwcTermsOp,
        Conv2dNchwcWinogradOp,
        Conv3dNcdhwOp,
        Conv3dNcdhwcOp,
        Conv3dNcdhwcTermsOp,
        MatmulOp,
        MatmulSplitOp,
        Pool1dOp,
        Pool2dOp,
        Pool3dOp,
        SoftmaxOp,
    ],
    [CombineAttr, ExtentsAttr],
)

__all__ = [
    "TOPI",
    "BatchMatmulOp",
    "BodyOp",
    "CheckedIndexOp",
    "Combine",
    "ComputeOp",
    "Conv1dNcwOp",
    "Conv1dNcwcOp",
    "Conv1dNcwcTermsOp",
    "Conv2dNchwOp",
    "Conv2dNchwcOp",
    "Conv2dNchwcTermsOp",
    "Conv2dNchwcWinogradOp",
    "Conv3dNcdhwOp",
    "Conv3dNcdhwcOp",
    "Conv3dNcdhwcTermsOp",
    "GuardOp",
    "InBoundsOp",
    "IndexOp",
    "IndexSpaceOp",
    "MatmulOp",
    "MatmulSplitOp",
    "NamedOp",
    "Pool1dOp",
    "Pool2dOp",
    "Pool3dOp",
    "PositionsOp",
    "ReadOp",
    "ScanOp",
    "ScatterOp",
    "SoftmaxOp",
    "SortOp",
    "SuppressOp",
    "YieldOp",
]
