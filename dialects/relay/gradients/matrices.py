"""Matrices of tensors of any rank, for the gradients of matrix products."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder


def as_matrix(value: SSAValue, build: GradientBuilder) -> SSAValue:
    """Merges all axes except the last."""
    rank = len(build.shape(value))
    if rank == 1:
        return build.op("expand_dims", value, axis=0)
    for behind in range(rank - 2, 0, -1):
        # -3 merges two axes and 0 keeps an axis, so no extent has to be known.
        value = build.op("reshape", value, newshape=(-3, *[0] * behind))
    return value


def transposed(value: SSAValue, build: GradientBuilder) -> SSAValue:
    """Transposes the matrices of a stack."""
    rank = len(build.shape(value))
    return build.op("transpose", value, axes=(*range(rank - 2), rank - 1, rank - 2))
