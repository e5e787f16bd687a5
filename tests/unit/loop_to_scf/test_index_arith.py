"""Affine expressions as arith ops compute the same as the expressions, including roundings."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from xrelay.dialects.upstream.arith_extras import CmpiOp, SelectOp
from xrelay.index_algebra.value_map import ValueMap
from xrelay.passes.loop.nest_edits import compute

LEAVES = st.one_of(st.builds(AffineDimExpr, st.integers(0, 1)), st.builds(AffineConstantExpr, st.integers(-9, 9)))


def _with_constant(inner: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
    divisions = st.sampled_from([AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod])
    positive = st.builds(AffineConstantExpr, st.integers(1, 7))
    return st.one_of(
        st.builds(lambda a, b: AffineBinaryOpExpr(AffineBinaryOpKind.Add, a, b), inner, inner),
        st.builds(
            lambda a, c: AffineBinaryOpExpr(AffineBinaryOpKind.Mul, a, AffineConstantExpr(c)), inner, st.integers(-5, 5)
        ),
        st.builds(AffineBinaryOpExpr, divisions, inner, positive),
    )


EXPRESSIONS = st.recursive(LEAVES, _with_constant, max_leaves=6)
MASK = (1 << 64) - 1


def run(ops: list[Operation], known: dict[SSAValue, int]) -> None:
    """Executes index arithmetic with Python integers; unsigned division interprets 64 bits."""
    for op in ops:
        values = [known[operand] for operand in op.operands]
        match op:
            case arith.ConstantOp() if isinstance(op.value, IntegerAttr):
                result = op.value.value.data
            case arith.AddiOp():
                result = values[0] + values[1]
            case arith.SubiOp():
                result = values[0] - values[1]
            case arith.MuliOp():
                result = values[0] * values[1]
            case arith.DivUIOp():
                result = (values[0] & MASK) // values[1]
            case arith.RemUIOp():
                result = (values[0] & MASK) % values[1]
            case CmpiOp() | arith.CmpiOp():
                result = int(values[0] < values[1])
            case SelectOp() | arith.SelectOp():
                result = values[1] if values[0] else values[2]
            case _:
                raise AssertionError(op.name)
        known[op.results[0]] = result


@given(EXPRESSIONS, st.integers(-50, 50), st.integers(-50, 50))
def test_computes_the_expression(expr: AffineExpr, x: int, y: int):
    block = Block(arg_types=[IndexType(), IndexType()])
    ops: list[Operation] = []
    result = compute(ValueMap.make([expr], block.args), ops)
    known: dict[SSAValue, int] = dict(zip(block.args, (x, y), strict=True))
    run(ops, known)
    assert known[result] == expr.eval([x, y], [])
