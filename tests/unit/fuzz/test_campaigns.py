"""The campaigns of `make fuzz`: a few cases of each, and how findings are told apart."""

from __future__ import annotations

import pytest
from fuzz.campaigns import CAMPAIGNS
from fuzz.finding import Finding, signature
from support.examples import examples


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_the_first_cases_find_nothing(name: str) -> None:
    for seed in range(examples(2)):
        CAMPAIGNS[name].function()(seed)


def test_findings_that_differ_in_numbers_and_names_are_one() -> None:
    first = Finding("wrong", "output 'y' at (0, 3): 1.5e-3, not 2.0")
    second = Finding("wrong", "output 'z' at (1, 0): -7, not 0x1f\nmore")
    assert first.signature == second.signature == "wrong: output '…' at (#, #): #, not #"
    assert signature("symbols { (a.1, { f, g }) } are missing") != signature("symbols are missing")
