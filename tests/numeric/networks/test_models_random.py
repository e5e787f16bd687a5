"""Random graphs: native code equals the interpreter, at an optimisation level that the seed selects.

With control flow they have branches, loops, bindings, statically known closures, and functions.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.random_programs import NATIVE, seeded_module
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp

import xrelay


@pytest.mark.grid(10)
@pytest.mark.parametrize("seed", range(40))
def test_random_graphs_equal_the_interpreter(seed: int) -> None:
    module = seeded_module(seed, NATIVE)
    opt_level = 3 if seed % 4 else seed % 3
    model = xrelay.compile(module.clone(), cache=False, threads=1 + seed % 2, opt_level=opt_level)
    answer = xrelay.same(model, module, seed=seed)
    assert answer, f"{answer}\n{module}"


@pytest.mark.grid(6)
@pytest.mark.parametrize("seed", range(36))
def test_random_programs_equal_the_interpreter(seed: int) -> None:
    module = seeded_module(seed, replace(NATIVE, steps=10, control=True))
    for function in module.ops:
        if isinstance(function, FuncOp) and function.sym_name.data != "main":
            function.sym_visibility = StringAttr("private")
    model = xrelay.compile(module.clone(), cache=False, threads=1 + seed % 2, opt_level=3 if seed % 2 else seed % 3)
    answer = xrelay.same(model, module, seed=seed)
    assert answer, f"{answer}\n{module}"
