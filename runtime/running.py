"""Runs that can be ended: by another thread, by a limit of time, by Ctrl-C.

Native code asks the context of its call in each iteration of a loop between kernels, and in front of kernels where
there are more than a few. Only models with such loops or so many kernels have any of this, and pay for it: a few
microseconds a run. Of a model that is kernels in a row, runs of sizes that once took less than `SHORT` are left
alone, unless they have a limit of time.

While the main thread is in native code, Python does not run the handler of a signal. It writes the number of the signal
to a file at once, however (`signal.set_wakeup_fd`), where a thread of the process waits for it, and ends the runs that
the main thread is in. Only signals that have a handler of Python's come there. The handler runs when native code has
returned, and raises `KeyboardInterrupt` as ever.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import threading
import weakref
from collections.abc import Callable
from typing import Final

from xrelay.errors import ExecutionError, InputError
from xrelay.runtime.abi import Context

MAX_SECONDS: Final = threading.TIMEOUT_MAX
"""The longest limit of time that a thread can wait for."""
SHORT: Final = 0.002
"""Seconds that nobody minds waiting for."""


class Run:
    """A run in native code, which belongs to `Running`."""

    def __init__(self, context: Context):
        """A run that nobody has ended yet."""
        self._context: Context | None = context
        self._lock = threading.Lock()
        self.ended: str | None = None
        """Why somebody wanted it to end."""

    def end(self, reason: str) -> None:
        """Ends the run, unless it is over; any thread may do that."""
        with self._lock:
            if self._context is not None:
                self.ended = self.ended if self.ended is not None else reason
                self._context.cancel = 1

    def close(self) -> None:
        """The run is over: from now on its context belongs to another one."""
        with self._lock:
            self._context = None


class Running:
    """The runs of a model that go on."""

    def __init__(self) -> None:
        self.forget()
        _MODELS.add(self)

    def forget(self) -> None:
        """Begin anew without runs, in the child of a fork: those of other threads do not go on there."""
        self._runs: set[Run] = set()
        self._lock = threading.Lock()

    def call(self, entry: Callable[[], int], context: Context, timeout: float | None) -> tuple[int, Run]:
        """Calls native code, which is ended after `timeout` seconds; its status, and the run that it was.

        The context, which is of this run alone, asks for no end before and after it. `ExecutionError` if there is no
        thread to wait for the limit.
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
    """A limit of time in seconds; `InputError` unless it is a number from 0, or `None`."""
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 <= timeout <= MAX_SECONDS:
        raise InputError(f"timeout is {timeout!r}", help=f"give seconds from 0 to {MAX_SECONDS:.0f}, or None")
    return float(timeout)


def cancelled(run: Run, name: str) -> ExecutionError:
    """The error of a run of the model `name` that was ended."""
    return ExecutionError(run.ended if run.ended is not None else "the run was cancelled", location=name)


def _started(timeout: float, run: Run) -> threading.Timer:
    timer = threading.Timer(timeout, run.end, [f"the run took longer than {timeout:g} s"])
    timer.daemon = True
    try:
        timer.start()
    except RuntimeError as error:
        raise ExecutionError(
            f"cannot limit the run to {timeout:g} s: {error}", help="run it without timeout=, or end other threads"
        ) from error
    return timer


class _Interrupts:
    """Ends the runs of the main thread when an interrupt (Ctrl-C) arrives."""

    def __init__(self) -> None:
        self._runs: list[Run] = []
        """The runs that the main thread is in: one, or several where a signal's handler runs a model."""
        self._previous = -1
        self._reader, self._writer = os.pipe()
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
        self._runs.append(run)
        try:
            return entry()
        finally:
            self._runs.remove(run)
            signal.set_wakeup_fd(previous, warn_on_full_buffer=False)

    def _watch(self) -> None:
        """Waits for signals, for ever."""
        while True:
            for number in os.read(self._reader, 1):
                if number == signal.SIGINT:
                    for run in list(self._runs):
                        run.end("the run was interrupted")
                if self._previous >= 0:  # whoever waits there misses nothing
                    with contextlib.suppress(OSError):
                        os.write(self._previous, bytes([number]))


@functools.cache
def _started_interrupts() -> _Interrupts:
    return _Interrupts()


def _interrupts() -> _Interrupts | None:
    """The watcher of this process; `None` if the system has no thread or pipe for it, so that Ctrl-C has to wait."""
    try:
        return _started_interrupts()
    except (RuntimeError, OSError):
        return None


os.register_at_fork(after_in_child=_started_interrupts.cache_clear)
os.register_at_fork(after_in_child=_forget_runs)
