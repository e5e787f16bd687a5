"""Workers that are forks of the compilation: they have its imports, and the kernels that it has extracted.

A new process imports the compiler for half a second of processor time; a fork starts in a few milliseconds, copies only
the memory that it changes, and parses no text. `may_fork` describes when a fork is safe.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from typing import IO

from xrelay.api.kernels.lowering import KernelLowering, LoweredKernel
from xrelay.api.kernels.worker import lowered_or_failed, serve
from xrelay.api.kernels.workers import KernelJob, KernelText, KernelWorkers


def may_fork() -> bool:
    """Whether a fork of this process can lower kernels.

    A lock that another thread holds stays locked in a fork, so no other thread of Python may exist. Threads of
    libraries may: a fork calls only Python and numpy, whose BLAS ends its threads before a fork. A debugger would
    follow the fork. On macOS, libraries of the system do not work in a fork.
    """
    return (
        sys.platform == "linux"
        and threading.active_count() == 1
        and threading.current_thread() is threading.main_thread()
        and sys.gettrace() is None
    )


@dataclass(frozen=True)
class ForkedProcess:
    """A fork of this process, with the methods of `subprocess.Popen` that `KernelWorkers` uses."""

    pid: int
    stdin: IO[bytes]
    stdout: IO[bytes]

    def kill(self) -> None:
        """Kills the process unless it has ended. If the program has waited for it, another may have its number."""
        with suppress(OSError):
            if os.waitpid(self.pid, os.WNOHANG) == (0, 0):
                os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> None:
        """Waits for the end of the process."""
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


class ForkedWorkers(KernelWorkers):
    """The forks of one compilation, which start when there are kernels."""

    def __init__(self, count: int, lowering: KernelLowering):
        """At most `count` workers lower kernels with `lowering`."""
        super().__init__((), {}, "")
        self._count, self._lowering = count, lowering

    def share(self, queue: deque[KernelJob]) -> None:
        """Lets forks take kernels from the end of `queue`.

        After the first queue, LLVM's threads exist, so there is no fork for the kernels of further programs.
        """
        jobs = {job.symbol: job for job in queue}
        while self._count > 0 and may_fork():
            self._count -= 1
            worker = _forked(partial(_lowered, self._lowering, jobs))
            if worker is None:
                break
            self.add_known(worker)
        super().share(queue)


def _lowered(lowering: KernelLowering, jobs: dict[str, KernelJob], kernel: KernelText) -> LoweredKernel:
    return lowered_or_failed(lowering, jobs[kernel.symbol].unit.module, kernel.symbol)


def _forked(lower: Callable[[KernelText], LoweredKernel]) -> ForkedProcess | None:
    """Returns a fork that answers kernels; `None` if there is no further process or pipe. The fork never returns."""
    ends: list[int] = []
    parent, pid = os.getpid(), -1
    try:
        ends += os.pipe()
        ends += os.pipe()
        pid = _fork()
        if pid == 0:
            requests, to_worker, from_worker, answers = ends
            os.close(to_worker)
            os.close(from_worker)
            _work(lower, requests, answers)
    except OSError:
        for end in ends:
            os.close(end)
        return None
    finally:
        if os.getpid() != parent:
            os._exit(0)  # without the exit functions and pending output of the program
    requests, to_worker, from_worker, answers = ends
    os.close(requests)
    os.close(answers)
    return ForkedProcess(pid, os.fdopen(to_worker, "wb"), os.fdopen(from_worker, "rb"))


def _fork() -> int:
    """Calls `os.fork` without the warnings of Python and of libraries about threads, see `may_fork`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return os.fork()


def _work(lower: Callable[[KernelText], LoweredKernel], requests: int, answers: int) -> None:
    """Answers kernels. The program's signal handlers, output and unreachable objects are left alone."""
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, and so the requests
    gc.freeze()
    with (
        open(os.devnull, "w") as silence,
        os.fdopen(requests, "rb") as source,
        os.fdopen(answers, "wb") as sink,
        # These keep the program's streams: one without references would write its pending text.
        redirect_stdout(silence),
        redirect_stderr(silence),
    ):
        serve(lower, source, sink)
