"""Buffer types equal those of xDSL's constructor."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    StringAttr,
    VectorType,
    f32,
    i8,
    i64,
)
from xdsl.ir import Attribute

from xrelay.dialects.upstream.buffer_types import buffer_type


@pytest.mark.parametrize("extents", [(), (0,), (1,), (4, DYNAMIC_INDEX, 7), (1 << 31, 1 << 40)])
@pytest.mark.parametrize("element", [f32, i8, i64, VectorType(f32, [8])])
def test_it_is_the_type_that_the_constructor_makes(extents: tuple[int, ...], element: Attribute) -> None:
    assert buffer_type(element, extents) == MemRefType(element, extents)
    for layout in (NoneAttr(), StridedLayoutAttr([1] * len(extents), None)):
        for space in (NoneAttr(), StringAttr("local")):
            made, expected = buffer_type(element, extents, layout, space), MemRefType(element, extents, layout, space)
            assert made == expected
            assert hash(made) == hash(expected)
