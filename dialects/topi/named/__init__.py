"""Named heavy operations: each stands for computes and expands to them; one file per family."""

from __future__ import annotations

from xrelay.dialects.topi.named.base import Expansion, NamedOp
from xrelay.dialects.topi.named.conv2d import Conv2dNchwcOp, Conv2dNchwOp
from xrelay.dialects.topi.named.matmul import MatmulOp
from xrelay.dialects.topi.named.pool2d import Pool2dOp
from xrelay.dialects.topi.named.softmax import SoftmaxOp

__all__ = ["Conv2dNchwOp", "Conv2dNchwcOp", "Expansion", "MatmulOp", "NamedOp", "Pool2dOp", "SoftmaxOp"]
