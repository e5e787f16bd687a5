"""Tensors of any rank in matrix products of gradients."""

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


def multiply_axis(value: SSAValue, axis: int, matrix: SSAValue, build: GradientBuilder) -> SSAValue:
    """Multiplies `value` along `axis` by `matrix`, which has as many rows as the axis has elements."""
    rank = len(build.shape(value))
    order = [*(other for other in range(rank) if other != axis), axis]
    product = build.op("nn.matmul", build.transposed(value, order), matrix)
    return build.transposed(product, [order.index(other) for other in range(rank)])
