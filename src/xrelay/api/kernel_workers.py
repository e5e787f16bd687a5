"""Worker processes that lower some kernels of a large model, as seen by the compilation that starts them.

Workers take kernels from the end of a queue, one at a time, while the compilation takes them from its start. Workers
return LLVM IR: LLVM runs in threads of the compilation, since loading it in a worker takes as much memory again. The
compilation lowers a kernel itself if its worker died, hangs, is of another version or failed. Workers communicate
through pipes only, and end with the compilation.
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
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import IO, Final

from xrelay.api.kernel_lowering import KernelFacts, LoweredKernel
from xrelay.api.model_key import code_stamp
from xrelay.errors import ArtifactError
from xrelay.lowering.kernel_units import KernelUnit
from xrelay.lowering.pipelines import Stage, all_passes
from xrelay.runtime.digests import content_key
from xrelay.runtime.json_fields import JsonFields, parse_json_object
from xrelay.target.host import HostFacts, host_facts
from xrelay.target.target import Target

MODULE: Final = "xrelay.api.worker_process"
"""The module that worker processes run."""
_LENGTH: Final = struct.Struct(">Q")


def write_message(stream: IO[bytes], message: Mapping[str, object]) -> None:
    """Writes a message. Raises `OSError` if the pipe is closed."""
    data = json.dumps(message).encode()
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def read_message(stream: IO[bytes]) -> JsonFields | None:
    """Reads the next message; `None` at the end of the stream. Raises `ArtifactError` if it is malformed."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    what = "the message of a worker"
    return JsonFields(parse_json_object(data, what), what) if len(data) == length else None


def code_identity(stages: Sequence[Stage], target: Target, options: Sequence[object]) -> str:
    """Returns what the code of kernels depends on besides their texts and the compiler; `options` are LLVM's."""
    return "\n".join([*all_passes(stages), str(target), ",".join(target.code_features()), *map(str, options)])


def worker_identity(stages: Sequence[Stage], target: Target) -> str:
    """Returns a digest that must be equal in worker and compilation: of the code identity and the compiler's stamp."""
    return content_key([code_stamp().text, code_identity(stages, target, ())])


def host_fields() -> dict[str, object]:
    """Returns the facts about this machine in the form that `read_host` reads."""
    facts = host_facts()
    names = {"features": sorted(facts.features), "absent": sorted(facts.absent)}
    return {"arch": facts.arch, "cpu": facts.cpu, **names, "cores": facts.cores, "caches": facts.caches}


def read_host(fields: JsonFields) -> HostFacts:
    """Returns the facts in `host_fields`. Raises `ArtifactError` if they are malformed."""
    caches = fields.part("caches")
    return HostFacts(
        arch=fields.text("arch"),
        cpu=fields.text("cpu"),
        features=frozenset(fields.texts("features")),
        absent=frozenset(fields.texts("absent")),
        cores=fields.extent("cores"),
        caches={name: caches.extent(name) for name in caches.names},
    )


_PATIENCE: Final = 10.0
"""Seconds without an answer after which the compilation lowers the remaining kernels itself."""


@dataclass(frozen=True)
class KernelJob:
    """A kernel to be compiled; the text of its module determines its symbol in object code."""

    unit: KernelUnit
    text: str
    symbol: str


Answer = tuple[KernelJob, LoweredKernel | None]
"""A kernel and the result of a worker; `None` if the worker has no result."""


class KernelWorkers:
    """The worker processes of one compilation."""

    def __init__(self, processes: Sequence[subprocess.Popen[bytes]], task: Mapping[str, object], identity: str):
        """`task` is the first message to each worker, and `identity` the expected answer; see `start`.

        It is sent at once, so that workers import the compiler while the graph is optimised.
        """
        self._identity = identity
        self._idle = list(processes)
        self._processes = tuple(processes)
        self._started = {process for process in processes if _send(process, task)}
        self._lock = threading.Lock()
        self._taken: dict[str, KernelJob] = {}
        self._answers: SimpleQueue[Answer] = SimpleQueue()
        self._feeders: list[threading.Thread] = []
        self._known: set[subprocess.Popen[bytes]] = set()

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
        rows = [{"phase": stage.phase.name, "passes": list(stage.passes)} for stage in stages]
        task = {"stages": rows, "target": str(target), "host": host_fields()}
        return KernelWorkers(processes, task, worker_identity(stages, target))

    def share(self, queue: deque[KernelJob]) -> None:
        """Lets idle workers take kernels from the end of `queue`."""
        with self._lock:
            ready, self._idle = self._idle, []
        for process in ready:
            feeder = threading.Thread(target=self._feed, args=(process, queue), name="xrelay-worker", daemon=True)
            self._feeders.append(feeder)
            feeder.start()

    def arrived(self) -> Iterator[Answer]:
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
                job, answer = self._answers.get(timeout=_PATIENCE)
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

    def _feed(self, process: subprocess.Popen[bytes], queue: deque[KernelJob]) -> None:
        """Sends kernels to a worker; runs in its own thread."""
        if process not in self._known and not self._agrees(process):
            return
        self._known.add(process)
        while (job := self._take(queue)) is not None:
            answer = _request(process, {"symbol": job.symbol, "text": job.text})
            self._answers.put((job, None if answer is None else _read(answer)))
            if answer is None:
                return
        with self._lock:
            self._idle.append(process)

    def _agrees(self, process: subprocess.Popen[bytes]) -> bool:
        """Whether a worker has the same compiler and options as this process."""
        answer = _answer(process) if process in self._started else None
        try:
            return answer is not None and answer.text("identity") == self._identity
        except ArtifactError:
            return False

    def _take(self, queue: deque[KernelJob]) -> KernelJob | None:
        with self._lock:
            try:
                job = queue.pop()
            except IndexError:
                return None
            return self._taken.setdefault(job.symbol, job)

    def _is_pending(self, job: KernelJob) -> bool:
        """Whether an answer is the first to its kernel and the kernel was not given up."""
        with self._lock:
            return self._taken.pop(job.symbol, None) is not None


def _request(process: subprocess.Popen[bytes], message: Mapping[str, object]) -> JsonFields | None:
    """Returns the answer to a message; `None` if the worker has ended."""
    return _answer(process) if _send(process, message) else None


def _send(process: subprocess.Popen[bytes], message: Mapping[str, object]) -> bool:
    """Writes a message; returns whether it could be written."""
    try:
        if process.stdin is not None:
            write_message(process.stdin, message)
        return process.stdin is not None
    except (OSError, ValueError):  # the pipe is broken or closed
        return False


def _answer(process: subprocess.Popen[bytes]) -> JsonFields | None:
    """Returns the next message of a worker; `None` if the worker has ended."""
    try:
        return None if process.stdout is None else read_message(process.stdout)
    except (OSError, ValueError, ArtifactError):
        return None


def _read(answer: JsonFields) -> LoweredKernel | None:
    """Returns the lowered kernel in an answer; `None` if the worker failed to compile it."""
    try:
        facts = KernelFacts(answer.flag("may_fail"), answer.text("declaration"))
        return LoweredKernel(answer.texts("texts"), facts)
    except ArtifactError:
        return None
