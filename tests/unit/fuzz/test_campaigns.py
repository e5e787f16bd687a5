"""The campaigns of `make fuzz`: a few cases of each, and how findings are told apart."""

from __future__ import annotations

import numpy as np
import pytest
from fuzz.campaigns import CAMPAIGNS
from fuzz.finding import Finding, signature
from fuzz.relay_instances import random_instance
from support.examples import examples


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_the_first_cases_find_nothing(name: str) -> None:
    for seed in range(examples(2)):
        CAMPAIGNS[name].function()(seed)


def test_drawn_properties_are_of_their_kind() -> None:
    """The extents of a shape are asked for as floats now and then, which the op does not have."""
    modules = [random_instance(np.random.default_rng(seed), "shape_of") for seed in range(60)]
    assert any("-> tensor<2xi8>" in str(module) for module in modules)
    assert not any("-> tensor<2xf" in str(module) for module in modules)


def test_findings_that_differ_in_numbers_and_names_are_one() -> None:
    first = Finding("wrong", "output 'y' at (0, 3): 1.5e-3, not 2.0")
    second = Finding("wrong", "output 'z' at (1, 0): -7, not 0x1f\nmore")
    assert first.signature == second.signature == "wrong: output '…' at (#, #): #, not #"
    assert signature("symbols { (a.1, { f, g }) } are missing") != signature("symbols are missing")
