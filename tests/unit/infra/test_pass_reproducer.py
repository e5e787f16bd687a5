"""Crash reproducers: what a file holds, what it says it cannot hold, and that it fails again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.seed_example import module
from xdsl.dialects.builtin import ModuleOp

from xrelay import instrument, transform
from xrelay.dialects.relay.ops.nn_conv import Conv2DOp
from xrelay.errors import PassError
from xrelay.passes.instruments.reproducer import read_reproducer
from xrelay.tools.xrelay_opt import main
from xrelay.transform import PassContext, Sequential


@transform.module_pass(opt_level=0)
def stop(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    raise ValueError("stop here")


@instrument.pass_instrument
class FailAfter:
    """Stands for whatever goes wrong with a pass."""

    def __init__(self, name: str):
        self.pass_name = name

    def run_after_pass(self, mod: ModuleOp, info: transform.PassInfo) -> None:
        if info.name == self.pass_name:
            raise ValueError("wrong")


def reproduce(path: Path, members: list[Any]) -> None:
    failing: Any = FailAfter("EliminateCommonSubexpr")
    context = PassContext(opt_level=3, instruments=[failing, instrument.CrashReproducer(path)])
    with pytest.raises(PassError, match=r"raised ValueError"), context:
        Sequential(members)(module())


def test_options_that_no_text_can_hold_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "crash.mlir"
    reproduce(path, [transform.EliminateCommonSubexpr(fskip=lambda op: isinstance(op, Conv2DOp))])
    recorded = read_reproducer(path.read_text(), str(path))
    assert (recorded.pipeline, recorded.python_values) == ("relay-eliminate-common-subexpr", ("fskip",))
    assert main(["--run-reproducer", str(path)]) == 0
    note = f"{path}: note: option 'fskip' was a Python value; the pass runs without it\n"
    assert capsys.readouterr().err == note


def test_passes_that_exist_in_python_only_are_not_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "crash.mlir"
    reproduce(path, ["FoldConstant", stop])
    assert read_reproducer(path.read_text(), str(path)).python_only
    assert main(["--run-reproducer", str(path)]) == 2
    answer = capsys.readouterr()
    assert answer.out == ""
    assert answer.err.startswith(f"{path}: error: the pass 'stop' exists in Python only; help:")
    assert main([str(path)]) == 0, "the program in it is whole"


def test_a_failure_that_was_caught_leaves_no_reproducer(tmp_path: Path) -> None:
    @transform.module_pass(opt_level=0)
    def careful(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        with pytest.raises(PassError):
            stop(mod)
        return mod

    timing, check = instrument.PassTiming(), instrument.NumericCheck()
    path = tmp_path / "crash.mlir"
    instruments = [timing, check, instrument.PassStatistics(), instrument.CrashReproducer(path)]
    with PassContext(instruments=instruments):
        Sequential([careful, "FoldConstant"], name="all")(module())
        lines = [line.partition(":")[0] for line in timing.render().splitlines()]
    assert lines == ["all", "\tcareful", "\t\tstop", "\tFoldConstant"]
    assert check.checked == ["careful", "FoldConstant", "all"]
    assert not path.exists()
