"""Compiles kernels to object code one by one: cached kernels are not lowered, and LLVM runs in parallel to lowering.

The code of a kernel depends on the text of its own module (`kernel_units.py`), the target and the passes. Its symbol in
object code is a digest of these, so equal kernels of all models share one symbol.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from time import perf_counter
from types import TracebackType
from typing import Final, Self

from xdsl.context import Context

from xrelay.api.kernels.lowering import KernelFacts, KernelLowering, LoweredKernel
from xrelay.api.kernels.workers import Answer, KernelJob, KernelWorkers
from xrelay.errors import ArtifactError, XRelayError
from xrelay.lowering.kernel_units import KernelUnit, declare_lowered, kernel_of
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import parse_module
from xrelay.runtime import llvm
from xrelay.runtime.cache import ObjectCache, object_key
from xrelay.runtime.cores import default_num_threads
from xrelay.runtime.digests import content_key
from xrelay.runtime.json_fields import decode, parse_json_object
from xrelay.runtime.kernel_work import KERNEL_DIGITS, KERNEL_PREFIX, KernelWork
from xrelay.runtime.object_code.llvm_compiler import CodeOptions, compile_cached

FOLDER: Final = "kernels"
"""The folder of the records in the cache."""

Report = Callable[[str], None]


@dataclass(frozen=True)
class _Record(KernelFacts):
    """The cache record of a kernel."""

    objects: tuple[str, ...]
    """The keys of its objects in the cache."""


class KernelRecords:
    """Records of kernels on disk, for one state of the compiler.

    A record that cannot be read, or whose objects are gone, counts as absent.
    """

    def __init__(self, records: ObjectCache, objects: ObjectCache, stamp: str):
        """`stamp` identifies the state of the compiler's code.

        `objects` is the cache whose keys the records contain.
        """
        self._records, self._objects, self._stamp = records, objects, stamp

    def get(self, symbol: str) -> Code | None:
        """Returns the code of the kernel with a symbol; `None` if there is no record."""
        data = self._records.get(self._key(symbol))
        if data is None:
            return None
        try:
            record = decode(_Record, parse_json_object(data, "the record of a kernel"), "the record of a kernel")
        except ArtifactError:
            return None  # the digest matches, so the record is not damaged: another version has written it
        objects = [code for key in record.objects if (code := self._objects.get(key)) is not None]
        return Code(objects, record) if len(objects) == len(record.objects) else None

    def put(self, symbol: str, object_keys: Sequence[str], facts: KernelFacts) -> None:
        """Stores the record of a kernel whose objects are in the cache."""
        record = _Record(facts.may_fail, facts.declaration, facts.work, tuple(object_keys))
        self._records.put(self._key(symbol), json.dumps(asdict(record)).encode())

    def _key(self, symbol: str) -> str:
        return content_key([self._stamp, symbol])


@dataclass
class KernelCounts:
    """The numbers of a model's kernels that were compiled, found in the cache, and equal to another kernel."""

    compiled: int = 0
    found: int = 0
    equal: int = 0
    by_workers: int = 0
    """The number of compiled kernels that workers lowered."""


@dataclass(frozen=True)
class Code:
    """The objects of a kernel, which may be pending, and the facts that its callers need."""

    objects: Sequence[bytes] | Future[list[bytes]]
    facts: KernelFacts


