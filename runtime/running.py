"""Ends runs on request of another thread, after a time limit, or on Ctrl-C.

Native code polls the context of its call in each iteration of a loop between kernels, and before each kernel if there
are more than a few. Only models with such loops or so many kernels poll, which costs a few microseconds per run. If a
model consists of kernels and counted loops, and a run took less than `MIN_CANCELLABLE_SECONDS`, later runs of the same
sizes do not poll, unless they have a time limit.

While the main thread is in native code, Python does not run signal handlers, but it immediately writes the number of
the signal to a file descriptor (`signal.set_wakeup_fd`). A thread reads it and ends the runs of the main thread. This
applies only to signals with a Python handler. The handler runs when native code has returned, and raises
`KeyboardInterrupt` as usual. A signal that is older than a run does not end it.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import signal
import threading
import weakref
from collections.abc import Callable
from typing import Final

from xrelay.errors import ExecutionError, InputError
from xrelay.runtime.abi import Context

MAX_SECONDS: Final = threading.TIMEOUT_MAX
"""The maximum time limit, in seconds, that a thread can wait for."""
MIN_CANCELLABLE_SECONDS: Final = 0.002
"""The duration in seconds below which a run need not be cancellable."""


class Run:
    """A run in native code, managed by `Running`."""

    def __init__(self, context: Context):
        """Creates a run that is not ended."""
        self._context: Context | None = context
        self._lock = threading.Lock()
        self.ended: str | None = None
        """The reason why the run was ended."""

    def end(self, reason: str) -> None:
        """Ends the run, unless it is over. Thread-safe."""
        with self._lock:
            if self._context is not None:
                self.ended = self.ended if self.ended is not None else reason
                self._context.cancel = 1

    def close(self) -> None:
        """Detaches the run from its context, which the next run reuses."""
        with self._lock:
            self._context = None


class Running:
    """The current runs of a model."""

    def __init__(self) -> None:
        self.forget()
        _MODELS.add(self)

    def forget(self) -> None:
        """Drops all runs, in the child of a fork, where runs of other threads do not continue."""
        self._runs: set[Run] = set()
        self._lock = threading.Lock()

    def call(self, entry: Callable[[], int], context: Context, timeout: float | None) -> tuple[int, Run]:
        """Calls native code, which is ended after `timeout` seconds; returns its status and the run.

        `cancel` of the context, which belongs to this run, is 0 before and after the call. Raises `ExecutionError` if
        no thread can be started for the time limit.
        """
        run, timer = Run(context), None
        try:
            with self._lock:
                self._runs.add(run)
            timer = None if timeout is None else _started(timeout, run)
            interrupts = _interrupts() if threading.get_ident() == threading.main_thread().ident else None
            return entry() if interrupts is None else interrupts.call(entry, run), run
        finally:
            run.close()
            context.cancel = 0
            if timer is not None:
                timer.cancel()
            with self._lock:
                self._runs.discard(run)

    def end_all(self) -> None:
        """Ends every run."""
        with self._lock:
            runs = list(self._runs)
        for run in runs:
            run.end("the run was cancelled")


_MODELS: Final = weakref.WeakSet[Running]()


def _forget_runs() -> None:
    for model in _MODELS:
        model.forget()


def checked_timeout(timeout: object) -> float | None:
    """Returns a time limit in seconds. Raises `InputError` unless it is a non-negative number or `None`."""
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 <= timeout <= MAX_SECONDS:
        raise InputError(f"timeout is {timeout!r}", help=f"pass seconds from 0 to {MAX_SECONDS:.0f}, or None")
    return float(timeout)


def cancelled_error(run: Run, name: str) -> ExecutionError:
    """Returns the error of a run of the model `name` that was ended."""
    return ExecutionError(run.ended if run.ended is not None else "the run was cancelled", location=name)


def _started(timeout: float, run: Run) -> threading.Timer:
    timer = threading.Timer(timeout, run.end, [f"the run took longer than {timeout:g} s"])
    timer.daemon = True
    try:
        timer.start()
    except RuntimeError as error:
        raise ExecutionError(
            f"cannot limit the run to {timeout:g} s: {error}", help="run without timeout=, or stop other threads"
        ) from error
    return timer


class _Interrupts:
    """Ends the runs of the main thread on an interrupt (Ctrl-C)."""

    def __init__(self) -> None:
        self._runs: list[Run] = []
        """The current runs of the main thread; there are several if a signal handler runs a model."""
        self._previous = -1
        self._lock = threading.RLock()
        """Held while signals are read. Reentrant, since a signal handler may run a model while this thread holds it."""
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        try:
            threading.Thread(target=self._watch, name="xrelay-interrupts", daemon=True).start()
        except RuntimeError:
            os.close(self._reader)
            os.close(self._writer)
            raise

    def call(self, entry: Callable[[], int], run: Run) -> int:
        """Calls native code on the main thread; an interrupt ends `run`."""
        previous = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        if previous != self._writer:
            self._previous = previous
        with self._lock:
            self._read()  # signals that arrived before this run
            self._runs.append(run)
        try:
            return entry()
        finally:
            self._runs.remove(run)
            signal.set_wakeup_fd(previous, warn_on_full_buffer=False)

    def _watch(self) -> None:
        """Waits for signals, forever."""
        arrival = select.poll()
        arrival.register(self._reader, select.POLLIN)
        while True:
            arrival.poll()
            with self._lock:
                if signal.SIGINT in self._read():
                    for run in list(self._runs):
                        run.end("the run was interrupted")

    def _read(self) -> bytes:
        """Returns the numbers of the signals since the last call, and forwards them to the previous descriptor."""
        try:
            numbers = os.read(self._reader, select.PIPE_BUF)
        except BlockingIOError:
            return b""
        if self._previous >= 0:
            with contextlib.suppress(OSError):
                os.write(self._previous, numbers)
        return numbers


@functools.cache
def _started_interrupts() -> _Interrupts:
    return _Interrupts()


def _interrupts() -> _Interrupts | None:
    """Returns the watcher of this process; `None` if it has no thread or pipe for it, so that Ctrl-C is delayed."""
    try:
        return _started_interrupts()
    except (RuntimeError, OSError):
        return None


os.register_at_fork(after_in_child=_started_interrupts.cache_clear)
os.register_at_fork(after_in_child=_forget_runs)
