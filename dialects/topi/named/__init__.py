"""Named heavy operations, which expand to computes; one file per family."""

from __future__ import annotations

from xrelay.dialects.topi.named.base import Expansion, NamedOp
from xrelay.dialects.topi.named.block_products import MatmulBlocksOp
from xrelay.dialects.topi.named.conv import (
    Conv1dNcwcOp,
    Conv1dNcwcTermsOp,
    Conv1dNcwOp,
    Conv2dNchwcOp,
    Conv2dNchwcTermsOp,
    Conv2dNchwOp,
    Conv3dNcdhwcOp,
    Conv3dNcdhwcTermsOp,
    Conv3dNcdhwOp,
    ConvBlockedOp,
    ConvPlainOp,
    ConvTermsOp,
)
from xrelay.dialects.topi.named.matmul import BatchMatmulOp, MatmulOp
from xrelay.dialects.topi.named.pool import Pool1dOp, Pool2dOp, Pool3dOp, PoolOp
from xrelay.dialects.topi.named.softmax import SoftmaxOp
from xrelay.dialects.topi.named.split_products import Conv2dNchwcSplitOp, MatmulSplitOp
from xrelay.dialects.topi.named.winograd import Conv2dNchwcWinogradOp

__all__ = [
    "BatchMatmulOp",
    "Conv1dNcwOp",
    "Conv1dNcwcOp",
    "Conv1dNcwcTermsOp",
    "Conv2dNchwOp",
    "Conv2dNchwcOp",
    "Conv2dNchwcSplitOp",
    "Conv2dNchwcTermsOp",
    "Conv2dNchwcWinogradOp",
    "Conv3dNcdhwOp",
    "Conv3dNcdhwcOp",
    "Conv3dNcdhwcTermsOp",
    "ConvBlockedOp",
    "ConvPlainOp",
    "ConvTermsOp",
    "Expansion",
    "MatmulBlocksOp",
    "MatmulOp",
    "MatmulSplitOp",
    "NamedOp",
    "Pool1dOp",
    "Pool2dOp",
    "Pool3dOp",
    "PoolOp",
    "SoftmaxOp",
]
