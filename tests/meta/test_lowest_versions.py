"""The lowest versions that pyproject.toml allows, and the number of examples of random tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from run_lowest import lowest_versions

ROOT = Path(__file__).resolve().parents[2]


def test_every_requirement_has_a_lower_bound() -> None:
    versions = lowest_versions((ROOT / "pyproject.toml").read_text())
    assert any(version.startswith("numpy==") for version in versions)
    assert any(version.startswith("pytest==") for version in versions)
    with pytest.raises(SystemExit, match="without a lower bound: lit"):
        lowest_versions('[project]\ndependencies = ["lit"]\noptional-dependencies = {test = []}')


@pytest.mark.parametrize(("factor", "expected"), [("1", "100 1"), ("0.1", "10 1"), ("10", "1000 10")])
def test_one_variable_says_how_many_examples_are_tried(factor: str, expected: str) -> None:
    script = "from support.examples import examples; print(examples(100), examples(1))"
    environment = {**os.environ, "XRELAY_EXAMPLES": factor, "PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected
