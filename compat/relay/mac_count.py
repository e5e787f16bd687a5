"""Counts multiply-accumulates (MACs) of convolutions and matrix products.

A multiplication and the addition of its product to a sum count once, as in Relay's MacCount. Bias, activations, pools
and elementwise ops count zero.
"""

from __future__ import annotations

from xdsl.ir import Operation

from xrelay.dialects.relay.ops.nn.conv import FilterOp
from xrelay.dialects.relay.ops.nn.dense import ContribDensePackOp, DenseOp
from xrelay.dialects.relay.ops.nn.matmul import BatchMatmulOp, MatmulOp
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.errors import InputError
from xrelay.index_algebra.dims import Dim, product

PRODUCTS = (DenseOp, ContribDensePackOp, MatmulOp, BatchMatmulOp)


def products(op: Operation) -> int:
    """Returns the number of multiply-accumulates of `op`: elements of the result times products per element.

    Other ops than products have 0. Raises `InputError` if extents are dynamic.
    """
    if not isinstance(op, (FilterOp, *PRODUCTS)):
        return 0
    if not all(map(is_complete, (*op.operand_types, *op.result_types))):
        raise InputError(
            f"the types of {op.name} are not known", help="specify the shapes of variables, or infer types before"
        )
    count = product((*shape_of(op.results[0].type), *_depth(op)))
    if not isinstance(count, int):
        raise InputError(f"{op.name} has {count} products", help="specify static shapes of the inputs")
    return count


def _depth(op: Operation) -> list[Dim]:
    """Returns the extents whose product is the number of products per element."""
    if not isinstance(op, FilterOp):
        transposed = isinstance(op, MatmulOp | BatchMatmulOp) and op.transposed[0]
        return [shape_of(op.operands[0].type)[-2 if transposed else -1]]
    data, kernel, _ = op.layouts
    weight = op.extents_in(kernel, shape_of(op.operands[1].type))
    channels = op.extents_in(data, shape_of(op.operands[0].type))["C"]
    return [channels // op.groups.value.data, *(weight[axis] for axis in op.AXES)]
