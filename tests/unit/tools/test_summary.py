"""Ratios to the better peer, and their geometric mean."""

from __future__ import annotations

import statistics

import pytest

from xrelay.tools.comparison.compare import Row
from xrelay.tools.comparison.summary import Measured, summary


def measured(model: str, ours: list[float], *peers: list[float], threads: int = 2) -> Measured:
    names = ("xrelay", "onnxruntime", "openvino")
    return Measured(model, [Row(name, threads, wall=times) for name, times in zip(names, (ours, *peers), strict=False)])


def test_ratios_to_the_better_peer() -> None:
    each = measured("a", [2.0, 6.0, 4.0], [4.0, 5.0, 16.0], [8.0, 8.0, 1.0])
    assert each.ratio(min) == pytest.approx(2.0)
    assert each.ratio(statistics.median) == pytest.approx(4.0 / 5.0)
    assert each.better_peer is each.rows[2]


def test_engines_that_failed() -> None:
    each = measured("a", [2.0], [4.0], [8.0])
    each.rows[1].error = "no such op"
    assert each.ratio(min) == pytest.approx(0.25)
    each.rows[0].error = "no such op"
    assert each.ratio(min) is None
    assert "failed" in summary([each])
    assert "geometric mean" not in summary([each])


def test_summary_has_a_mean_for_each_number_of_threads() -> None:
    found = [measured("a", [1.0], [2.0]), measured("b", [2.0], [1.0]), measured("a", [1.0], [4.0], threads=1)]
    lines = summary(found).splitlines()
    assert [line.split()[-2:] for line in lines if line.startswith("geometric mean")] == [["1.00"] * 2, ["0.25"] * 2]
    assert [line for line in lines if "thread" in line] == [lines[0], lines[4]]
