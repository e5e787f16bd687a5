"""Attribute classes with their parameters: results equal xDSL's, and each constraint is made once."""

from __future__ import annotations

import cProfile
import pstats
from itertools import product

import pytest
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    VectorType,
    f32,
    f64,
    i32,
    i64,
)
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xrelay.dialects.shared.is_attribute import is_attribute

KINDS: list[type[Attribute]] = [
    ArrayAttr[StringAttr],
    ArrayAttr[DictionaryAttr],
    ArrayAttr[IntegerAttr],
    DenseArrayBase[IntegerType],
    IntegerAttr[IntegerType],
    TensorType[Attribute],
    TensorType[IntegerType],
    VectorType[IntegerType],
    StringAttr,
]
VALUES: list[object] = [
    *(None, "text", 0, [], [StringAttr("a")], StringAttr),
    *(StringAttr("a"), DictionaryAttr({}), i64, f32, IntegerAttr(0, 64), IntegerAttr.from_index_int_value(1)),
    *(ArrayAttr([]), ArrayAttr([StringAttr("a")]), ArrayAttr([StringAttr("a"), i64]), ArrayAttr([DictionaryAttr({})])),
    *(DenseArrayBase.from_list(i64, []), DenseArrayBase.from_list(i32, [1]), DenseArrayBase.from_list(f64, [1.0])),
    *(TensorType(f32, []), TensorType(i32, [0]), VectorType(i32, [4]), VectorType(f32, [4])),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_answer_is_that_of_isa(kind: type[Attribute]) -> None:
    for value, _ in product(VALUES, range(2)):
        assert is_attribute(value, kind) == isa(value, kind), value


def test_a_constraint_is_made_once() -> None:
    kind = ArrayAttr[ArrayAttr[StringAttr]]
    value = ArrayAttr([ArrayAttr([StringAttr("a")])])
    is_attribute(value, kind)
    profile = cProfile.Profile()
    profile.runcall(lambda: [is_attribute(value, kind) for _ in range(100)])
    called = {name for _, _, name in pstats.Stats(profile).stats}  # type: ignore[attr-defined]
    assert "irdl_to_attr_constraint" not in called
