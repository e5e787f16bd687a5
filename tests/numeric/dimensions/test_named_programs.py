"""Random programs with named dimensions, branches, loops, bindings, closures, calls and recursion in native code.

Each is compiled once and run at three tuples of sizes, where it returns the interpreter's results or also reports an
error. The fuzz campaign `named` has longer programs.
"""

from __future__ import annotations

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from support.choices import Drawn, Seeded
from support.examples import FACTOR, examples
from support.named_programs import check_program

PROGRAMS = examples(2, more=24)
"""The number in each of two parallel parts: 4 programs in `make test`, 960 in `make test-all`."""
STEPS = 1 if FACTOR <= 1 else 5
"""The maximum number of steps of a program; a step may be a loop that contains a recursion."""


@pytest.mark.parametrize("part", range(2))
@settings(max_examples=PROGRAMS, deadline=None)
@given(data=st.data())
def test_native_code_equals_the_interpreter(part: int, data: st.DataObject) -> None:
    for outcome in check_program(Drawn(data.draw), STEPS):
        event(outcome)


def test_programs_run_and_report() -> None:
    assert {"ran", "reported"} == set(check_program(Seeded(16), 1))
