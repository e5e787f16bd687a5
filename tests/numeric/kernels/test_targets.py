"""Every operator in every float type on a CPU with only SSE2, against the interpreter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.levels import assert_same, graph_of, outputs
from support.op_cases import OP_CASES, OpCase

from xrelay.api.compile import compile

TOLERANCES = {"float16": 2e-3, "bfloat16": 2e-2, "float64": 1e-9}
FLOATS = {case.op: case for case in reversed(OP_CASES) if case.dtype == "float32"}
CASES = [replace(case, dtype=dtype) for case in FLOATS.values() for dtype in TOLERANCES]


@pytest.mark.grid(8)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_oldest_cpu_computes_the_same(case: OpCase):
    dtype = np.dtype(case.dtype)
    inputs = [array.astype(dtype) for array in replace(case, dtype="float32").inputs()]
    expected = outputs(graph_of(case), inputs)
    found = compile(graph_of(case), target="cpu -mcpu=x86-64", cache=False, threads=1).run(inputs)
    assert_same(found, expected, "native", TOLERANCES[case.dtype])
