"""What rewrites of relay programs share: ops with the location of what they replace, constants, broadcasting."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriter, PatternRewriteWalker, RewritePattern
from xdsl.rewriter import InsertPoint

from xrelay.dialects.relay.constant import ConstantOp
from xrelay.dialects.relay.dtypes import numpy_dtype
from xrelay.dialects.relay.op_base import AttributeValue, RelayOp
from xrelay.dialects.relay.types import element_type_of, shape_of
from xrelay.dialects.relay.weights import Array, WeightAttr
from xrelay.passes.infra.pattern_counts import counted

OpT = TypeVar("OpT", bound=Operation)


class Emitter:
    """Puts new ops in front of `source`, with its location; results take the name of its result."""

    def __init__(self, rewriter: PatternRewriter, source: Operation):
        self._rewriter, self._source = rewriter, source

    def insert(self, op: OpT) -> OpT:
        """Insert `op`."""
        op.location = self._source.location
        for result in op.results:
            if result.name_hint is None and self._source.results:
                result.name_hint = self._source.results[0].name_hint
        self._rewriter.insert(op, InsertPoint.before(self._source))
        return op

    def call(self, op: type[RelayOp], *operands: SSAValue, **attributes: AttributeValue) -> SSAValue:
        """Insert `op` on `operands`; gives its result, whose type is inferred."""
        return self.insert(op.call(*operands, **attributes)).results[0]

    def scalar(self, value: float, like: Attribute) -> SSAValue:
        """A constant of rank 0 with the element type of the tensor type `like`."""
        return self.insert(ConstantOp.of(np.array(value, numpy_dtype(element_type_of(like))))).result

    def replace(self, value: SSAValue) -> None:
        """Let `value` stand for the source's result, and erase the source."""
        self._rewriter.replace(self._source, [], [value])


def rewrite(module: ModuleOp, *patterns: RewritePattern) -> None:
    """Apply `patterns` until none applies; ops that become unused go."""
    PatternRewriteWalker(GreedyRewritePatternApplier([counted(pattern) for pattern in patterns])).rewrite_module(module)


def constant_of(value: SSAValue) -> Array | None:
    """The array of a constant whose bytes are here; `None` for anything else."""
    if not isinstance(value, OpResult) or not isinstance(value.op, ConstantOp):
        return None
    constant = value.op
    if isinstance(constant.value, WeightAttr) and not constant.value.data.is_resolved:
        return None
    return constant.array


def owner_of(value: SSAValue, op: type[OpT]) -> OpT | None:
    """The op of class `op` that made `value`, if one did."""
    return value.op if isinstance(value, OpResult) and isinstance(value.op, op) else None


def rank_of(value: SSAValue) -> int | None:
    """The rank of a tensor value; `None` for what is no tensor."""
    return len(shape_of(value.type)) if isinstance(value.type, TensorType) else None


def per_channel(factor: Array, rank: int, axis: int) -> Array | None:
    """`factor`, which broadcasts against rank `rank`, as a vector along `axis`; `None` where it varies otherwise.

    A factor that varies nowhere gives a vector of one element.
    """
    if factor.ndim > rank:
        return None
    shape = (1,) * (rank - factor.ndim) + factor.shape
    if any(extent != 1 for position, extent in enumerate(shape) if position != axis):
        return None
    return factor.reshape(-1)
