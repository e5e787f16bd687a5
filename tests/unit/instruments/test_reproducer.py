"""Crash reproducers: their contents, their stated limits, and that they fail again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.seed_example import module
from xdsl.dialects.builtin import ModuleOp

from xrelay import instrument, relay, transform
from xrelay.errors import PassError
from xrelay.passes.instruments.reproducer import read_reproducer
from xrelay.tools.xrelay_opt import main
from xrelay.transform import PassContext, Sequential


@transform.module_pass(opt_level=0)
def stop(mod: ModuleOp, ctx: PassContext) -> ModuleOp:
    raise ValueError("stop here")


@instrument.pass_instrument
class FailAfter:
    """An instrument that fails after a given pass."""

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
    reproduce(path, [transform.EliminateCommonSubexpr(fskip=lambda expr: isinstance(expr, relay.Constant))])
    recorded = read_reproducer(path.read_text(), str(path))
    assert (recorded.pipeline, recorded.python_values) == (
        "relay-eliminate-common-subexpr",
        ("option 'fskip'", "instrument 'FailAfter'"),
    )
    assert main(["--run-reproducer", str(path)]) == 0
    lost = ("option 'fskip'", "instrument 'FailAfter'")
    notes = capsys.readouterr().err.splitlines()
    assert len(notes) == len(lost)
    assert all(note.startswith(f"{path}: note: {what} ") for note, what in zip(notes, lost, strict=True))


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


def test_the_context_and_the_checking_instruments_are_recorded(tmp_path: Path) -> None:
    path = tmp_path / "crash.mlir"
    check: Any = instrument.NumericCheck(seed=7, rtol=0.5)
    failing: Any = FailAfter("FoldConstant")
    context = PassContext(
        opt_level=1,
        disabled_pass=["relay-inline"],
        required_pass=["FoldConstant"],
        config={"xrelay.verify_each": False, "relay.FoldConstant.max_growth": 5},
        instruments=[check, failing, instrument.CrashReproducer(path)],
    )
    with pytest.raises(PassError, match="raised ValueError"), context:
        Sequential(["FoldConstant"])(module())
    recorded = read_reproducer(path.read_text(), str(path))
    assert recorded.opt_level == 1
    assert recorded.config == {"xrelay.verify_each": False, "relay.FoldConstant.max_growth": 5}
    assert (recorded.disabled, recorded.required) == (("InlineGlobals",), ("FoldConstant",))
    assert recorded.flags == ("--check-numerics", "--numerics-seed", "7")
    assert recorded.python_values == ("'rtol' of NumericCheck", "instrument 'FailAfter'")
    assert not recorded.settled


def test_an_instrument_that_verifies_is_recorded_over_a_config_that_does_not(tmp_path: Path) -> None:
    path = tmp_path / "crash.mlir"
    instruments: list[Any] = [instrument.Verify(), FailAfter("FoldConstant"), instrument.CrashReproducer(path)]
    with pytest.raises(PassError), PassContext(instruments=instruments, config={"xrelay.verify_each": False}):
        Sequential(["FoldConstant"])(module())
    assert read_reproducer(path.read_text(), str(path)).config == {}


NET = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}
"""


@pytest.mark.parametrize(
    ("flags", "note"),
    [
        (["-p", "FuseOps{max-depth=0}"], "relay-fuse-ops{max_depth=0}"),
        (["-p", "FuseOps{max-depth=0}", "--opt-level", "1"], "relay-fuse-ops{fuse_opt_level=1 max_depth=0}"),
        (["-p", "FuseOps", "--pass-config", "relay.FuseOps.max_depth=0"], "relay-fuse-ops{max_depth=0}"),
    ],
)
def test_a_replay_runs_the_pass_with_the_options_it_had(
    flags: list[str], note: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net, crash = tmp_path / "net.mlir", tmp_path / "crash.mlir"
    net.write_text(NET)
    assert main([str(net), *flags, "--crash-reproducer", str(crash)]) == 1
    assert f"note: while running {note}\n" in capsys.readouterr().err
    assert main(["--run-reproducer", str(crash)]) == 1
    assert f"note: while running {note}\n" in capsys.readouterr().err


def test_a_replay_verifies_and_parses_as_the_run_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net, crash = tmp_path / "net.mlir", tmp_path / "crash.mlir"
    net.write_text('"who.knows"() : () -> ()\n' + NET)
    flags = ["--allow-unregistered-dialect", "--no-verify-each", "-p", "FuseOps{max-depth=0}"]
    assert main([str(net), *flags, "--crash-reproducer", str(crash)]) == 1
    recorded = read_reproducer(crash.read_text(), str(crash))
    assert (recorded.flags, recorded.config) == (("--allow-unregistered-dialect",), {"xrelay.verify_each": False})
    capsys.readouterr()
    assert main(["--run-reproducer", str(crash)]) == 1
    assert "max-depth is 0" in capsys.readouterr().err


def test_a_reproducer_cannot_make_its_replay_write_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crash, stolen = tmp_path / "crash.mlir", tmp_path / "stolen"
    crash.write_text(f"// xrelay-reproducer: x\n// pipeline: cse\n// flags: -o {stolen}\nbuiltin.module {{}}\n")
    assert main(["--run-reproducer", str(crash)]) == 2
    assert "the reproducer records the flag '-o'; help: it may record --check-numerics" in capsys.readouterr().err
    assert not stolen.exists()
