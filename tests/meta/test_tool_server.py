"""The fork server of the lit tests has the same output and exit codes as the scripts that it replaces."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import IO

import lit
import pytest
from support.tool_server import inner
from support.tool_server.direct import served_subprocess
from support.tool_server.inner import InnerProcess
from support.tool_server.launch import HERE, start, stop
from xdsl.utils.diagnostic import Diagnostic

BIN = Path(sys.executable).parent
TOOLS = ("xrelay-opt", "xrelay", "filecheck", "python")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork: lit runs the scripts")

ENVIRONMENT = {"PATH": os.environ["PATH"], "XRELAY_DEBUG": ""}
WHERE_AM_I = "import os, sys; print(os.getcwd(), os.environ['XRELAY_X'], sys.argv[1:], sys.stdin.read())"
IS_FORK = "import sys; print('support.tool_server.server' in sys.orig_argv)"


@pytest.fixture(scope="module")
def shims() -> Iterator[Path]:
    folder = start([BIN / tool for tool in TOOLS], ENVIRONMENT, ["xrelay.tools.xrelay_opt", "xrelay.registrations"])
    assert folder is not None
    yield Path(folder)
    stop(folder)
    assert not Path(folder).exists()


def run(
    folder: Path, command: list[str], text: str = "", cwd: Path | None = None, **variables: str
) -> tuple[int, str, str]:
    program, *arguments = command
    done = subprocess.run(
        [str(folder / program), *arguments],
        input=text,
        cwd=cwd,
        env=ENVIRONMENT | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@cache
def run_script(command: tuple[str, ...], text: str) -> tuple[int, str, str]:
    """Runs a script itself, once for all tests."""
    return run(BIN, list(command), text)


COMMANDS = pytest.mark.parametrize(
    ("command", "code"),
    [
        (["xrelay-opt", "-p", "canonicalize"], 0),
        (["xrelay-opt", "-p", "no-such-pass"], 2),
        (["xrelay-opt", "-p", "parse"], 2),
        (["xrelay", "--version"], 0),
        (["xrelay", "inspect", "no-such-file.onnx"], 1),
        (["filecheck", "--version"], 0),
        (["python", "-c", "raise SystemExit('said on stderr')"], 1),
        (["python", "-c", "import os; os.abort()"], -signal.SIGABRT),
        (["python", "-c", "import sys; sys.stdout.close(); sys.exit(3)"], 3),
        (["python", "-c", "import atexit; atexit.register(print, 'last'); print('first')"], 0),
        (["python", "-m", "this"], 0),
    ],
)


@COMMANDS
def test_a_shim_ends_as_the_script(shims: Path, command: list[str], code: int) -> None:
    text = "builtin.module {}"
    script = run_script(tuple(command), text)
    assert run(shims, command, text) == script
    assert script[0] == code


def start_directly(shims: Path, command: list[str], stdin: IO[str] | int | None, **variables: str):
    """Starts a process as lit does."""
    return served_subprocess([str(shims)], {tool: BIN / tool for tool in TOOLS}, ENVIRONMENT).Popen(
        command,
        cwd=str(HERE),
        executable=str(shims / command[0]),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT | variables,
        close_fds=True,
        universal_newlines=True,
        errors="replace",
    )


@COMMANDS
def test_without_a_shim_it_ends_as_the_script(shims: Path, tmp_path: Path, command: list[str], code: int) -> None:
    text = "builtin.module {}"
    (tmp_path / "text").write_text(text)
    with (tmp_path / "text").open() as stdin:
        process = start_directly(shims, command, stdin)
    assert isinstance(process, subprocess.Popen) == ("-m" in command)
    assert (process.communicate(), process.wait()) == (run_script(tuple(command), text)[1:], code)


def test_processes_without_shims_are_a_pipeline(shims: Path) -> None:
    first = start_directly(shims, ["python", "-c", "print(input() + '\\n' * 100_000)"], subprocess.PIPE)
    second = start_directly(shims, ["python", "-c", "import sys; print(len(sys.stdin.read()))"], first.stdout)
    first.stdin.write("é\n")
    first.stdin.close()
    assert second.communicate() == ("100002\n", "")
    assert (first.wait(), second.wait(), first.stderr.read()) == (0, 0, "")


@pytest.mark.parametrize("text", ["found\n", "lost\n"])
def test_filecheck_ends_in_this_process_as_the_script(shims: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "checks").write_text("CHECK: found")
    producer = start_directly(shims, ["python", "-c", f"print({text!r})"], subprocess.PIPE)
    process = start_directly(shims, ["filecheck", str(tmp_path / "checks")], producer.stdout)
    assert isinstance(process, InnerProcess)
    script = run(BIN, ["filecheck", str(tmp_path / "checks")], f"{text}\n")
    assert (process.wait(), *process.communicate()) == script
    assert script[0] == int(text == "lost\n")
    assert sys.stdin is not producer.stdout


def test_a_run_in_this_process_is_part_of_a_pipeline(shims: Path) -> None:
    first = start_directly(shims, ["python", "-c", "print('builtin.module {}')"], subprocess.PIPE)
    second = start_directly(shims, ["xrelay-opt", "-p", "canonicalize"], first.stdout)
    assert isinstance(second, InnerProcess)
    third = start_directly(shims, ["python", "-c", "import sys; print(sys.stdin.read().split()[0])"], second.stdout)
    assert third.communicate() == ("builtin.module\n", "")
    assert (first.wait(), second.wait(), third.wait()) == (0, 0, 0)


def test_a_run_in_this_process_leaves_nothing_to_the_next(shims: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(arguments: Sequence[str]) -> None:
        sys.stdout.write(f"{os.environ['XRELAY_X']} {arguments} {sys.stdin.read()!r}")
        os.chdir("/")
        os.environ["XRELAY_LEFT"] = "1"

    monkeypatch.setitem(inner.PROGRAMS, "xrelay-opt", leave)
    before = os.getcwd(), dict(os.environ), sys.stdin, sys.stdout, sys.stderr
    process = start_directly(shims, ["xrelay-opt", "x"], subprocess.PIPE, XRELAY_X="set")
    assert (process.communicate(), process.wait()) == (("set ['xrelay-opt', 'x'] ''", ""), 0)
    assert (os.getcwd(), dict(os.environ), sys.stdin, sys.stdout, sys.stderr) == before


def test_a_run_in_this_process_ends_within_the_time_limit(shims: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inner, "TIME_LIMIT", 0.01)
    monkeypatch.setitem(inner.PROGRAMS, "xrelay-opt", lambda _: signal.pause())
    process = start_directly(shims, ["xrelay-opt"], subprocess.PIPE)
    assert process.communicate()[1].endswith("TimeoutError: no end within 0.01 seconds\n")
    assert process.wait() == 1


@pytest.mark.parametrize("code", [1, 2])
def test_a_run_with_an_expected_exit_code_ends_as_the_script(shims: Path, tmp_path: Path, code: int) -> None:
    (tmp_path / "exit_code.sh").write_text((HERE.parents[1] / "lit/tools/Inputs/exit_code.sh").read_text())
    command = ["sh", str(tmp_path / "exit_code.sh"), str(code), "xrelay", "inspect", "no-such-file.onnx"]
    process = start_directly(shims, command, subprocess.PIPE)
    assert isinstance(process, InnerProcess)
    script = subprocess.run(
        command, cwd=HERE, env={"PATH": f"{BIN}:{os.environ['PATH']}"}, capture_output=True, text=True
    )
    assert (process.communicate(), process.wait()) == ((script.stdout, script.stderr), script.returncode)
    assert script.returncode == int(code == 2)


@pytest.mark.parametrize("variable", ["PYTHONHASHSEED", "PYTHONPATH"])
def test_a_run_in_another_environment_gets_a_process(shims: Path, variable: str) -> None:
    process = start_directly(shims, ["xrelay-opt", "--version"], subprocess.PIPE, **{variable: "1"})
    assert not isinstance(process, InnerProcess)
    assert process.communicate()[0].startswith("xrelay-opt ")


def test_flags_for_which_xdsl_changes_its_classes_end_with_the_run(shims: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.mlir"
    file.write_text("func.func private @f() attributes {a = 256 : ui8}")
    outputs = list[str]()
    for flags in ([], ["--disable-verify", "--syntax-highlight"], []):
        process = start_directly(shims, ["xrelay-opt", str(file), *flags], subprocess.PIPE)
        assert isinstance(process, InnerProcess)
        outputs.append("".join(map(str, process.communicate())))
        assert not Diagnostic.colored
    assert "out of range" in outputs[0]
    assert "@f" in outputs[1]
    assert outputs[2] == outputs[0]


def test_without_a_shim_another_environment_gets_one(shims: Path) -> None:
    process = start_directly(shims, ["python", "-c", IS_FORK], subprocess.PIPE, PYTHONHASHSEED="1")
    assert isinstance(process, subprocess.Popen)
    assert process.communicate()[0] == "False\n"


def test_a_path_that_lit_adds_for_its_own_commands_is_not_that_of_others(shims: Path) -> None:
    folder = Path(lit.__file__).parent
    assert start_directly(shims, ["python", "-c", IS_FORK], None, PYTHONPATH=str(folder)).communicate()[0] == "True\n"
    own = ["python", str(folder / "builtin_commands" / "cat.py"), __file__]
    assert start_directly(shims, own, None, PYTHONPATH=str(folder)).communicate()[0] == Path(__file__).read_text()


def test_an_uncaught_exception_is_shown(shims: Path) -> None:
    code, out, err = run(shims, ["python", "-c", "print('before'); 1 / 0"])
    assert (code, out) == (1, "before\n")
    assert err.startswith("Traceback")
    assert err.endswith("ZeroDivisionError: division by zero\n")


def test_folder_environment_arguments_and_files_travel(shims: Path, tmp_path: Path) -> None:
    done = run(shims, ["python", "-c", WHERE_AM_I, "a b", "é", ""], "text", tmp_path, XRELAY_X="set")
    assert done == (0, f"{tmp_path} set ['a b', 'é', ''] text\n", "")


def test_a_run_leaves_nothing_to_the_next(shims: Path) -> None:
    leave = "import os, sys; os.chdir('/'); os.environ['XRELAY_LEFT'] = '1'; sys.left = 1"
    assert run(shims, ["python", "-c", leave])[0] == 0
    look = "import os, sys; print(os.getcwd() == '/', 'XRELAY_LEFT' in os.environ, hasattr(sys, 'left'))"
    assert run(shims, ["python", "-c", look])[1] == "False False False\n"


def test_a_run_begins_after_the_server(shims: Path) -> None:
    now = time.time_ns()
    code = "import sys; print(sys.modules['xrelay.registrations'].BEGAN_NANOSECONDS)"
    assert int(run(shims, ["python", "-c", code])[1]) >= now


def test_another_environment_gets_the_script_itself(shims: Path) -> None:
    assert run(shims, ["python", "-c", IS_FORK])[1] == "True\n"
    assert run(shims, ["python", "-c", IS_FORK], PYTHONHASHSEED="1")[1] == "False\n"


@pytest.mark.parametrize("python_path", ["planted", "planted:other", ""])
def test_a_fork_searches_the_import_path_of_its_request(shims: Path, tmp_path: Path, python_path: str) -> None:
    (tmp_path / "planted").mkdir()
    (tmp_path / "planted" / "seen.py").touch()
    look = ["python", "-c", "import sys; print(sys.path); import seen"]
    forked = run(shims, look, cwd=tmp_path, PYTHONPATH=python_path)
    script = run(BIN, look, cwd=tmp_path, PYTHONPATH=python_path)
    assert forked[:2] == script[:2]
    assert run(shims, ["python", "-c", IS_FORK], PYTHONPATH=python_path)[1] == "True\n"
    assert forked[0] == int(not python_path)


def test_a_child_dies_with_its_shim(shims: Path) -> None:
    code = "import os, signal; print(os.getpid(), flush=True); signal.pause()"
    shim = subprocess.Popen([str(shims / "python"), "-c", code], env=ENVIRONMENT, stdout=subprocess.PIPE)
    assert shim.stdout is not None
    assert int(shim.stdout.readline()) != shim.pid
    shim.kill()
    # The child also holds the pipe, which ends when the child is gone.
    assert shim.communicate()[0] == b""
    assert shim.returncode == -signal.SIGKILL


def test_without_its_server_a_shim_is_the_script(shims: Path, tmp_path: Path) -> None:
    shim = tmp_path / "python"
    shim.write_text((shims / "python").read_text().replace(str(shims / "socket"), str(tmp_path / "socket")))
    shim.chmod(0o755)
    assert run(tmp_path, ["python", "-c", IS_FORK])[1] == "False\n"


def test_no_server_where_no_socket_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    too_long = tmp_path / ("long" * 50)
    too_long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(too_long))
    assert start([BIN / "python"], ENVIRONMENT, []) is None
    assert list(too_long.iterdir()) == []


def test_a_server_that_ends_does_not_leave_a_run_behind() -> None:
    folder = start([BIN / "python"], ENVIRONMENT, [])
    assert folder is not None
    code = "import signal; print('ready', flush=True); signal.pause()"
    shim = subprocess.Popen([f"{folder}/python", "-c", code], env=ENVIRONMENT, stdout=subprocess.PIPE)
    assert shim.stdout is not None
    shim.stdout.readline()
    stop(folder)
    assert shim.communicate()[0] == b""
    assert shim.returncode == 1


def test_a_shim_imports_itself_and_what_is_built_in() -> None:
    """Processes that lit does not start wait for this import: `typing` alone doubled the time."""
    code = f"import sys; sys.path.append({str(HERE)!r}); import shim; print(*sys.modules)"
    before, after = (
        set(
            subprocess.run(
                [sys.executable, "-IS", "-c", each], capture_output=True, text=True, check=True
            ).stdout.split()
        )
        for each in ("import sys; print(*sys.modules)", code)
    )
    assert "shim" in after
    assert after - before - set(sys.builtin_module_names) <= {"shim", "_socket"}
