"""The cases of a grid that `make test` runs."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from support.grids import diagonal

GRID = list(product("abcd", range(6)))
TESTS = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5, 6, 7, 24, 100])
def test_one_in_step_runs_with_as_many_values_as_that_many_can_have(step: int) -> None:
    chosen = [GRID[number] for number in diagonal(GRID, step)]
    assert len(set(chosen)) == len(chosen) == -(-len(GRID) // step)
    for parameter, values in enumerate(("abcd", range(6))):
        assert len({case[parameter] for case in chosen}) == min(len(chosen), len(values))


def test_a_step_that_divides_a_parameter_misses_none_of_its_values() -> None:
    """If only each sixth case ran, the second parameter would always be 0."""
    assert [GRID[number] for number in diagonal(GRID, 6)] == [("a", 0), ("b", 1), ("c", 2), ("d", 3)]


def test_cases_with_nothing_in_common_are_taken_evenly() -> None:
    assert diagonal([[number] for number in range(10)], 3) == [0, 3, 6, 9]
    assert diagonal([[]] * 10, 4) == [0, 4, 8]
    assert diagonal([], 4) == []


def test_every_value_may_be_asked_for() -> None:
    ops = [{"Add"}, {"Add"}, {"Add", "Mul"}, {"Add"}, {"Mul"}, {"Exp"}, {"Add"}]
    assert diagonal(ops, 7) == [2]
    assert diagonal(ops, 7, all_values=True) == [2, 5]
    assert diagonal(ops, 2, all_values=True) == [0, 2, 4, 5]


OTHER = """
import pytest

@pytest.mark.parametrize("x", range(17))
def test_many(x: int) -> None: ...
"""


def collected(folder: Path, source: str) -> str:
    """Returns the output of pytest for a test of numbers with this source."""
    tests = folder / "tests" / "numeric"
    tests.mkdir(parents=True, exist_ok=True)
    (tests / "test_other.py").write_text(source, encoding="utf-8")
    (folder / "pytest.ini").write_text(f"[pytest]\nmarkers = grid(k)\npythonpath = {TESTS}\n", encoding="utf-8")
    (folder / "tests" / "conftest.py").write_text((TESTS / "conftest.py").read_text(encoding="utf-8"), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", "-p", "no:xdist"]
    environment = {**os.environ, "XRELAY_EXAMPLES": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_many_cases_say_how_many_run(tmp_path: Path) -> None:
    refused = collected(tmp_path, OTHER)
    assert "test_other.py::test_many has 17 cases: @pytest.mark.grid(k) has to say how many run" in refused
    assert "4 tests collected" in collected(tmp_path, OTHER.replace("@", "@pytest.mark.grid(5)\n@", 1))
