"""Element types other than float32: every level interprets the same bits as the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.levels import check_levels, check_native, graph_of
from support.op_cases import OpCase

from xrelay.errors import LoweringError

POOL = {"pool_size": (3, 3), "padding": (1, 1)}
SIGNS = ("uint8", "int8", "bool", "int64")
ORDERED = [
    OpCase(op, shapes, attributes, dtype)
    for dtype in SIGNS
    for op, shapes, attributes in (
        ("maximum", [(3, 20), (3, 20)], {}),
        ("minimum", [(3, 20), (3, 20)], {}),
        ("less", [(3, 20), (3, 20)], {}),
        ("nn.relu", [(3, 20)], {}),
        ("max", [(3, 20)], {"axis": (1,)}),
        ("clip", [(3, 20)], {"a_min": 0.0, "a_max": 1.0}),
        ("clip", [(3, 20)], {"a_min": -1000.0, "a_max": 1000.0}),
        ("nn.max_pool2d", [(1, 2, 7, 7)], POOL),
    )
]
DIVISIONS = [OpCase("divide", [(3, 20), (3, 20)], {}, dtype) for dtype in ("uint8", "int8", "int64")]
# Floats outside the integer range have no defined cast, so floats are cast only to wide signed integers.
CASTS = [
    OpCase("cast", [(3, 20)], {"dtype": target}, source)
    for source in (*SIGNS, "float16", "float32", "float64", "bfloat16")
    for target in ("uint8", "int8", "int64", "bool", "float16", "float32", "float64", "bfloat16")
    if source in SIGNS or target not in ("uint8", "int8")
]
# Wide unsigned numbers with the highest bit set, which would differ if read as signed.
UNSIGNED = [
    OpCase(op, shapes, attributes, dtype)
    for dtype in ("uint16", "uint32", "uint64")
    for op, shapes, attributes in (
        ("add", [(3, 20), (20,)], {}),
        ("divide", [(3, 20), (3, 20)], {}),
        ("less", [(3, 20), (3, 20)], {}),
        ("min", [(3, 20)], {"axis": (1,)}),
        ("sum", [(3, 20)], {"axis": (1,)}),
        ("nn.relu", [(3, 20)], {}),
        ("nn.dense", [(3, 20), (4, 20)], {}),
        ("cast", [(3, 20)], {"dtype": "float32"}),
        ("cast", [(3, 20)], {"dtype": "int64"}),
    )
]
CASES = [*ORDERED, *DIVISIONS, *CASTS, *UNSIGNED]


def extremes(shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    """Values from the whole range of the dtype, without zero except for booleans."""
    rng = np.random.default_rng(0)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.startswith("uint"):
        return rng.integers(1, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)
    if dtype.startswith("int"):
        return (rng.integers(1, 120, shape) * rng.choice([-1, 1], shape)).astype(dtype)
    return rng.uniform(-100, 100, shape).astype(np.float32).astype(np.dtype(dtype))


@pytest.mark.grid(14)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_level_agrees_on_the_dtype(case: OpCase) -> None:
    check_levels(graph_of(case), [extremes(tuple(shape), case.dtype) for shape in case.shapes])


@pytest.mark.grid(11)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_native_code_agrees_on_the_dtype(case: OpCase) -> None:
    check_native(graph_of(case), [extremes(tuple(shape), case.dtype) for shape in case.shapes])


@pytest.mark.parametrize("op", ["add", "divide"])
def test_arithmetic_on_booleans_is_refused(op: str) -> None:
    case = OpCase(op, [(3, 20), (3, 20)], {}, "bool")
    with pytest.raises(LoweringError, match="arithmetic on booleans"):
        check_native(graph_of(case), [extremes((3, 20), "bool")] * 2)
