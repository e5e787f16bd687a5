"""Every operator at every level: relay, topi, loop nests, scheduled nests and native code compute the same."""

from __future__ import annotations

import pytest
from support.levels import check_levels, check_native, graph_of
from support.op_cases import OP_CASES, OpCase


@pytest.mark.grid(4)
@pytest.mark.parametrize("case", OP_CASES, ids=lambda case: case.id)
def test_every_level_of_an_op_computes_the_same(case: OpCase) -> None:
    check_levels(graph_of(case), case.inputs(), every=True)


@pytest.mark.grid(4)
@pytest.mark.parametrize("case", OP_CASES, ids=lambda case: case.id)
def test_native_code_of_an_op_computes_the_same(case: OpCase) -> None:
    check_native(graph_of(case), case.inputs())
