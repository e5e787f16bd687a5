"""The cases that hypothesis draws in `make test` do not depend on the loaded modules."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import FACTOR


def drawn_integers() -> list[int]:
    numbers: list[int] = []

    @settings(max_examples=200, derandomize=True)
    @given(st.integers())
    def draw(number: int) -> None:
        numbers.append(number)

    draw()
    return numbers


@pytest.mark.skipif(FACTOR > 1, reason="`make test-all` draws new cases")
def test_a_loaded_module_changes_no_draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = drawn_integers()
    path = tmp_path / "new_constants.py"
    path.write_text(f"NUMBERS = {[7_654_321 + number for number in range(100)]}\n")
    spec = spec_from_file_location("new_constants", path)
    assert spec is not None
    monkeypatch.setitem(sys.modules, "new_constants", module_from_spec(spec))
    assert drawn_integers() == before
