"""Compilations succeed if killed and repeated, run at once, or deprived of the cache, disk space or a worker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork: there is no process to disturb")

Outcomes = dict[str, list[Any]]
KILLED = 9
TESTS = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """The outcomes of the compilations of each scenario."""
    folder = str(tmp_path_factory.mktemp("disturbed"))
    command = [sys.executable, "-m", "support.disturbed_compilations", folder]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(line) for line in done.stdout.splitlines())


def is_fine(outcome: dict[str, object]) -> bool:
    """Whether a compilation succeeded without warnings."""
    return outcome.get("right") is True and not outcome["signal"] and not outcome["warnings"]


@pytest.mark.parametrize("scenario", ["killed", "killed, known"])
def test_what_a_killed_compilation_leaves_does_no_harm(scenario: str, outcomes: Outcomes) -> None:
    rows = outcomes[scenario]
    assert all(map(is_fine, rows[1::2])), rows
    assert [row["signal"] for row in rows[::2]] == [KILLED] * (len(rows) // 2 - 1) + [0]
    assert len(rows) >= 6


@pytest.mark.parametrize("scenario", ["cleared", "cleared, known", "worker killed", "fork killed"])
def test_what_is_lost_meanwhile_is_not_missed(scenario: str, outcomes: Outcomes) -> None:
    rows = outcomes[scenario]
    assert all(map(is_fine, rows)), rows
    assert len(rows) >= 6


def test_several_compilations_of_a_model_share_a_cache(outcomes: Outcomes) -> None:
    assert all(map(is_fine, outcomes["at once"])), outcomes["at once"]


def test_a_full_disk_is_told_in_one_line(outcomes: Outcomes) -> None:
    for full, after in zip(outcomes["full disk"][::2], outcomes["full disk"][1::2], strict=True):
        (warning,) = full["warnings"]
        assert full["right"]
        assert "the cache cannot be written" in warning
        assert "File too large" in warning
        assert is_fine(after)


def test_no_worker_is_left_behind(outcomes: Outcomes) -> None:
    count, *running = outcomes["workers"]
    assert count >= 6
    assert not running
