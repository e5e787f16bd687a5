"""The values of two runs, node by node: the first that differs, with the element that is furthest apart."""

from __future__ import annotations

import numpy as np

from xrelay.tools.comparison.divergence import ValueRow, compared_values, report
from xrelay.tools.comparison.node_values import NodeValue

VALUES = [NodeValue("a", "Relu"), NodeValue("b", "Exp"), NodeValue("c", "Add"), NodeValue("absent", "Sub")]
LEVELS = ("native", "interpreter")


def rows() -> list[ValueRow]:
    a, b = np.ones(3, np.float32), np.array([[1, 2], [3, 4]], np.float32)
    wrong = b + np.array([[0, 0.25], [0, 0.5]], np.float32)
    own, reference = {"a": a, "b": wrong, "c": a}, {"a": a, "b": b, "c": np.ones(4, np.float32)}
    return list(compared_values(VALUES, own, reference, LEVELS))


def test_each_value_of_both_runs_has_a_row():
    assert [(row.value.name, row.agrees) for row in rows()] == [("a", True), ("b", False), ("c", False)]


def test_the_furthest_element_is_that_of_the_largest_share_of_its_tolerance():
    (_, row, _) = rows()
    assert row.comparison is not None
    assert (row.comparison.index, row.comparison.values) == ((1, 1), (4.5, 4.0))
    assert (row.comparison.max_abs, row.comparison.max_rel, row.largest) == (0.5, 0.125, 4.0)
    assert row.as_data()["index"] == [1, 1]


def test_other_shapes_differ_without_a_comparison():
    (*_, row) = rows()
    assert row.comparison is None
    assert row.details() == "its type is float32[3] and float32[4]"


def test_the_report_lists_the_values_that_differ_and_the_first():
    lines = list(report(rows(), LEVELS, in_full=False))
    assert [line.split()[0] for line in lines[1:3]] == ["DIFFERS", "DIFFERS"]
    assert lines[-2:] == [
        "2 of 3 values differ: native against interpreter",
        "first: b = Exp, furthest apart at [1, 1]: 4.5 and 4",
    ]
    assert len(list(report(rows(), LEVELS, in_full=True))) == len(lines) + 1


def test_tolerances_are_arguments():
    own, reference = {"a": np.array([1.1])}, {"a": np.array([1.0])}
    (row,) = compared_values(VALUES, own, reference, LEVELS, rtol=0.2)
    assert row.agrees
    (row,) = compared_values(VALUES, own, reference, LEVELS, rtol=0.0, atol=0.05)
    assert not row.agrees
