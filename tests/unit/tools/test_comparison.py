"""Comparison of the outputs of two engines, and engines that fail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from xrelay.tools.comparison.compare import Difference, compare, difference, table
from xrelay.tools.comparison.engines import Workload

ONES = np.ones(4, np.float32)


@pytest.mark.parametrize(
    ("found", "wanted", "expected"),
    [
        (ONES, ONES, Difference(0.0, agrees=True)),
        (ONES * 2, ONES, Difference(1.0, agrees=False)),
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), Difference(0.0, agrees=True)),
        (np.array([np.inf]), np.array([np.inf]), Difference(0.0, agrees=True)),
        (np.array([1000.0, 0.05]), np.array([1000.0, 0.0]), Difference(5e-5, agrees=True)),
        (np.zeros((0, 3)), np.zeros((0, 3)), Difference(0.0, agrees=True)),
    ],
)
def test_difference(found: np.ndarray, wanted: np.ndarray, expected: Difference) -> None:
    result = difference([found], [wanted])
    assert result.agrees == expected.agrees
    assert result.share == pytest.approx(expected.share)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (ONES, ONES.reshape(2, 2)),
        (ONES, ONES.astype(np.float64)),
        (np.array([np.nan]), np.array([1.0])),
        (np.array([1.0]), np.array([np.inf])),
    ],
)
def test_outputs_that_never_agree(found: np.ndarray, wanted: np.ndarray) -> None:
    assert not difference([found], [wanted]).agrees


def test_an_engine_that_fails(tmp_path: Path) -> None:
    (tmp_path / "no.onnx").write_bytes(b"no model")
    rows = compare(Workload(str(tmp_path / "no.onnx"), ("x",), {}), [ONES], ["xrelay", "onnxruntime"], 1, 1)
    assert all(row.error for row in rows)
    assert table(rows).count(" failed: ") == 2
