"""Kernels go to object code one by one: known ones are not lowered, and LLVM runs beside the lowering of others.

What decides the code of a kernel is the text of its own module (`kernel_units.py`), the target and the passes. Its
symbol in object code is made of these, so that equal kernels of all models are one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from types import TracebackType
from typing import Final, Self

from xdsl.context import Context

from xrelay.api.kernel_lowering import KernelLowering, LoweredKernel
from xrelay.api.kernel_records import KernelFacts, KernelRecords
from xrelay.api.kernel_workers import Answer, KernelWorkers, Wanted
from xrelay.api.timing import KernelCounts
from xrelay.errors import XRelayError
from xrelay.lowering.kernel_units import KernelUnit, declare_lowered, kernel_of
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import parse_module
from xrelay.runtime import llvm
from xrelay.runtime.cache import ObjectCache, object_key
from xrelay.runtime.cores import default_num_threads
from xrelay.runtime.digests import content_key
from xrelay.runtime.native import CodeOptions, compile_cached

SYMBOL: Final = "xrelay_kernel_"
"""The beginning of the symbols of kernels in object code."""
_DIGITS: Final = 24


Tell = Callable[[str], None]


@dataclass(frozen=True)
class Code:
    """The objects of a kernel, which may not be there yet, and what its callers have to know."""

    objects: Sequence[bytes] | Future[list[bytes]]
    facts: KernelFacts


class KernelStream:
    """Compiles the kernels of a model; in a `with`, at whose end no thread of it runs any more."""

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
        """`identity` is what decides the code of kernels but for their texts; with `records` known ones are found.

        `workers` help, and end with the stream.
        """
        self._lowering, self._context = lowering, context
        self._options, self._identity = options, identity
        self._objects, self._records, self._workers = objects, records, workers
        self._codes: dict[str, Code] = {}
        self._symbols: dict[str, str] = {}
        llvm.binding()  # of which threads want to be sure
        self._pool = ThreadPoolExecutor(default_num_threads(), thread_name_prefix="xrelay-kernel")
        self.counts = KernelCounts()
        self.llvm_seconds: list[float] = []
        """What LLVM took for each kernel."""
        self.waited = 0.0
        """The seconds for which workers were waited for."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)
        if self._workers is not None:
            self._workers.close()

    def add(self, units: Sequence[KernelUnit], tell: Tell) -> None:
        """Begin to compile kernels, whose modules are consumed; their declarations say then what callers have to know.

        Errors of passes get a note that names the kernel. `tell` is told the name of each that is to be lowered.
        """
        texts = [(unit, print_module(unit.module)) for unit in units]
        added = [Wanted(unit, text, self._symbol(text)) for unit, text in texts]
        unknown: dict[str, Wanted] = {}
        for wanted in added:
            if wanted.symbol in self._codes or wanted.symbol in unknown:
                self.counts.equal += 1
            elif (known := self._known(wanted.symbol)) is not None:
                self._codes[wanted.symbol] = known
            else:
                unknown[wanted.symbol] = wanted
        self._compile(unknown, tell)
        for wanted in added:
            facts = self._codes[wanted.symbol].facts
            declared = kernel_of(parse_module(self._context, facts.declaration, SYMBOL)) if facts.declaration else None
            declare_lowered(wanted.unit, declared, may_fail=facts.may_fail)
            self._symbols[wanted.unit.name] = wanted.symbol

    @property
    def symbols(self) -> dict[str, str]:
        """The symbol in object code of each kernel, by its symbol in the module that it was taken from."""
        return self._symbols

    def finish(self) -> list[bytes]:
        """The objects of all kernels, each once."""
        found: list[bytes] = []
        for symbol in dict.fromkeys(self._symbols.values()):
            code = self._codes[symbol]
            found += code.objects.result() if isinstance(code.objects, Future) else code.objects
        return found

    def _known(self, symbol: str) -> Code | None:
        known = None if self._records is None else self._records.get(symbol)
        if known is None:
            return None
        self.counts.found += 1
        return Code(*known)

    def _symbol(self, text: str) -> str:
        return SYMBOL + content_key([self._identity, text])[:_DIGITS]

    def _compile(self, unknown: dict[str, Wanted], tell: Tell) -> None:
        """Compiles kernels, from the first on; workers begin at the other end."""
        queue = deque(unknown.values())
        if self._workers is not None and len(queue) > 1:
            self._workers.share(queue)
        while (wanted := _next(queue)) is not None:
            self._compile_one(wanted, None, tell)
            for other, brought in self._workers.arrived() if self._workers is not None else ():
                self._compile_one(other, brought, tell)
        for other, brought in self._waited_for():
            self._compile_one(other, brought, tell)

    def _waited_for(self) -> Iterator[Answer]:
        """What workers have yet to bring."""
        answers = iter(()) if self._workers is None else self._workers.collect()
        while True:
            start = perf_counter()
            answer = next(answers, None)
            self.waited += perf_counter() - start
            if answer is None:
                return
            yield answer

    def _compile_one(self, wanted: Wanted, lowered: LoweredKernel | None, tell: Tell) -> None:
        """Compiles a kernel that a worker has `lowered`, or none has."""
        tell(wanted.unit.name)
        self.counts.compiled += 1
        if lowered is None:
            lowered = self._lowered(wanted)
        else:
            self.counts.by_workers += 1
        objects = self._pool.submit(self._emit, wanted.unit.name, wanted.symbol, lowered)
        self._codes[wanted.symbol] = Code(objects, lowered.facts)

    def _lowered(self, wanted: Wanted) -> LoweredKernel:
        unit, symbol = wanted.unit, wanted.symbol
        try:
            return self._lowering.lower(unit.module, symbol)
        except XRelayError as error:
            nodes = f" of {', '.join(unit.sources)}" if unit.sources else ""
            error.add_note(f"in kernel @{unit.name}{nodes}")
            raise

    def _emit(self, name: str, symbol: str, lowered: LoweredKernel) -> list[bytes]:
        """The objects of a kernel; runs in a thread."""
        options, start = self._options._asdict(), perf_counter()
        try:
            objects = [compile_cached(text, **options, cache=self._objects) for text in lowered.texts]
        except XRelayError as error:
            error.add_note(f"in kernel @{name}")
            raise
        self.llvm_seconds.append(perf_counter() - start)
        if self._records is not None:
            self._records.put(symbol, [object_key(text, **options) for text in lowered.texts], lowered.facts)
        return objects


def _next(queue: deque[Wanted]) -> Wanted | None:
    """The first of a queue from which others take too."""
    try:
        return queue.popleft()
    except IndexError:
        return None
