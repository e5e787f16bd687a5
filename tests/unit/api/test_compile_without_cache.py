"""Compilation succeeds without a usable cache, and several processes compile into one cache at once."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.tool_server.served import served

PRELUDE = """
import os, sys, threading
import numpy as np
import xrelay
from xrelay import relay

def compile(**options):
    x = relay.var("x", shape=(4, 8))
    program = relay.nn.relu(x) + relay.const(np.arange(8, dtype=np.float32))
    model = xrelay.compile(relay.Module.from_expr(program), **options)
    value = np.ones((4, 8), np.float32)
    assert (model(value)[0] == value + np.arange(8)).all()
"""
NOBODY = 54321
VARIABLES: dict[str, str] = {}
"""The scripts' environment, set when the module's tests begin."""
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")


@pytest.fixture(scope="module", autouse=True)
def _served() -> Iterator[None]:
    with served(os.environ) as environment:
        VARIABLES.update(environment)
        yield


def run(script: str, cwd: Path, **environment: str | None) -> list[str]:
    """The stderr lines of a script that compiles; the script must succeed."""
    given = {name: value for name, value in {**VARIABLES, **environment}.items() if value is not None}
    done = subprocess.run(
        ["python", "-c", PRELUDE + script], env=given, cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


def as_nobody(script: str) -> str:
    """The script, run by a user without a name after all imports."""
    imported = "import grp, pwd\nfrom xrelay.api.model_key import code_stamp\ncode_stamp()"
    return f"""{imported}
os.environ["XRELAY_CACHE"] = "0"
compile()
del os.environ["XRELAY_CACHE"]
os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
{script}"""


def test_a_usable_cache_says_nothing(tmp_path: Path) -> None:
    assert run("compile(); compile()", tmp_path, XRELAY_CACHE_DIR=str(tmp_path / "cache")) == []
    assert len(list((tmp_path / "cache" / "models").rglob("*.xrelay"))) == 1


def test_the_folder_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    (line,) = run("compile(); compile()", tmp_path, XRELAY_CACHE_DIR=str(tmp_path / "cache"))
    assert line.startswith(f"compiling without the cache: '{tmp_path}/cache': it is not a folder; set XRELAY_CACHE_DIR")


@needs_root
def test_a_user_without_home_and_name(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    script = as_nobody("compile(); compile()")
    lines = run(script, tmp_path, HOME=None, XRELAY_CACHE_DIR=None, XDG_CACHE_HOME=None)
    message = "compiling without the cache: the user has no home folder; set HOME or XRELAY_CACHE_DIR"
    assert lines == [message]
    assert list(tmp_path.iterdir()) == []


@needs_root
def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as home:  # tmp_path is hidden from other users
        Path(home).chmod(0o755)
        lines = run(as_nobody("compile()"), tmp_path, HOME=home, XRELAY_CACHE_DIR=None, XDG_CACHE_HOME=None)
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"compiling without the cache: '{home}/.cache/xrelay/")
    assert "Permission denied" in lines[0]


@needs_root
def test_a_cache_of_another_user(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    run("compile()", tmp_path, XRELAY_CACHE_DIR=str(cache))
    tmp_path.chmod(0o755)
    os.chown(cache, NOBODY + 1, -1)
    cache.chmod(0o755)
    (line,) = run("compile(); compile()", tmp_path, XRELAY_CACHE_DIR=str(cache))
    assert f"uid {NOBODY + 1}, you are uid 0" in line


def test_a_disk_that_takes_nothing(tmp_path: Path) -> None:
    script = """
import errno
real = os.open
def refuse(path, flags, *more, **options):
    if flags & os.O_CREAT and ".part" in str(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return real(path, flags, *more, **options)
os.open = refuse
compile()
"""
    (line,) = run(script, tmp_path, XRELAY_CACHE_DIR=str(tmp_path / "cache"))
    assert line.startswith("the cache cannot be written: ")
    assert "No space left on device" in line


def test_a_disk_that_fills_up(tmp_path: Path) -> None:
    """A limit on the size of files simulates a full disk: writes beyond it fail in the middle."""
    script = """
import resource, signal
compile(cache=False)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
compile()
"""
    (line,) = run(script, tmp_path, XRELAY_CACHE_DIR=str(tmp_path / "cache"))
    assert "the cache cannot be written: " in line
    assert "File too large" in line
    assert list((tmp_path / "cache").rglob("*.part")) == []


def test_a_cache_full_of_damage_is_one_warning(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    run("compile()", tmp_path, XRELAY_CACHE_DIR=str(cache))
    entries = [path for path in cache.rglob("*") if path.is_file()]
    assert len(entries) > 2
    for path in entries:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    (line,) = run("compile()", tmp_path, XRELAY_CACHE_DIR=str(cache))
    assert "is damaged" in line
    assert run("compile()", tmp_path, XRELAY_CACHE_DIR=str(cache)) == []


def test_another_model_in_the_place_of_one_is_not_run(tmp_path: Path) -> None:
    script = """
from pathlib import Path
x = relay.var("x", shape=(4, 8))
xrelay.compile(relay.Module.from_expr(relay.nn.relu(x)))
(other,) = Path("cache/models").rglob("*.xrelay")
data = other.read_bytes()
compile()
for path in Path("cache/models").rglob("*.xrelay"):
    if path != other:
        path.write_bytes(data)
compile()
"""
    (line,) = run(script, tmp_path, XRELAY_CACHE_DIR=str(tmp_path / "cache"))
    assert "has another cache key" in line


def test_threads_compile_into_one_cache_at_once(tmp_path: Path) -> None:
    script = """
failed = []
def work():
    try:
        compile()
    except BaseException as error:
        failed.append(error)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not failed, failed
compile()
"""
    assert run(script, tmp_path, XRELAY_CACHE_DIR=str(tmp_path / "cache")) == []


def test_processes_compile_into_one_cache_at_once(tmp_path: Path) -> None:
    environment = {**VARIABLES, "XRELAY_CACHE_DIR": str(tmp_path / "cache")}
    command = ["python", "-c", PRELUDE + "compile()"]
    running = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    ended = [(process.communicate()[1], process.returncode) for process in running]
    assert ended == [("", 0)] * 2
    (entry,) = (tmp_path / "cache" / "models").rglob("*.xrelay")
    assert [path.name for path in entry.parent.iterdir()] == [entry.name]
