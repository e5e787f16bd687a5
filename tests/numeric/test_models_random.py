"""Random graphs: native code equals the interpreter, at the level of optimisation that the seed picks."""

from __future__ import annotations

import pytest
from support.random_programs import Programs

import xrelay
from xrelay import relay


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs_equal_the_interpreter(seed: int) -> None:
    module = relay.Module.from_expr(Programs(seed).program(length=4 + seed % 14))
    opt_level = 3 if seed % 4 else seed % 3
    model = xrelay.compile(module, cache=False, threads=1 + seed % 2, opt_level=opt_level)
    answer = xrelay.same(model, module, seed=seed)
    assert answer, f"{answer}\n{module}"
