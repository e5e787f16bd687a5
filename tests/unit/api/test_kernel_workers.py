"""Worker processes that compile kernels, and their failures."""

from __future__ import annotations

import errno
import io
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelay import environment, registrations
from xrelay.api import build_artifact, stage_runner
from xrelay.api.kernels import forked_workers
from xrelay.api.kernels import workers as kernel_workers
from xrelay.api.kernels.forked_workers import ForkedWorkers, may_fork
from xrelay.api.kernels.lowering import KernelLowering, LoweredKernel, kernel_stages
from xrelay.api.kernels.stream import KernelStream
from xrelay.api.kernels.workers import KernelJob, KernelWorkers, read_message, write_message
from xrelay.errors import InputError, LoweringError
from xrelay.lowering.pipelines import compile_stages
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.instruments.timing import TimeTree
from xrelay.runtime.kernel_work import UNKNOWN_WORK
from xrelay.target import Target

TYPE = "tensor<9x4xf32>"
TEXT = f"""
func.func @main(%x: {TYPE}) -> {TYPE} {{
  %r = relay.nn.relu(%x) : ({TYPE}) -> {TYPE}
  %s = relay.nn.softmax(%r) : ({TYPE}) -> {TYPE}
  %t = relay.nn.log_softmax(%s) : ({TYPE}) -> {TYPE}
  func.return %t : {TYPE}
}}"""
SECONDS = 120
"""The time limit in seconds for a worker's imports on a busy machine."""
SPEAKS = """
import json, struct, sys, time
def read():
    head = sys.stdin.buffer.read(8)
    return sys.stdin.buffer.read(struct.unpack(">Q", head)[0])
def write(message):
    data = json.dumps(message).encode()
    sys.stdout.buffer.write(struct.pack(">Q", len(data)) + data)
    sys.stdout.buffer.flush()
read()
write({"identity": sys.argv[1]})
read()
"""


def parsed() -> ModuleOp:
    return parse_module(full_context(), TEXT, "test.mlir")


@pytest.fixture(scope="module")
def wanted() -> list[KernelJob]:
    """The kernels of the model, as requests of a compilation."""
    found: list[KernelJob] = []

    def refuse(_: KernelStream, unknown: dict[str, KernelJob], _tell: object) -> None:
        found.extend(unknown.values())
        raise LoweringError("enough")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KernelStream, "_compile", refuse)
        with pytest.raises(LoweringError, match="enough"):
            build_artifact.build_artifact(parsed(), Target.host(), cache=False)
    return found


