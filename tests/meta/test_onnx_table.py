"""The table of ops in docs/onnx.md matches the registry; run as a script, this file writes it."""

from __future__ import annotations

from pathlib import Path

from xrelay.frontend.onnx.op_reference import onnx_reference, op_table
from xrelay.frontend.onnx.registry import registered_ops
from xrelay.tools.reference.pages import ONNX_OPS

DOCUMENT = Path(__file__).parents[2] / "docs" / "onnx.md"
HEADER = "| op |"


def written() -> tuple[str, str]:
    """Returns the text before the table, and the table."""
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, table = text.partition(HEADER)
    return before, HEADER + table


def test_the_table_is_that_of_the_registry() -> None:
    assert written()[1] == op_table()


def test_every_registered_op_has_a_row() -> None:
    rows = [line.split(" | ")[0].removeprefix("| ") for line in op_table().splitlines()[2:]]
    assert rows == registered_ops()


if __name__ == "__main__":
    DOCUMENT.write_text(written()[0] + op_table(), encoding="utf-8")
    (DOCUMENT.parents[1] / ONNX_OPS).write_text(onnx_reference(), encoding="utf-8")
