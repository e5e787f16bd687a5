"""Progress bars, and the progress of interpreters: by the calls of the entry function, and only on a terminal."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from support.levels import run_passes
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay.interpreters.at_level import run_at_level
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.tools.command_line import progress_bar
from xrelay.tools.xrelay_cli import main

TEXT = """
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = relay.nn.dense(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = relay.nn.softmax(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}
"""


def lowered(level: str) -> ModuleOp:
    """The module at a level, with a kernel for each op."""
    module = parse_module(full_context(), TEXT, "calls.mlir")
    passes = "relay-infer-type,relay-fuse-ops,relay-outline-fused,convert-relay-to-topi"
    run_passes(module, passes + (",topi-expand-named,convert-topi-to-loop" if level == "loop" else ""))
    return module


@pytest.mark.parametrize("level", ["topi", "loop"])
def test_calls_are_reported_before_they_run(level: str) -> None:
    reports: list[tuple[int, int, str]] = []

    def report(done: int, total: int, step: str) -> None:
        reports.append((done, total, step))

    run_at_level(level, lowered(level), "main", [np.eye(4, dtype=np.float32)], report)
    assert [(done, total) for done, total, _ in reports] == [(0, 2), (1, 2)]
    assert xrelay.same(lowered(level), lowered(level), progress=report)
    assert [done for done, _, _ in reports] == [0, 1] * 3
    assert ["dense" in name for _, _, name in reports[:2]] == [True, False]


@pytest.mark.parametrize("is_terminal", [False, True])
def test_progress_is_drawn_on_terminals(
    is_terminal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, drawn = tmp_path / "m.mlir", io.StringIO()
    path.write_text(print_module(lowered("loop")), encoding="utf-8")
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal, raising=False)
    console = Console(file=drawn, force_terminal=True, width=200)

    def console_of(*, stderr: bool) -> Console:
        assert stderr
        return console

    monkeypatch.setattr("rich.console.Console", console_of)
    assert main(["run", str(path), "--random", "--interpret"]) == 0
    assert capsys.readouterr().err == ""
    assert ("interpreting" in drawn.getvalue()) is is_terminal
    assert ("remaining" in drawn.getvalue()) is is_terminal


@pytest.mark.parametrize("estimate", [False, True])
def test_only_an_estimate_needs_a_thread(estimate: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compilation forks workers only in a process without other threads."""
    drawn = io.StringIO()
    console = Console(file=drawn, force_terminal=True, width=200)

    def console_of(*, stderr: bool) -> Console:
        assert stderr
        return console

    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("rich.console.Console", console_of)
    before = set(threading.enumerate())
    with progress_bar("compiling", estimate=estimate) as progress:
        assert progress is not None
        assert bool(set(threading.enumerate()) - before) == estimate
        progress(1, 4, "kernel @a")
        progress(1, 4, "kernel @b")
    assert "kernel @a" in drawn.getvalue() or estimate
