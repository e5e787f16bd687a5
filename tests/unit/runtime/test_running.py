"""Runs that end early: time limits, other threads, Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from xrelay.api.compile import compile
from xrelay.api.model import CompiledModel, load
from xrelay.errors import ExecutionError, InputError
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.runtime import running

# Each iteration allocates a buffer that the next one frees.
TEXT = """
func.func private @fill(%y: memref<4xf32>) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  loop.for "i" %i to 4 {
    %v = arith.constant 1.0 : f32
    loop.store %v, %y[%i] : memref<4xf32>
  }
  func.return
}
func.func @main(%n: memref<i64> {relay.name = "n"}, %y: memref<4xf32> {relay.name = "y"})
    attributes {loop.num_outputs = 1 : i64} {
  %0 = memref.load %n[] : memref<i64>
  %times = arith.index_cast %0 : i64 to index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %few = arith.minsi %times, %one : index
  %start = memref.alloc(%few) : memref<?xf32>
  %r:2 = scf.while (%k = %zero, %b = %start) : (index, memref<?xf32>) -> (index, memref<?xf32>) {
    %more = arith.cmpi slt, %k, %times : index
    scf.condition(%more) %k, %b : index, memref<?xf32>
  } do {
  ^bb0(%k: index, %b: memref<?xf32>):
    %most = arith.constant 1024 : index
    %size = arith.remui %k, %most : index
    memref.dealloc %b : memref<?xf32>
    %c = memref.alloc(%size) : memref<?xf32>
    func.call @fill(%y) : (memref<4xf32>) -> ()
    %next = arith.addi %k, %one : index
    scf.yield %next, %c : index, memref<?xf32>
  }
  memref.dealloc %r#1 : memref<?xf32>
  func.return
}
"""
# Forty consecutive kernels, each with as many steps as the input.
STRAIGHT = """
func.func private @steps(%y: memref<1xf32>, %times: index) attributes {loop.kernel, loop.num_outputs = 1 : i64} {
  %zero = arith.constant 0 : index
  loop.for "i" %i to %times {
    %v = loop.load %y[%zero] : memref<1xf32>
    %half = arith.constant 0.5 : f32
    %w = arith.mulf %v, %half : f32
    %x = arith.addf %w, %half : f32
    loop.store %x, %y[%zero] : memref<1xf32>
  }
  func.return
}
func.func @main(%n: memref<i64> {relay.name = "n"}, %y: memref<1xf32> {relay.name = "y"})
    attributes {loop.num_outputs = 1 : i64} {
  %0 = memref.load %n[] : memref<i64>
  %times = arith.index_cast %0 : i64 to index
CALLS  func.return
}
""".replace("CALLS", 40 * "  func.call @steps(%y, %times) : (memref<1xf32>, index) -> ()\n")
ENDLESS, ONCE = np.array(1 << 60), np.array(1)


@pytest.fixture(scope="module")
def model() -> CompiledModel:
    return compile(parse_module(full_context(), TEXT, "loop.mlir"), cache=False, threads=1)


@pytest.fixture(scope="module")
def straight() -> CompiledModel:
    return compile(parse_module(full_context(), STRAIGHT, "straight.mlir"), cache=False, threads=1)


@contextmanager
def handling_interrupts() -> Generator[None]:
    """Makes an interrupt raise `KeyboardInterrupt`, which a background process would ignore."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


@contextmanager
def soon(action: object, *arguments: object) -> Generator[None]:
    """Calls `action` repeatedly from another thread until the body is over, as it may precede the run."""
    over = threading.Event()

    def act() -> None:
        assert callable(action)
        while not over.wait(0.05):
            action(*arguments)

    thread = threading.Thread(target=act)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def check_that_it_runs_on(model: CompiledModel) -> None:
    np.testing.assert_array_equal(model.run([ONCE], timeout=60)[0], np.ones(4))


def test_a_limit_of_time(model: CompiledModel) -> None:
    for _ in range(3):
        with pytest.raises(ExecutionError, match=r"^model: the run took longer than 0\.02 s$"):
            model.run([ENDLESS], timeout=0.02)
        check_that_it_runs_on(model)


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), True, "1"])
def test_what_is_no_limit(model: CompiledModel, timeout: float) -> None:
    with pytest.raises(InputError, match="timeout is"):
        model.run([ONCE], timeout=timeout)


