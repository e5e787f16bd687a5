"""Types cached by identity: a cached result never belongs to another object, and the cache is bounded."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Block

from xrelay.dialects.relay.core.attribute_values import int_array
from xrelay.dialects.relay.ops.nn.conv import Conv2DOp
from xrelay.dialects.relay.ops.tensor.shape import ReshapeOp
from xrelay.dialects.shared.identity_memo import IdentityMemo
from xrelay.dialects.shared.types import shape_of, tensor_type
from xrelay.errors import ConstraintError


def test_shapes_of_types_that_come_and_go():
    # Freed types pass their addresses to the next ones, more often than a memo has entries.
    assert all(shape_of(TensorType(f32, [extent])) == (extent,) for extent in range(10_000))


def test_a_property_that_changes_gives_another_type():
    data, weight = Block(arg_types=[tensor_type([1, 8, 4, 4], f32), tensor_type([8, 8, 1, 1], f32)]).args
    conv = Conv2DOp.call(data, weight, channels=8, kernel_size=(1, 1))
    types = [data.type, weight.type]
    assert conv.inferred_type(types) == conv.result.type == tensor_type([1, 8, 4, 4], f32)
    conv.properties["strides"] = int_array([2, 2])
    assert conv.inferred_type(types) == tensor_type([1, 8, 2, 2], f32)


def test_a_refusal_is_repeated():
    data = Block(arg_types=[tensor_type([6], f32)]).args[0]
    for _ in range(2):
        with pytest.raises(ConstraintError, match="reshape C3"):
            ReshapeOp.call(data, newshape=(4,))


def test_a_full_memo_forgets_and_keeps_what_it_names():
    memo = IdentityMemo[int](limit=2)
    objects = [object(), object(), object()]
    for number, one in enumerate(objects):
        assert memo.add(id(one), number, one) == number
        assert len(memo) <= 2
    assert memo.get(id(objects[2])) == 2
    assert memo.get(id(objects[0])) is None
