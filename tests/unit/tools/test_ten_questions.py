"""The commands of docs/explore.md answer its ten questions on a small model."""

from __future__ import annotations

import re
import shlex
from contextlib import chdir
from pathlib import Path

import pytest
from tests.unit.tools.explored import write_model

from xrelay.tools import xrelay_cli, xrelay_opt

PAGE = (Path(__file__).parents[3] / "docs" / "explore.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([^|]+\?) \| ?([^|]*?) ?\| ?([^|]*?) ?\|$", PAGE, re.MULTILINE)
NAMES = {"fusion": "/stem/pool/MaxPool", "layout": "/stem/conv/Conv", "schedule": "fused_nn_conv2d_nn_relu"}
ANSWERS = {
    "Which kernel is slowest, and why?": r"GFLOP/s .*roofline",
    "Why was this op not fused?": r"decision: not fused(.|\n)*blocked by: the edge from",
    "Where is the memory?": r"memory of a run: [1-9]",
    "Which node computes wrong values?": r"values agree: native against interpreter",
    "How do I make the batch dynamic?": r"dynamic dimensions: n ",
    "Why this layout?": r"/stem/conv/Conv: remark: relay-alter-op-layout: .* works in ",
    "Why this schedule, and what would another one cost?": r"cycles(.|\n)*\* +[\d,]+ (.|\n)*primitives",
    "What did this pass change?": r"\+ .*relay\.fused",
    "What does a kernel cost on another CPU?": r"cycles(.|\n)*\* +[\d,]+ (.|\n)*primitives",
}
MODULE = """
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.exp(%x) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}
"""


def run(command: str) -> int:
    """Runs a command of the table, with names of the small model, in this process; returns its exit code."""
    tool, *words = shlex.split(command)
    name = NAMES.get(words[1], "") if words[0] == "explain" else ""
    words = [word.replace("NAME", name).replace("PASS", "relay-infer-type,relay-fuse-ops") for word in words]
    words = [word.replace("data:nx3x224x224", "x:nx3x16x16") for word in words]
    return {"xrelay": xrelay_cli.main, "xrelay-opt": xrelay_opt.main}[tool](words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("questions")
    write_model(folder / "model.onnx")
    (folder / "model.mlir").write_text(MODULE, encoding="utf-8")
    return folder


def test_there_are_ten_questions() -> None:
    assert len(ROWS) == 10
    assert {question for question, _, cell in ROWS if "`xrelay" in cell} == ANSWERS.keys()
    assert all(page or cell for _, page, cell in ROWS)


@pytest.mark.parametrize(("question", "cell"), [(question, cell) for question, _, cell in ROWS if "`xrelay" in cell])
def test_command_answers(question: str, cell: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commands = re.findall(r"`(xrelay[^`]+)`", cell)
    assert 1 <= len(commands) <= 2
    with chdir(folder):
        assert [run(each) for each in commands] == [0] * len(commands)
    assert re.search(ANSWERS[question], "".join(capsys.readouterr()))
