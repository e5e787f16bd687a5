"""Processes that compile some of the kernels of a large model, from the side of the compilation that starts them.

They take kernels from the end of a queue whose beginning the compilation itself works at, one at a time. What a worker
does not bring, as it died, stands still, is of another version or failed, the compilation makes itself: it depends on
no worker. They are talked to through pipes alone, and end with the compilation.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from base64 import b64decode
from binascii import Error as NoBase64
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Final

from xrelay.api.kernel_records import KernelFacts
from xrelay.api.worker_messages import MODULE, code_identity, read_message, worker_identity, write_message
from xrelay.errors import ArtifactError
from xrelay.lowering.kernel_units import KernelUnit
from xrelay.lowering.pipelines import Stage
from xrelay.runtime.json_fields import JsonFields
from xrelay.runtime.native import CodeOptions
from xrelay.target.target import Target

_PATIENCE: Final = 10.0
"""Seconds without an answer after which the compilation makes what is missing."""


@dataclass(frozen=True)
class Wanted:
    """A kernel to be compiled: the text of its module decides its symbol in object code."""

    unit: KernelUnit
    text: str
    symbol: str


@dataclass(frozen=True)
class Answer:
    """What a worker says of a kernel."""

    objects: list[bytes]
    keys: tuple[str, ...]
    facts: KernelFacts


class KernelWorkers:
    """The processes of one compilation."""

    def __init__(self, processes: Sequence[subprocess.Popen[bytes]], task: Mapping[str, object], identity: str):
        """`task` is their first message, `identity` the answer that it must have; see `start`."""
        self._task, self._identity = task, identity
        self._idle = list(processes)
        self._processes = tuple(processes)
        self._lock = threading.Lock()
        self._taken: list[Wanted] = []
        self._answers: SimpleQueue[tuple[Wanted, Answer | None]] = SimpleQueue()
        self._feeders: list[threading.Thread] = []
        self._known: set[subprocess.Popen[bytes]] = set()

    @staticmethod
    def start(
        count: int, stages: Sequence[Stage], target: Target, options: CodeOptions, *, cached: bool
    ) -> KernelWorkers | None:
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
        task = {"stages": rows, "target": str(target), **options._asdict(), "cache": cached}
        return KernelWorkers(processes, task, worker_identity(code_identity(stages, target, options)))

    def share(self, queue: deque[Wanted]) -> None:
        """Let the workers take kernels from the end of `queue`."""
        with self._lock:
            ready, self._idle = self._idle, []
        for process in ready:
            feeder = threading.Thread(target=self._feed, args=(process, queue), name="xrelay-worker", daemon=True)
            self._feeders.append(feeder)
            feeder.start()

    def collect(self) -> Iterator[tuple[Wanted, Answer | None]]:
        """What the workers took from the queue, which is empty, with their answers; `None` for what they did not do."""
        with self._lock:
            missing, self._taken = {each.symbol: each for each in self._taken}, []
        while missing:
            try:
                wanted, answer = self._answers.get(timeout=_PATIENCE)
            except Empty:
                self.close()
                break
            if missing.pop(wanted.symbol, None) is not None:
                yield wanted, answer
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
        answer = _asked(process, self._task)
        try:
            return answer is not None and answer.text("identity") == self._identity
        except ArtifactError:
            return False

    def _take(self, queue: deque[Wanted]) -> Wanted | None:
        with self._lock:
            try:
                self._taken.append(queue.pop())
            except IndexError:
                return None
            return self._taken[-1]


def _asked(process: subprocess.Popen[bytes], message: Mapping[str, object]) -> JsonFields | None:
    """The answer to a message; `None` from a worker that is no more."""
    if process.stdin is None or process.stdout is None:
        return None
    try:
        write_message(process.stdin, message)
        return read_message(process.stdout)
    except (OSError, ValueError, ArtifactError):  # the pipe is broken, or closed
        return None


def _read(answer: JsonFields) -> Answer | None:
    """The answer to a kernel; `None` for one that the worker failed to compile."""
    try:
        objects = [b64decode(text, validate=True) for text in answer.texts("objects")]
        facts = KernelFacts(answer.flag("may_fail"), answer.text("declaration"))
        return Answer(objects, answer.texts("keys"), facts)
    except (ArtifactError, NoBase64):
        return None
