"""Out of memory is one error class, whatever its form."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xrelay.errors import InputError, OutOfMemoryError
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.shortage import check_memory, reporting_shortage, shortage_of
from xrelay.tools.command_line import line_of

LIMITED = """
import resource
import xrelay
from xrelay import errors


def limit(mebibytes: int) -> None:
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (mebibytes << 20), resource.RLIM_INFINITY))


def outcome() -> str:
    try:
        from xrelay import relay
        x = relay.var("x", shape=(4, 8))
        xrelay.compile(relay.Module.from_expr(relay.nn.softmax(x)), cache=False)
    except errors.OutOfMemoryError:
        return "short"
    return "compiled"


limit(100)
print(outcome())
limit(16000)
print(outcome())
limit(8)
print(outcome())
"""


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(12, "Cannot allocate memory"),
        ImportError("libx.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
        SystemError("error return without exception set"),
    ],
)
def test_what_shows_a_shortage(error: Exception) -> None:
    found = shortage_of(error)
    assert found is not None
    assert found.message.startswith(f"out of memory: {type(error).__name__}")
    assert line_of(error).startswith(f"error: out of memory: {type(error).__name__}")
    with pytest.raises(OutOfMemoryError), reporting_shortage():
        raise OSError("cannot load the library") from error


def test_other_errors_pass() -> None:
    assert shortage_of(SystemError("a fault")) is None
    for error in (ValueError("no"), InputError("no")):
        with pytest.raises(type(error), match=r"^no$"), reporting_shortage():
            raise error


@dataclass(frozen=True)
class Greedy(ModulePass):
    name = "greedy"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise MemoryError


def test_a_pass_without_memory_is_no_internal_error() -> None:
    with pytest.raises(OutOfMemoryError, match=r"^\[greedy\] .*: MemoryError; help: .*"):
        run_pipeline(ModuleOp([]), [Greedy()], context=Context())


def test_memory_that_there_is_not() -> None:
    with pytest.raises(OutOfMemoryError, match=r".*: a test needs 1099511627776 MiB"):
        check_memory(1 << 60, "a test")


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
def test_little_address_space() -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True)
    assert done.stdout.split() == ["short", "compiled", "short"], done.stderr