def begun(script: str, identity: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", script, identity]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def started(script: str, identity: str = "mine") -> Iterator[KernelWorkers]:
    process = begun(script, identity)
    workers = KernelWorkers([process], {}, "mine")
    try:
        yield workers
    finally:
        workers.close()
        assert process.returncode is not None


@pytest.mark.parametrize("forks", [True, False])
def test_workers_make_the_same_objects(forks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = build_artifact.build_artifact(parsed(), Target.host(), cache=False).artifact
    help_with(monkeypatch, forks=forks)
    lower, compilation = KernelLowering.lower, os.getpid()

    def lower_elsewhere(self: KernelLowering, module: ModuleOp, symbol: str) -> LoweredKernel:
        assert os.getpid() != compilation, "the compilation leaves all to its worker"
        return lower(self, module, symbol)

    monkeypatch.setattr(KernelLowering, "lower", lower_elsewhere)
    monkeypatch.setattr("xrelay.api.kernels.stream._next", _once_empty)
    helped = build_artifact.build_artifact(parsed(), Target.host(), cache=False).artifact
    assert helped.objects == alone.objects


def help_with(patch: pytest.MonkeyPatch, *, forks: bool) -> None:
    """Lets one worker help with each compilation, a fork or a new process."""
    patch.setattr(stage_runner, "MIN_OPS_FOR_WORKERS", 0)
    patch.setenv("XRELAY_WORKERS", "1")
    patch.setattr(registrations, "_modules", set[str]())
    for module in (stage_runner, forked_workers):
        patch.setattr(module, "may_fork", lambda: forks)


def test_a_compilation_does_what_a_failed_fork_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork that ends at its first kernel, and a system without further processes."""
    alone = build_artifact.build_artifact(parsed(), Target.host(), cache=False).artifact
    help_with(monkeypatch, forks=True)

    def end(*_: object) -> None:
        raise AssertionError

    def refuse() -> int:
        raise BlockingIOError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forked_workers, "lowered_or_failed", end)
        helped = build_artifact.build_artifact(parsed(), Target.host(), cache=False)
        assert helped.artifact.objects == alone.objects
        assert helped.timing.kernels.by_workers == 0
    monkeypatch.setattr(os, "fork", refuse)
    assert build_artifact.build_artifact(parsed(), Target.host(), cache=False).artifact.objects == alone.objects


def test_a_fork_writes_no_pending_text_of_a_stream_that_only_sys_refers_to(tmp_path: Path) -> None:
    program = """
import sys
from collections import deque
from xrelay.api.kernels.forked_workers import ForkedWorkers, may_fork
from xrelay.api.kernels.lowering import KernelLowering
from xrelay.passes.infra.source import full_context
from xrelay.passes.instruments.timing import TimeTree
from xrelay.target import Target

sys.stdout = open(sys.argv[1], "w")
print("pending", may_fork())
workers = ForkedWorkers(1, KernelLowering([], Target.host(), full_context(), TimeTree()))
workers.share(deque())
for worker in workers._processes:
    worker.stdin.close()
    worker.wait()
"""
    log = tmp_path / "log"
    subprocess.run([sys.executable, "-c", program, log], check=True)
    assert log.read_text() == f"pending {sys.platform == 'linux'}\n"


def test_a_fork_without_descriptors_for_its_pipes_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pipe that was made is closed."""
    pipe, made = os.pipe, list[int]()

    def first_pipe() -> tuple[int, int]:
        if made:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        made.extend(pipe())
        return made[0], made[1]

    monkeypatch.setattr(os, "pipe", first_pipe)
    monkeypatch.setattr(forked_workers, "may_fork", lambda: True)
    workers = ForkedWorkers(1, KernelLowering([], Target.host(), full_context(), TimeTree()))
    workers.share(deque())
    for end in made:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(end)
    workers.close()


def test_a_fork_leaves_the_program_alone(
    wanted: list[KernelJob], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither handlers of signals nor exit functions run in it, and pending output is written once."""
    seen: list[int] = []
    children: list[int] = []
    fork = os.fork

    def recorded_fork() -> int:
        children.append(fork())
        return children[-1]

    def write(lowering: KernelLowering, module: ModuleOp, symbol: str) -> LoweredKernel:
        sys.stdout.write("fork")
        kept = signal.getsignal(signal.SIGUSR1) is not signal.SIG_DFL
        return LoweredKernel(kept, symbol, UNKNOWN_WORK, ("text",))

    help_with(monkeypatch, forks=True)
    monkeypatch.setattr(forked_workers, "lowered_or_failed", write)
    monkeypatch.setattr(os, "fork", recorded_fork)
    old = signal.signal(signal.SIGUSR1, lambda number, _: seen.append(number))
    workers = ForkedWorkers(1, KernelLowering([], Target.host(), full_context(), TimeTree()))
    try:
        sys.stdout.write("pending")
        queue = deque(wanted[:1])
        workers.share(queue)
        _once_empty(queue)
        assert list(workers.collect()) == [(wanted[0], LoweredKernel(False, wanted[0].symbol, UNKNOWN_WORK, ("text",)))]
    finally:
        workers.close()
        signal.signal(signal.SIGUSR1, old)
    assert capfd.readouterr().out == "pending"
    (child,) = children
    with pytest.raises(ChildProcessError):
        os.waitpid(child, os.WNOHANG)


def test_processes_with_threads_are_not_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sys, "gettrace", lambda: None)
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    assert may_fork()
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert not may_fork()
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not may_fork()


def test_workers_do_without_libraries_and_operators(
    wanted: list[KernelJob], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """LLVM uses more memory than the rest of a worker, numpy a third of it, operators a third of the start-up time."""
    absent = ("llvmlite", "numpy", "xrelay.dialects.relay.dialect", "xrelay.dialects.relay.ops")
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules.update(dict.fromkeys({absent}))")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    target = Target.host()
    workers = KernelWorkers.start(1, kernel_stages(compile_stages(vector_lanes=target.lanes())), target)
    assert workers is not None
    try:
        queue = deque(wanted[:1])
        workers.share(queue)
        _once_empty(queue)
        ((_, lowered),) = workers.collect()
    finally:
        workers.close()
    assert lowered is not None
    assert "define" in lowered.texts[0]


def test_workers_load_what_they_need_before_they_get_a_kernel() -> None:
    """Their identity, and the passes of their stages, which take half as long as their imports."""
    process = begun(SPEAKS, "mine")
    workers = KernelWorkers([process], {}, "mine")
    try:
        assert process.stdout is not None
        assert select.select([process.stdout], [], [], SECONDS)[0]
    finally:
        workers.close()


def _once_empty(queue: deque[KernelJob]) -> None:
    """Waits until workers have taken all kernels."""
    end = time.monotonic() + SECONDS
    while queue and time.monotonic() < end:
        time.sleep(0.01)
    assert not queue


@pytest.mark.parametrize("ends", ["", "time.sleep(600)", "write({'error': 'no'})", "write({'texts': [7]})"])
def test_what_a_worker_does_not_bring_is_told(
    ends: str, wanted: list[KernelJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_workers, "_TIMEOUT_SECONDS", 1.0)
    for workers in started(SPEAKS + ends):
        queue = deque(wanted[:1])
        workers.share(queue)
        _once_empty(queue)
        assert list(workers.collect()) == [(wanted[0], None)]


@pytest.mark.parametrize("script", [SPEAKS, "", "print('hello')"], ids=["another version", "dead", "prints"])
def test_a_stranger_gets_no_kernel(script: str, wanted: list[KernelJob]) -> None:
    for workers in started(script, "another"):
        queue = deque(wanted)
        workers.share(queue)
        workers.close()
        assert list(workers.collect()) == []
        assert list(queue) == wanted


def test_small_models_have_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process for three kernels")

    monkeypatch.setenv("XRELAY_WORKERS", "2")
    monkeypatch.setattr(KernelWorkers, "start", refuse)
    build_artifact.build_artifact(parsed(), Target.host(), cache=False)


@pytest.mark.parametrize(
    ("threads", "processes", "forks"), [(1, 0, 0), (2, 0, 1), (3, 0, 2), (4, 1, 3), (8, 3, 3), (64, 3, 3)]
)
@pytest.mark.parametrize("forked", [True, False])
def test_workers_have_cores_for_themselves_and_for_llvm(
    threads: int, processes: int, forks: int, forked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[int] = []
    helping = forks if forked else processes

    def start(count: int, *_: object) -> None:
        counts.append(count)

    help_with(monkeypatch, forks=forked)
    monkeypatch.setattr(*((stage_runner, "ForkedWorkers") if forked else (KernelWorkers, "start")), start)
    monkeypatch.delenv("XRELAY_WORKERS", raising=False)
    monkeypatch.setenv("XRELAY_NUM_THREADS", str(threads))
    build_artifact.build_artifact(parsed(), Target.host(), cache=False)
    assert counts == [helping] * (helping > 0)


def test_a_program_that_embeds_python_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/usr/bin/blender")
    assert KernelWorkers.start(1, [], Target.host()) is None


def test_messages_that_are_cut_off_are_none() -> None:
    stream = io.BytesIO()
    write_message(stream, {"text": "x" * 100})
    whole = stream.getvalue()
    assert read_message(io.BytesIO(whole), dict[str, str]) == {"text": "x" * 100}
    assert [read_message(io.BytesIO(whole[:end]), dict[str, str]) for end in (0, 7, 8, 50)] == [None] * 4


def test_the_number_of_processes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XRELAY_WORKERS", "65")
    with pytest.raises(InputError, match=r"XRELAY_WORKERS is '65'; help: .* most 64"):
        environment.workers()
