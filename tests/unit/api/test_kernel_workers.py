"""Worker processes that compile kernels, and their failures."""

from __future__ import annotations

import io
import select
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelay import environment, registrations
from xrelay.api import build_artifact, kernel_workers, stage_runner
from xrelay.api.kernel_lowering import KernelLowering, kernel_stages
from xrelay.api.kernel_stream import KernelStream
from xrelay.api.kernel_workers import KernelJob, KernelWorkers, read_message, write_message
from xrelay.errors import InputError, LoweringError
from xrelay.lowering.pipelines import compile_stages
from xrelay.passes.infra.source import full_context, parse_module
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


def test_workers_make_the_same_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = build_artifact.build_artifact(parsed(), Target.host(), cache=False).artifact
    monkeypatch.setattr(stage_runner, "MIN_OPS_FOR_WORKERS", 0)
    monkeypatch.setenv("XRELAY_WORKERS", "1")
    monkeypatch.setattr(registrations, "_modules", set[str]())

    def refuse(*_: object) -> None:
        raise AssertionError("the compilation leaves all to its worker")

    monkeypatch.setattr(KernelLowering, "lower", refuse)
    monkeypatch.setattr("xrelay.api.kernel_stream._next", _once_empty)
    helped = build_artifact.build_artifact(parsed(), Target.host(), cache=False).artifact
    assert helped.objects == alone.objects


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


@pytest.mark.parametrize(("threads", "helping"), [(1, 0), (2, 0), (3, 0), (4, 1), (8, 3), (64, 3)])
def test_workers_have_cores_for_themselves_and_for_llvm(
    threads: int, helping: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[int] = []

    def start(count: int, *_: object) -> None:
        counts.append(count)

    monkeypatch.setattr(stage_runner, "MIN_OPS_FOR_WORKERS", 0)
    monkeypatch.setattr(registrations, "_modules", set[str]())
    monkeypatch.setattr(KernelWorkers, "start", start)
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
