from __future__ import annotations

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, f32, i32, i64
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.topi import ComputeOp, ReadOp
from xrelay.dialects.topi.build import Body, compute, scalar_attr, variables
from xrelay.dialects.topi.shapes import holds_products_of, shape_of
from xrelay.errors import LoweringError


def tensor(*shape: int) -> SSAValue:
    return test.TestOp(result_types=[TensorType(f32, shape)]).results[0]


def reads(op: ComputeOp) -> list[str]:
    return [str(inner.access.data) for inner in op.body.walk() if isinstance(inner, ReadOp)]


def test_index_expressions_are_simplified_with_the_extents() -> None:
    x = tensor(2, 16)

    def body(b: Body) -> list[SSAValue]:
        outer, inner = b.spatial
        joined = outer * 16 + inner
        return [b.read(x, joined // 16, joined % 16)]

    op = compute("copy", {"o": 2, "i": 16}, [f32], body)
    op.verify()
    assert reads(op) == ["(d0, d1) -> (d0, d1)"]


def test_reductions_have_accumulators_named_and_typed() -> None:
    x = tensor(4, 8)

    def body(b: Body) -> list[SSAValue]:
        (i,), (k,) = b.spatial, b.reduction
        value = b.read(x, i, k)
        return [b.maximum(b.accumulators[0], value), b.accumulate(b.accumulators[1], value)]

    op = compute("stats", {"i": 4}, [f32, f32], body, reduce={"k": 8}, init=[float("-inf"), 0])
    op.verify()
    assert op.spatial == (4,)
    assert op.reduction == (8,)
    assert [arg.name_hint for arg in op.body.block.args] == ["i", "k", "acc", "acc"]
    assert [result.type for result in op.tensors] == [TensorType(f32, [4])] * 2


def test_a_computed_index_can_stand_in_an_access() -> None:
    x, j = tensor(9), test.TestOp(result_types=[TensorType(i64, [4])]).results[0]

    def body(b: Body) -> list[SSAValue]:
        from xdsl.dialects.arith import IndexCastOp
        from xdsl.dialects.builtin import IndexType

        position = b.as_index(b.add(IndexCastOp(b.read(j, b.spatial[0]), IndexType())))
        return [b.read(x, position + 1)]

    op = compute("take", {"i": 4}, [f32], body)
    op.verify()
    assert reads(op) == ["(d0) -> (d0)", "(d0) -> ((d0 + 1))"]


def test_scalars_of_other_types_are_refused() -> None:
    assert str(scalar_attr(2, i32)) == "2 : i32"
    with pytest.raises(LoweringError, match="is not the type of a scalar constant"):
        scalar_attr(2, TensorType(f32, [1]))


def test_variables_are_numbered() -> None:
    assert variables("i", (4, 5)) == {"i0": 4, "i1": 5}


def test_accumulators_are_at_least_as_wide() -> None:
    assert holds_products_of(i32, i32)
    assert holds_products_of(i64, i32)
    assert not holds_products_of(i32, i64)
    assert not holds_products_of(f32, i32)


def test_shapes_need_tensors_of_known_or_named_extents() -> None:
    with pytest.raises(VerifyException, match=r"dynamic.*dimension"):
        shape_of(test.TestOp(result_types=[TensorType(f32, [DYNAMIC_INDEX])]).results[0])
    with pytest.raises(VerifyException, match="is not a tensor"):
        shape_of(test.TestOp(result_types=[f32]).results[0])
