"""Names of a model with terminal escape sequences: the tool prints them escaped."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, save_model
from rich.console import Console

from xrelay.tools.command_line import progress_bar
from xrelay.tools.xrelay_cli import main

EVIL = "\x1b[31mX\x1b]0;t\x07\u202e[/b]\r\n"
COMMANDS = (
    ["inspect"],
    ["inspect", "--coverage"],
    ["explain", "fusion"],
    ["explain", "fusion", "--dot"],
    ["explain", "views"],
    ["run", "--random", "--check", "--no-cache"],
    ["run", "--random", "--interpret"],
    ["run", "--input", "other=x.npy"],
    ["run", "--size", "other=2", "--random", "--no-cache"],
    ["run"],
    ["bench", "--iters", "1", "--no-cache"],
    ["compile", "--timing", "-o", "m.xrelay", "--no-cache"],
)


def _model(last: str) -> ModelProto:
    """A model of two nodes, the second of the op type `last`, with all names `EVIL`."""
    named = [helper.make_tensor_value_info(EVIL + each, TensorProto.FLOAT, [EVIL, 4]) for each in ("x", "y")]
    nodes = [
        helper.make_node("Relu", [EVIL + "x"], [EVIL + "t"], name=EVIL + "first"),
        helper.make_node(last, [EVIL + "t"], [EVIL + "y"], name=EVIL + "second"),
    ]
    graph = helper.make_graph(nodes, EVIL, named[:1], named[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


@pytest.mark.parametrize("last", ["Exp", "Unknown" + EVIL])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_output_commands_the_terminal(
    command: Sequence[str],
    last: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    save_model(_model(last), "m.onnx")
    np.save("x.npy", np.ones((2, 4), np.float32))
    position = 2 if command[0] == "explain" else 1
    main([*command[:position], "m.onnx", *command[position:]])
    for text in capsys.readouterr():
        assert all(line.isprintable() for line in text.split("\n")), text


def test_the_progress_of_a_model_commands_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = io.StringIO()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=drawn, force_terminal=True, width=200))
    with progress_bar("compiling") as bar:
        assert bar is not None
        bar(1, 2, f"kernel {EVIL}")
    assert r"kernel \x1b[31mX\x1b]0;t\x07\u202e[/b]\r\n" in drawn.getvalue()


def test_a_page_with_a_name_that_is_not_text_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    save_model(_model("Exp"), "m.onnx")
    Path("m.onnx").rename("\udcff.onnx")
    assert main(["explore", "\udcff.onnx", "-o", "page.html", "--no-run"]) == 1
    assert "UTF-8" in capsys.readouterr().err
    assert not Path("page.html").exists()
