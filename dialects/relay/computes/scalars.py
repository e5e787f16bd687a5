"""Scalars of an index space: indices as numbers, and selections by an index."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from xrelay.dialects.topi.build import Body, IndexLike
from xrelay.dialects.topi.scalars import convert_scalar
from xrelay.dialects.upstream.arith_extras import CmpiOp, IndexCastOp, SelectOp


def as_number(b: Body, index: IndexLike, type: Attribute) -> SSAValue:
    """Converts an index to a scalar type."""
    return convert_scalar(b, b.add(IndexCastOp(b.index(index), i64)), type)


def chosen(b: Body, number: AffineExpr, values: Sequence[SSAValue]) -> SSAValue:
    """Selects value `number`."""
    result, index = values[-1], b.index(number)
    for place, value in reversed(list(enumerate(values[:-1]))):
        is_it = b.add(CmpiOp(index, b.constant(place, IndexType()), "eq"))
        result = b.add(SelectOp(is_it, value, result))
    return result
