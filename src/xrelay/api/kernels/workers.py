"""Worker processes that lower some kernels of a large model: the side of the compilation.

Workers take kernels from the end of a queue, one at a time, while the compilation takes them from its start. Workers
return LLVM IR. LLVM runs in threads of the compilation, because loading it in each worker would take as much memory
again. The compilation lowers a kernel itself if its worker died, hangs, is of another version or failed. Workers
communicate through pipes only, and end with the compilation.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from queue import Empty, SimpleQueue
from typing import IO, Any, Final, Protocol, cast

from xrelay.api.kernels.lowering import LoweredKernel
from xrelay.api.model_key import code_stamp
from xrelay.errors import ArtifactError
from xrelay.lowering.kernel_units import KernelUnit
from xrelay.lowering.pipelines import Phase, Stage, all_passes
from xrelay.runtime.digests import content_key
from xrelay.runtime.json_fields import decode, parse_json_object
from xrelay.target.host import HostFacts, host_facts
from xrelay.target.target import Target

MODULE: Final = "xrelay.api.kernels.worker_process"
"""The module that worker processes run."""
_LENGTH: Final = struct.Struct(">Q")


@dataclass(frozen=True)
class WorkerTask:
    """The first message to a worker: the stages of its kernels, their target, and LLVM's facts about this machine.

    The worker answers with its `identity`, which must equal that of the compilation.
    """

    stages: tuple[Stage, ...]
    target: str
    host: HostFacts


@dataclass(frozen=True)
class KernelText:
    """A further message to a worker, a kernel. The answer is a `LoweredKernel`, without texts on failure."""

    symbol: str
    text: str


def write_message(stream: IO[bytes], message: Mapping[str, object]) -> None:
    """Writes a message, a JSON object after its length. Raises `OSError` if the pipe is closed."""
    data = json.dumps(message, default=_plain).encode()
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def _plain(value: object) -> object:
    """Returns the JSON form of an enumeration or a set."""
    return value.name if isinstance(value, Phase) else sorted(cast("frozenset[str]", value))


def read_message(stream: IO[bytes], kind: Any) -> Any:
    """Reads the next message, a `kind`; `None` at the end of the stream. Raises `ArtifactError` if it is malformed."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    what = "the message of a worker"
    return decode(kind, parse_json_object(data, what), what) if len(data) == length else None


def code_identity(stages: Sequence[Stage], target: Target, options: Sequence[object]) -> str:
    """Returns the text that, besides their own texts and the compiler, determines the code of kernels.

    `options` are LLVM's.
    """
    return "\n".join([*all_passes(stages), str(target), ",".join(target.code_features()), *map(str, options)])


def worker_identity(stages: Sequence[Stage], target: Target) -> str:
    """Returns a digest that must be equal in worker and compilation: of the code identity and the compiler's stamp."""
    return content_key([code_stamp().text, code_identity(stages, target, ())])


_TIMEOUT_SECONDS: Final = 10.0
"""Seconds without an answer after which the compilation lowers the remaining kernels itself."""


@dataclass(frozen=True)
class KernelJob:
    """A kernel to be compiled; the text of its module determines its symbol in object code."""

    unit: KernelUnit
    text: str
    symbol: str


Answer = tuple[KernelJob, LoweredKernel | None]
"""A kernel and the result of a worker; `None` if the worker has no result."""


class WorkerProcess(Protocol):
    """A worker: a `subprocess.Popen`, or a fork with the same methods."""

    @property
    def stdin(self) -> IO[bytes] | None:
        """The stream of requests."""

    @property
    def stdout(self) -> IO[bytes] | None:
        """The stream of answers."""

    def kill(self) -> None:
        """Ends the process at once, if it still runs."""

    def wait(self) -> object:
        """Waits for the end of the process."""