def test_where_no_thread_is_to_be_had(model: CompiledModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """A time limit raises, a run without one succeeds, and `cancel` without a run has no effect on later ones."""

    def refuse(*arguments: object) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        patch.setattr("xrelay.runtime.running._started_interrupts", refuse)
        with pytest.raises(ExecutionError, match=r"^cannot limit the run to 1 s: can't start new thread; help: run"):
            model.run([ONCE], timeout=1)
        np.testing.assert_array_equal(model.run([ONCE])[0], np.ones(4))
    model.cancel()
    np.testing.assert_array_equal(model.run([ONCE])[0], np.ones(4))


def test_another_thread_ends_all_runs(model: CompiledModel, tmp_path: Path) -> None:
    model.save(tmp_path / "m.xrelay")
    loaded = load(tmp_path / "m.xrelay")
    messages: list[str] = []

    def work() -> None:
        try:
            loaded.run([ENDLESS], timeout=60)
        except ExecutionError as error:
            messages.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(2)]
    loaded.cancel()
    with soon(loaded.cancel):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert messages == ["model: the run was cancelled"] * 2
    check_that_it_runs_on(loaded)


def test_ctrl_c(model: CompiledModel) -> None:
    with handling_interrupts(), pytest.raises(KeyboardInterrupt), soon(os.kill, os.getpid(), signal.SIGINT):
        model.run([ENDLESS], timeout=60)
    check_that_it_runs_on(model)


def test_a_handler_that_does_not_raise(model: CompiledModel) -> None:
    seen: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    try:
        interrupt = soon(os.kill, os.getpid(), signal.SIGINT)
        with pytest.raises(ExecutionError, match=r"^model: the run was interrupted$"), interrupt:
            model.run([ENDLESS], timeout=60)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert set(seen) == {signal.SIGINT}


def test_a_signal_before_a_run_does_not_end_it(model: CompiledModel) -> None:
    interrupts = running._started_interrupts()  # pyright: ignore[reportPrivateUsage]
    with interrupts._lock:  # pyright: ignore[reportPrivateUsage]
        # The thread that ends runs waits for the lock, as on a machine whose other work keeps it from running.
        os.write(interrupts._writer, bytes([signal.SIGINT]))  # pyright: ignore[reportPrivateUsage]
        check_that_it_runs_on(model)
        assert interrupts._read() == b""  # pyright: ignore[reportPrivateUsage]


def test_who_waits_for_signals_hears_of_them(model: CompiledModel) -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    previous = signal.set_wakeup_fd(writer)
    try:
        interrupt = soon(os.kill, os.getpid(), signal.SIGINT)
        with handling_interrupts(), contextlib.suppress(KeyboardInterrupt), interrupt:
            model.run([ENDLESS], timeout=60)
        assert signal.set_wakeup_fd(previous) == writer
        assert os.read(reader, 1) == bytes([signal.SIGINT])
    finally:
        signal.set_wakeup_fd(previous)
        os.close(reader)
        os.close(writer)


def test_ended_runs_leave_nothing(model: CompiledModel) -> None:
    plan = model._executable.constant if model._executable else None  # pyright: ignore[reportPrivateUsage]
    assert plan is not None
    for _ in range(3):
        with pytest.raises(ExecutionError):
            model.run([ENDLESS], timeout=0)
    frame = plan.frames.acquire()
    assert (frame.context.buffers, frame.context.buffer_bytes) == (None, 0)
    plan.frames.release(frame)


def test_kernels_in_a_row(straight: CompiledModel) -> None:
    long, out = np.array(1 << 23), np.ones(1, np.float32)
    for _ in range(2):
        with pytest.raises(ExecutionError, match=r"^model: the run took longer than 0\.01 s$"):
            straight.run([long], out=[out], timeout=0.01)
        with pytest.raises(ExecutionError, match=r"^model: the run was cancelled$"), soon(straight.cancel):
            straight.run([long], out=[out], timeout=60)
        with handling_interrupts(), pytest.raises(KeyboardInterrupt), soon(os.kill, os.getpid(), signal.SIGINT):
            straight.run([long], out=[out], timeout=60)
        np.testing.assert_array_equal(straight.run([ONCE], out=[np.ones(1, np.float32)])[0], [1])


def test_short_runs_of_kernels_in_a_row_are_left_alone(model: CompiledModel, straight: CompiledModel) -> None:
    for each, is_short in ((model, False), (straight, True)):
        for _ in range(100):  # at least one is not disturbed
            each.run([ONCE])
        executable = each._executable  # pyright: ignore[reportPrivateUsage]
        assert executable is not None
        assert executable.constant is not None
        assert executable.constant.is_short == is_short
