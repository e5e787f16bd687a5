"""Random graphs: native code equals the interpreter, at the level of optimisation that the seed picks."""

from __future__ import annotations

import pytest
from support.random_programs import NATIVE, seeded_module

import xrelay


@pytest.mark.grid(3)
@pytest.mark.parametrize("seed", range(40))
def test_random_graphs_equal_the_interpreter(seed: int) -> None:
    module = seeded_module(seed, NATIVE)
    opt_level = 3 if seed % 4 else seed % 3
    model = xrelay.compile(module.clone(), cache=False, threads=1 + seed % 2, opt_level=opt_level)
    answer = xrelay.same(model, module, seed=seed)
    assert answer, f"{answer}\n{module}"
