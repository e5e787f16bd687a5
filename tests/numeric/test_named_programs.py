"""Random programs with named dimensions, branches, loops, bindings, closures, calls and recursion run natively.

Each is compiled once and run at three tuples of sizes, where it gives what the interpreter gives, or reports an error
where that does. The fuzz campaign `named` has longer ones.
"""

from __future__ import annotations

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from support.choices import Drawn, Seeded
from support.examples import FACTOR, examples
from support.named_programs import check_program

PROGRAMS = examples(8, more=6)
"""In each of two parts, which run side by side: 16 programs in `make test`, 960 in `make test-all`."""
STEPS = 1 if FACTOR <= 1 else 5
"""How many steps a program has at most; one may be a loop with a recursion in it."""


@pytest.mark.parametrize("part", range(2))
@settings(max_examples=PROGRAMS, deadline=None)
@given(data=st.data())
def test_native_code_equals_the_interpreter(part: int, data: st.DataObject) -> None:
    for outcome in check_program(Drawn(data.draw), STEPS):
        event(outcome)


def test_programs_run_and_report() -> None:
    assert {"ran", "reported"} == set(check_program(Seeded(16), 1))
