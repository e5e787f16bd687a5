"""Random uses of Relay's operators, and random graphs at every level, against numpy."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fuzz.relay_ops import run_case
from hypothesis import given, settings
from hypothesis import strategies as st
from support.choices import Drawn
from support.examples import examples
from support.levels import assert_same, check_levels, outputs
from support.random_programs import NATIVE, random_forest, random_inputs
from xdsl.dialects.builtin import ModuleOp

from xrelay.api.compile import compile

SMALL = replace(NATIVE, steps=3, most_elements=60)
GRAPHS = 10
"""The number of graphs in one module."""


@pytest.mark.grid(1)
@pytest.mark.parametrize("seed", range(examples(24, more=10)))
def test_native_code_of_a_random_instance_is_what_numpy_says(seed: int) -> None:
    """Other extents, static or named, element types and properties; at any level, for several CPUs.

    `make fuzz CASE=operators:17` runs the case of seed 17, and `make fuzz` has other seeds each time.
    """
    run_case(seed)


@st.composite
def forests(draw: st.DrawFn) -> ModuleOp:
    return random_forest(Drawn(draw), SMALL, GRAPHS)


@settings(max_examples=examples(3, more=7), derandomize=True)
@given(forests())
def test_random_graphs_are_the_same_at_every_level(module: ModuleOp) -> None:
    inputs = random_inputs(module)
    expected = outputs(module, inputs)
    native = compile(module.clone(), cache=False, threads=1).run(list(inputs))
    assert_same(native, expected, "native", 1e-4)
    check_levels(module, inputs, 1e-4)
