"""Errors of `xrelay-opt` for invalid command lines, programs and passes: one line, and no output on stdout."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from xrelay.tools.command_line import excerpt
from xrelay.tools.xrelay_opt import main

BROKEN = Path(__file__).parents[2] / "lit" / "tools" / "Inputs" / "broken_passes"
NET = """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c = relay.constant dense<2.0> : tensor<f32>
  %a = relay.multiply(%x, %c) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %b = relay.exp(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %b : tensor<4x8xf32>
}
"""


@pytest.fixture
def net(tmp_path: Path) -> str:
    path = tmp_path / "net.mlir"
    path.write_text(NET)
    return str(path)


@pytest.fixture
def _broken_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adds a package of faulty passes, as if it were installed."""
    monkeypatch.syspath_prepend(str(BROKEN))


def answer(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> tuple[int, str]:
    """The exit code and stderr; stdout must be empty."""
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = int(str(stop.code))
    captured = capsys.readouterr()
    assert captured.out == ""
    return code, captured.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "FuseOp"], "error: no pass is called 'FuseOp'; help: did you mean 'FuseOps'?"),
        (["-p", "cse,,dce"], "error: malformed pass pipeline 'cse,,dce': Expected pass name here"),
        (["-p", "a,,b"], "error: malformed pass pipeline 'a,,b': Expected pass name here"),
        (["-p", "cse}"], "error: malformed pass pipeline 'cse}'"),
        (["-p", "cse{"], "error: malformed pass pipeline 'cse{'"),
        (["-p", "builtin.module(cse"], "error: malformed pass pipeline 'builtin.module(cse': it lacks a ')'"),
        (["-p", "stage-typed{x=1}"], "error: the pipeline 'stage-typed' takes no options"),
        (["-p", "FuseOps{max-dept=3}"], "[relay-fuse-ops] has no option 'max-dept'; help: did you mean 'max-depth'?"),
        (["-p", "FuseOps{max-depth=deep}"], "[relay-fuse-ops] option 'max-depth' must be int, found 'deep'"),
        (["-p", "FuseOps{max-depth=1,2}"], "[relay-fuse-ops] option 'max-depth' must be int, found 1,2"),
        (["-p", "FuseOps{max-depth=true}"], "[relay-fuse-ops] option 'max-depth' must be int, found True"),
        (["-p", "FuseOps{link-params=7}"], "[relay-fuse-ops] option 'link-params' must be bool, found 7"),
        (["-p", "FuseOps{max-depth=3 max_depth=4}"], "[relay-fuse-ops] option 'max-depth' is given twice"),
        (["-p", "FuseOps{max-depth=}"], "error: malformed pass pipeline"),
        (
            ["-p", "loop-split"],
            "error: [loop-split] needs the option 'factor'; help: xrelay-opt --help-pass loop-split",
        ),
        (["-p", "broken-import"], "[broken-import] cannot be loaded: No module named 'a_package_that_is_not_here'"),
        (["--help-pass", "broken-import"], "[broken-import] cannot be loaded: No module named 'a_package_that"),
        (["--help-pass", "broken-rise"], "error: no pass is called 'broken-rise'; help: did you mean 'broken-raise'?"),
        (
            ["--help-pass", "FoldScaleAxs"],
            "error: no pass is called 'FoldScaleAxs'; help: did you mean 'FoldScaleAxis'?",
        ),
        (["--run-reproducer", "-p", "cse"], "; help: leave out -p"),
        (
            ["--run-reproducer", "--opt-level", "1"],
            "; help: leave out --opt-l",
        ),
        (["--run-reproducer", "--pass-config", "x=1"], "; help: leave out --pass-config"),
        (["--timing-format", "json"], "error: --timing-format needs --timing or --timing-file"),
        (["--print-ir-after=dce", "-p", "cse"], "error: 'dce' is not in the pipeline; help: it runs cse"),
        (["--print-ir-before=dce"], "error: 'dce' is not in the pipeline; help: it runs no passes"),
        (["--timng"], "xrelay-opt: error: unrecognized arguments: --timng; help: did you mean '--timing'?"),
        (
            ["--opt-level", "high"],
            "xrelay-opt: error: argument --opt-level: invalid int value: 'high'; help: xrelay-opt",
        ),
        (["--opt-level=-2"], "xrelay-opt: error: argument --opt-level: invalid choice: -2"),
        (["--disabled-pass", "FuseOps,"], "error: disabled_pass: no pass is called ''"),
        (["--required-pass", "FoldConst"], "error: required_pass: no pass is called 'FoldConst'; help: did you mean"),
        (
            ["--pass-config", "relay.FuseOps.max_dept=1"],
            "error: invalid config option 'relay.FuseOps.max_dept'; help: did",
        ),
        (["--pass-config", "relay.FuseOps.max_depth=x"], "pass config relay.FuseOps.max_depth: 'x' is no int"),
        (["--pass-config", "relay.FuseOps.link_params=7"], "pass config relay.FuseOps.link_params: '7' is no bool"),
        (
            ["--pass-config", "relay.FuseOps.max_depth=1", "--pass-config", "relay-fuse-ops.max-depth=2"],
            "config option relay.FuseOps.max_depth is given twice, the second time as 'relay-fuse-ops.max-depth=2'",
        ),
        (["--pass-config", "testing.immutable_module=true"], "error: testing.immutable_module is not supported"),
        (["--numerics-seed=-1"], "error: argument --numerics-seed: invalid"),
        (["--pass-config", "x"], "pass config 'x' is not of the form key=value"),
        (["-t", "lvm"], "error: argument -t/--target: invalid choice: 'lvm'"),
        (["second.mlir"], "error: unrecognized arguments: "),
    ],
)
@pytest.mark.usefixtures("_broken_passes")
def test_wrong_command_lines(arguments: list[str], message: str, net: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = answer(capsys, [*arguments, net])
    assert (code, text.count("\n")) == (2, 1), text
    assert message in text


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("cse,broken-raise", "error: [broken-raise] raised KeyError: 'no such\\nthing'"),
        (
            "broken-types",
            ":4:3: error: [broken-types] the pass left an ill-formed module: [relay.multiply C0] result type "
            "tensor<7xf32>",
        ),
        (
            "broken-dominance",
            "error: [broken-dominance] the pass left an ill-formed module: relay.exp uses %a, whose definition",
        ),
        ("broken-recursion", "error: [broken-recursion] the program is nested too deeply"),
        ("FuseOps{max-depth=0}", "error: relay-fuse-ops: max-depth is 0, it must be at least 1"),
    ],
)
@pytest.mark.usefixtures("_broken_passes")
def test_wrong_passes_are_named(pipeline: str, message: str, net: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = answer(capsys, ["-p", pipeline, net])
    first, *notes = text.splitlines()
    assert code == 1
    assert message in first
    shown = excerpt(first, {net: Path(net).read_text()})
    assert notes[: len(shown)] == shown
    assert all(note.startswith("note: while running ") for note in notes[len(shown) :])


@pytest.mark.usefixtures("_broken_passes")
def test_ctrl_c_is_one_line_and_the_shells_exit_code(net: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, ["-p", "broken-interrupt", net]) == (130, "xrelay-opt: interrupted\n")


def test_a_package_that_announces_what_it_lacks(
    net: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    info = tmp_path / "absent-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: absent\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[xdsl.universe]\nabsent = absent_module:UNIVERSE\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    code, text = answer(capsys, ["-p", "cse", net])
    assert (code, text) == (
        1,
        "error: a plugin of xDSL cannot be loaded, ModuleNotFoundError: No module named 'absent_module'\n",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1:1: error: the text contains no operation"),
        ("func.func @f() { func.call @g() : () -> () func.return }", "error: '@g' could not be found in symbol table"),
        (
            "func.func @f(%x: tensor<-1xf32>) { func.return }",
            "bad.mlir:1:25: error: expected an element type such as f32, found '-'",
        ),
        ("builtin.module {", "error:"),
        (
            "func.func @f(%m: memref<2xf32>) { %v = memref.load %m[] : memref<2xf32> func.return }",
            "bad.mlir:1:35: error: memref.load: expected an index for each dimension",
        ),
    ],
)
def test_wrong_programs(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text(text)
    code, found = answer(capsys, [str(path)])
    assert (code, found.count(" error: ")) == (1, 1), found
    assert message in found
    assert found.startswith(str(path))


def test_a_symbol_that_is_defined_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text("func.func @f() { func.return }\n  func.func @f() { func.return }\n")
    code, found = answer(capsys, [str(path)])
    assert code == 1
    assert found.split("\n") == [
        f"{path}:2:3: error: the symbol @f is already defined",
        "  func.func @f() { func.return }",
        "  ^",
        f"{path}:1:1: note: the first definition",
        "func.func @f() { func.return }",
        "^",
        "",
    ]


@pytest.mark.parametrize("flag", ["--dump-stages", "--crash-reproducer", "-o"])
def test_files_that_cannot_be_written(flag: str, net: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = answer(
        capsys, [net, flag, f"{net}/no.mlir", "-p", "FuseOps{max-depth=0}" if "crash" in flag else "cse"]
    )
    assert (code, text.count("\n")) == (1, 1), text
    assert "cannot write" in text


def test_a_timing_file_that_cannot_be_written(net: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = answer(capsys, [net, "--timing-file", f"{net}/no.txt", "-o", str(tmp_path / "out.mlir")])
    assert (code, text) == (1, f"{net}/no.txt: error: cannot write the file: Not a directory\n")


@pytest.mark.usefixtures("_broken_passes")
def test_what_the_numeric_check_finds_can_be_replayed(
    net: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crash = tmp_path / "crash.mlir"
    flags = ["--check-numerics", "--numerics-seed", "5", "--crash-reproducer", str(crash)]
    code, text = answer(capsys, [net, "-p", "cse,broken-values,dce", *flags])
    first, pipeline, *_ = crash.read_text().splitlines()
    assert (code, pipeline) == (1, "// pipeline: broken-values")
    assert first.endswith("xrelay-opt --run-reproducer crash.mlir")
    again = answer(capsys, ["--run-reproducer", str(crash)])[1]
    message = next(line for line in text.splitlines() if "changes result" in line)
    assert message.partition("error: ")[2] in again


@pytest.mark.usefixtures("_broken_passes")
def test_a_failure_leaves_the_output_file_alone(net: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out.mlir"
    output.write_text("what was there")
    assert answer(capsys, [net, "-p", "broken-raise", "-o", str(output)])[0] == 1
    assert output.read_text() == "what was there"
    assert Path(net).read_text() == NET


@pytest.mark.usefixtures("_broken_passes")
@pytest.mark.parametrize("flag", ["--no-verify-each", "--pass-config=xrelay.verify_each=false"])
def test_verification_after_passes_can_be_turned_off(
    flag: str, net: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ["-o", str(tmp_path / "out.mlir")]
    assert answer(capsys, ["-p", "broken-types", flag, net, *output]) == (0, "")
    assert answer(capsys, ["-p", "broken-types", net, *output])[0] == 1


def test_standard_streams_that_are_closed(net: str) -> None:
    """A closed output is ignored; a closed input is an error."""
    command = [sys.executable, "-m", "xrelay.tools.xrelay_opt"]
    silent = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command, net], check=False, capture_output=True, text=True)
    assert (silent.returncode, silent.stderr) == (0, "")
    asking = subprocess.run(["sh", "-c", '"$@" <&-', "sh", *command, "-"], check=False, capture_output=True, text=True)
    assert asking.returncode == 1
    assert re.fullmatch(r"error: .*standard input.*; help: .*\n", asking.stderr)
