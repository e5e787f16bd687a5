"""`relay.searchsorted` against numpy, in native code and at the intermediate levels."""

from __future__ import annotations

import numpy as np
import pytest
from support.levels import check_levels, graph_of, outputs
from support.op_cases import OpCase

from xrelay.api.compile import compile

RNG = np.random.default_rng(17)


@pytest.mark.grid(5)
@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize(
    ("rows", "values"), [((0,), (3,)), ((1,), (2, 2)), ((13,), (3, 4)), ((2, 8), (2, 5)), ((16,), ())]
)
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_searchsorted(rows: tuple[int, ...], values: tuple[int, ...], dtype: str, right: bool) -> None:
    sequence = np.sort(RNG.integers(0, 200, rows).astype(dtype), axis=-1)
    x = np.asarray(RNG.integers(0, 200, values).astype(dtype))
    if dtype == "float32" and rows == (13,):
        sequence[-2:] = np.nan
        x[0, 0] = np.nan
    case = OpCase("searchsorted", [rows, values], {"right": right, "dtype": "int64"}, dtype=dtype)
    (found,) = outputs(graph_of(case), [sequence, x])
    if len(rows) == 1:
        np.testing.assert_array_equal(found, np.searchsorted(sequence, x, "right" if right else "left"))
    check_levels(graph_of(case), [sequence, x])
    (native,) = compile(graph_of(case), cache=False).run([sequence, x])
    np.testing.assert_array_equal(native, found)