class KernelWorkers:
    """The worker processes of one compilation."""

    def __init__(self, processes: Sequence[WorkerProcess], task: Mapping[str, object], identity: str):
        """`task` is the first message to each worker, and `identity` the expected answer; see `start`.

        It is sent at once, so that workers import the compiler while the graph is optimised.
        """
        self._identity = identity
        self._idle = list(processes)
        self._processes = list(processes)
        self._started = {process for process in processes if _send(process, task)}
        self._lock = threading.Lock()
        self._taken: dict[str, KernelJob] = {}
        self._answers: SimpleQueue[Answer] = SimpleQueue()
        self._feeders: list[threading.Thread] = []
        self._known: set[WorkerProcess] = set()

    @staticmethod
    def start(count: int, stages: Sequence[Stage], target: Target) -> KernelWorkers | None:
        """Starts `count` workers for kernels that go through `stages`; `None` if Python cannot be started."""
        if not os.path.basename(sys.executable).startswith("python"):
            return None  # the executable of a program that embeds Python is not an interpreter
        # Workers import the compiler while the compilation reads the model.
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
        task = asdict(WorkerTask(tuple(stages), str(target), host_facts()))
        return KernelWorkers(processes, task, worker_identity(stages, target))

    def add_known(self, process: WorkerProcess) -> None:
        """Adds a worker that has the compiler and the options of this process."""
        self._known.add(process)
        self._idle.append(process)
        self._processes.append(process)

    def share(self, queue: deque[KernelJob]) -> None:
        """Lets idle workers take kernels from the end of `queue`."""
        with self._lock:
            ready, self._idle = self._idle, []
        for process in ready:
            feeder = threading.Thread(target=self._feed, args=(process, queue), name="xrelay-worker", daemon=True)
            self._feeders.append(feeder)
            feeder.start()

    def received_answers(self) -> Iterator[Answer]:
        """Yields the answers received so far."""
        with suppress(Empty):
            while True:
                job, answer = self._answers.get_nowait()
                if self._is_pending(job):
                    yield job, answer

    def collect(self) -> Iterator[Answer]:
        """Yields the outstanding answers of the kernels that workers took from the queue, which is empty."""
        while self._taken:
            try:
                job, answer = self._answers.get(timeout=_TIMEOUT_SECONDS)
            except Empty:
                self.close()
                break
            if self._is_pending(job):
                yield job, answer
        missing, self._taken = self._taken, {}
        yield from ((job, None) for job in missing.values())

    def close(self) -> None:
        """Kills the processes."""
        for process in self._processes:
            process.kill()
        for feeder in self._feeders:
            feeder.join()  # ends with its process
        for process in self._processes:
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):  # pending writes may fail
                        stream.close()

    def _feed(self, process: WorkerProcess, queue: deque[KernelJob]) -> None:
        """Sends kernels to a worker; runs in its own thread."""
        if process not in self._known and not self._agrees(process):
            return
        self._known.add(process)
        while (job := self._take(queue)) is not None:
            is_sent = _send(process, asdict(KernelText(job.symbol, job.text)))
            answer: LoweredKernel | None = _next_message(process, LoweredKernel) if is_sent else None
            self._answers.put((job, answer if answer is not None and answer.texts else None))
            if answer is None:
                return
        with self._lock:
            self._idle.append(process)

    def _agrees(self, process: WorkerProcess) -> bool:
        """Whether a worker has the same compiler and options as this process."""
        answer = _next_message(process, dict[str, str]) if process in self._started else None
        return answer is not None and answer.get("identity") == self._identity

    def _take(self, queue: deque[KernelJob]) -> KernelJob | None:
        with self._lock:
            try:
                job = queue.pop()
            except IndexError:
                return None
            return self._taken.setdefault(job.symbol, job)

    def _is_pending(self, job: KernelJob) -> bool:
        """Whether an answer is the first for its kernel, and the compilation has not lowered the kernel itself."""
        with self._lock:
            return self._taken.pop(job.symbol, None) is not None


def _send(process: WorkerProcess, message: Mapping[str, object]) -> bool:
    """Writes a message; returns whether it could be written."""
    try:
        if process.stdin is not None:
            write_message(process.stdin, message)
        return process.stdin is not None
    except (OSError, ValueError):  # the pipe is broken or closed
        return False


def _next_message(process: WorkerProcess, kind: Any) -> Any:
    """Returns the next message of a worker, a `kind`; `None` if the worker has ended."""
    try:
        return None if process.stdout is None else read_message(process.stdout, kind)
    except (OSError, ValueError, ArtifactError):
        return None