class KernelStream:
    """Compiles the kernels of a model. A context manager; no thread or worker of it outlives the `with` block."""

    def __init__(
        self,
        lowering: KernelLowering,
        context: Context,
        options: CodeOptions,
        identity: str,
        objects: ObjectCache | None,
        records: KernelRecords | None,
        workers: KernelWorkers | None = None,
    ):
        """`identity` covers everything that affects a kernel's code except its text; `records` finds cached kernels.

        `workers` are closed with the stream.
        """
        self._lowering, self._context = lowering, context
        self._options, self._identity = options, identity
        self._objects, self._records, self._workers = objects, records, workers
        self._codes: dict[str, Code] = {}
        self._symbols: dict[str, str] = {}
        self._work: dict[str, KernelWork] = {}
        llvm.binding()  # loads LLVM before threads use it
        self._pool = ThreadPoolExecutor(default_num_threads(), thread_name_prefix="xrelay-kernel")
        self.counts = KernelCounts()
        self.llvm_seconds: list[float] = []
        """The seconds that LLVM took for each kernel."""
        self.waited = 0.0
        """The seconds spent waiting for workers."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)
        if self._workers is not None:
            self._workers.close()

    def add(self, units: Sequence[KernelUnit], report: Report) -> None:
        """Starts compiling kernels, whose modules are consumed, and completes their declarations for callers.

        Errors of passes get a note that names the kernel. The callback receives the name of each kernel that is
        lowered.
        """
        texts = [(unit, print_module(unit.module)) for unit in units]
        added = [KernelJob(unit, text, self._symbol(text)) for unit, text in texts]
        unknown: dict[str, KernelJob] = {}
        for job in added:
            if job.symbol in self._codes or job.symbol in unknown:
                self.counts.equal += 1
            elif (known := self._known(job.symbol)) is not None:
                self.counts.found += 1
                self._codes[job.symbol] = known
            else:
                unknown[job.symbol] = job
        self._compile(unknown, report)
        for job in added:
            facts = self._codes[job.symbol].facts
            declared = (
                kernel_of(parse_module(self._context, facts.declaration, job.symbol)) if facts.declaration else None
            )
            declare_lowered(job.unit, declared, may_fail=facts.may_fail)
            self._symbols[job.unit.name] = job.symbol
            self._work[job.unit.name] = facts.work if job.unit.work is None else job.unit.work

    @property
    def work(self) -> dict[str, KernelWork]:
        """Maps the symbol of each kernel in its original module to its work."""
        return self._work

    @property
    def symbols(self) -> dict[str, str]:
        """Maps the symbol of each kernel in its original module to its symbol in object code."""
        return self._symbols

    def finish(self) -> list[bytes]:
        """Returns the objects of all kernels, each once."""
        found: list[bytes] = []
        for symbol in dict.fromkeys(self._symbols.values()):
            code = self._codes[symbol]
            found += code.objects.result() if isinstance(code.objects, Future) else code.objects
        return found

    def _known(self, symbol: str) -> Code | None:
        return None if self._records is None else self._records.get(symbol)

    def _symbol(self, text: str) -> str:
        return KERNEL_PREFIX + content_key([self._identity, text])[:KERNEL_DIGITS]

    def _compile(self, unknown: dict[str, KernelJob], report: Report) -> None:
        """Compiles kernels from the start of the queue, while workers take them from its end."""
        queue = deque(unknown.values())
        if self._workers is not None and len(queue) > 1:
            self._workers.share(queue)
        while (job := _next(queue)) is not None:
            self._compile_one(job, None, report)
            for other, brought in self._workers.received_answers() if self._workers is not None else ():
                self._compile_one(other, brought, report)
        for other, brought in self._waited_for():
            self._compile_one(other, brought, report)

    def _waited_for(self) -> Iterator[Answer]:
        """Yields the outstanding answers of workers."""
        answers = iter(()) if self._workers is None else self._workers.collect()
        while True:
            start = perf_counter()
            answer = next(answers, None)
            self.waited += perf_counter() - start
            if answer is None:
                return
            yield answer

    def _compile_one(self, job: KernelJob, lowered: LoweredKernel | None, report: Report) -> None:
        """Compiles a kernel; `lowered` is the result of a worker, or `None`."""
        report(job.unit.name)
        self.counts.compiled += 1
        if lowered is None:
            lowered = self._lowered(job)
        else:
            self.counts.by_workers += 1
        objects = self._pool.submit(self._emit, job.unit.name, job.symbol, lowered)
        self._codes[job.symbol] = Code(objects, lowered)

    def _lowered(self, job: KernelJob) -> LoweredKernel:
        unit, symbol = job.unit, job.symbol
        try:
            return self._lowering.lower(unit.module, symbol)
        except XRelayError as error:
            nodes = f" of {', '.join(unit.sources)}" if unit.sources else ""
            error.add_note(f"in kernel @{unit.name}{nodes}")
            raise

    def _emit(self, name: str, symbol: str, lowered: LoweredKernel) -> list[bytes]:
        """Returns the objects of a kernel; runs in a thread."""
        options, start = self._options._asdict(), perf_counter()
        try:
            objects = [compile_cached(text, **options, cache=self._objects) for text in lowered.texts]
        except XRelayError as error:
            error.add_note(f"in kernel @{name}")
            raise
        self.llvm_seconds.append(perf_counter() - start)
        if self._records is not None:
            self._records.put(symbol, [object_key(text, **options) for text in lowered.texts], lowered)
        return objects


def _next(queue: deque[KernelJob]) -> KernelJob | None:
    """Pops the first item of a queue that other threads also consume; `None` if it is empty."""
    try:
        return queue.popleft()
    except IndexError:
        return None
