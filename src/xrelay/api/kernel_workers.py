"""Processes that compile some of the kernels of a large model, from the side of the compilation that starts them.

They take kernels from the end of a queue whose beginning the compilation itself works at, one at a time, and bring LLVM
IR: LLVM runs in threads of the compilation, so that no worker has to load it, which takes as much memory again. What a
worker does not bring, as it died, stands still, is of another version or failed, the compilation makes itself: it
depends on no worker. They are talked to through pipes alone, and end with the compilation.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final

from xrelay.api.kernel_lowering import LoweredKernel
from xrelay.api.kernel_records import KernelFacts
from xrelay.api.worker_messages import MODULE, host_fields, read_message, worker_identity, write_message
from xrelay.errors import ArtifactError
from xrelay.lowering.kernel_units import KernelUnit
from xrelay.lowering.pipelines import Stage
from xrelay.runtime.json_fields import JsonFields
from xrelay.target.target import Target

_PATIENCE: Final = 10.0
"""Seconds without an answer after which the compilation makes what is missing."""


@dataclass(frozen=True)
class Wanted:
    """A kernel to be compiled: the text of its module decides its symbol in object code."""

    unit: KernelUnit
    text: str
    symbol: str


Answer = tuple[Wanted, LoweredKernel | None]
"""What a worker made of a kernel; `None` where it brings nothing."""


class KernelWorkers:
    """The processes of one compilation."""

    def __init__(self, processes: Sequence[subprocess.Popen[bytes]], task: Mapping[str, object], identity: str):
        """`task` is their first message, `identity` the answer that it must have; see `start`.

        They get it at once, and load what it asks for while the graph is optimised.
        """
        self._identity = identity
        self._idle = list(processes)
        self._processes = tuple(processes)
        self._told = {process for process in processes if _tell(process, task)}
        self._lock = threading.Lock()
        self._taken: dict[str, Wanted] = {}
        self._answers: SimpleQueue[Answer] = SimpleQueue()
        self._feeders: list[threading.Thread] = []
        self._known: set[subprocess.Popen[bytes]] = set()

    @staticmethod
    def start(count: int, stages: Sequence[Stage], target: Target) -> KernelWorkers | None:
        """Starts `count` processes that know what kernels go through; `None` where Python cannot be started."""
        if not os.path.basename(sys.executable).startswith("python"):
            return None  # of a program that embeds Python, which is no interpreter
        # They import while the compilation reads the model.
        command = [sys.executable, "-P", "-m", MODULE]
        processes: list[subprocess.Popen[bytes]] = []
        try:
            for _ in range(count):
                process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
                )
                processes.append(process)
        except OSError:
            if not processes:
                return None
        rows = [{"phase": stage.phase.name, "passes": list(stage.passes)} for stage in stages]
        task = {"stages": rows, "target": str(target), "host": host_fields()}
        return KernelWorkers(processes, task, worker_identity(stages, target))

    def share(self, queue: deque[Wanted]) -> None:
        """Let the workers take kernels from the end of `queue`."""
        with self._lock:
            ready, self._idle = self._idle, []
        for process in ready:
            feeder = threading.Thread(target=self._feed, args=(process, queue), name="xrelay-worker", daemon=True)
            self._feeders.append(feeder)
            feeder.start()

    def arrived(self) -> Iterator[Answer]:
        """The answers that are there by now."""
        with suppress(Empty):
            while True:
                wanted, answer = self._answers.get_nowait()
                if self._is_awaited(wanted):
                    yield wanted, answer

    def collect(self) -> Iterator[Answer]:
        """The answers that are missing of kernels that the workers took from the queue, which is empty."""
        while self._taken:
            try:
                wanted, answer = self._answers.get(timeout=_PATIENCE)
            except Empty:
                self.close()
                break
            if self._is_awaited(wanted):
                yield wanted, answer
        missing, self._taken = self._taken, {}
        yield from ((wanted, None) for wanted in missing.values())

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.kill()
        for feeder in self._feeders:
            feeder.join()  # which sees the end of its process
        for process in self._processes:
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):  # of what was still to be written
                        stream.close()

    def _feed(self, process: subprocess.Popen[bytes], queue: deque[Wanted]) -> None:
        """Hands kernels to a worker; runs in a thread of its own."""
        if process not in self._known and not self._agrees(process):
            return
        self._known.add(process)
        while (wanted := self._take(queue)) is not None:
            answer = _asked(process, {"symbol": wanted.symbol, "text": wanted.text})
            self._answers.put((wanted, None if answer is None else _read(answer)))
            if answer is None:
                return
        with self._lock:
            self._idle.append(process)

    def _agrees(self, process: subprocess.Popen[bytes]) -> bool:
        """Whether a worker compiles as this process does."""
        answer = _answer(process) if process in self._told else None
        try:
            return answer is not None and answer.text("identity") == self._identity
        except ArtifactError:
            return False

    def _take(self, queue: deque[Wanted]) -> Wanted | None:
        with self._lock:
            try:
                wanted = queue.pop()
            except IndexError:
                return None
            return self._taken.setdefault(wanted.symbol, wanted)

    def _is_awaited(self, wanted: Wanted) -> bool:
        """Whether an answer is the first to a kernel, and not one that came after all."""
        with self._lock:
            return self._taken.pop(wanted.symbol, None) is not None


def _asked(process: subprocess.Popen[bytes], message: Mapping[str, object]) -> JsonFields | None:
    """The answer to a message; `None` from a worker that is no more."""
    return _answer(process) if _tell(process, message) else None


def _tell(process: subprocess.Popen[bytes], message: Mapping[str, object]) -> bool:
    """Writes a message; gives whether the pipe to a worker took it."""
    try:
        if process.stdin is not None:
            write_message(process.stdin, message)
        return process.stdin is not None
    except (OSError, ValueError):  # the pipe is broken, or closed
        return False


def _answer(process: subprocess.Popen[bytes]) -> JsonFields | None:
    """The next message of a worker; `None` from one that is no more."""
    try:
        return None if process.stdout is None else read_message(process.stdout)
    except (OSError, ValueError, ArtifactError):
        return None


def _read(answer: JsonFields) -> LoweredKernel | None:
    """The answer to a kernel; `None` for one that the worker failed to compile."""
    try:
        facts = KernelFacts(answer.flag("may_fail"), answer.text("declaration"))
        return LoweredKernel(answer.texts("texts"), facts)
    except ArtifactError:
        return None
