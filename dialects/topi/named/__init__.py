"""Named heavy operations, which expand to computes; one file per family."""

from __future__ import annotations

from xrelay.dialects.topi.named.base import Expansion, NamedOp
from xrelay.dialects.topi.named.conv import (
    Conv1dNcwOp,
    Conv2dNchwcOp,
    Conv2dNchwcTermsOp,
    Conv2dNchwOp,
    Conv3dNcdhwOp,
    ConvPlainOp,
)
from xrelay.dialects.topi.named.matmul import BatchMatmulOp, MatmulOp
from xrelay.dialects.topi.named.pool import Pool1dOp, Pool2dOp, Pool3dOp, PoolOp
from xrelay.dialects.topi.named.softmax import SoftmaxOp

__all__ = [
    "BatchMatmulOp",
    "Conv1dNcwOp",
    "Conv2dNchwOp",
    "Conv2dNchwcOp",
    "Conv2dNchwcTermsOp",
    "Conv3dNcdhwOp",
    "ConvPlainOp",
    "Expansion",
    "MatmulOp",
    "NamedOp",
    "Pool1dOp",
    "Pool2dOp",
    "Pool3dOp",
    "PoolOp",
    "SoftmaxOp",
]
