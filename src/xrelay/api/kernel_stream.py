"""Kernels go to object code one by one: known ones are not lowered, and LLVM runs beside the lowering of others.

What decides the code of a kernel is the text of its own module (`kernel_units.py`), the target and the passes. Its
symbol in object code is made of these, so that equal kernels of all models are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Final, NamedTuple, Self

from xdsl.context import Context

from xrelay.api.kernel_lowering import KernelLowering, LoweredKernel
from xrelay.api.kernel_records import KernelFacts, KernelRecords
from xrelay.errors import XRelayError
from xrelay.lowering.kernel_units import KernelUnit, declare_lowered, kernel_of
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import parse_module
from xrelay.runtime import llvm
from xrelay.runtime.cache import ObjectCache, object_key
from xrelay.runtime.cores import default_num_threads
from xrelay.runtime.digests import content_key
from xrelay.runtime.native import compile_cached

SYMBOL: Final = "xrelay_kernel_"
"""The beginning of the symbols of kernels in object code."""
_DIGITS: Final = 24


class CodeOptions(NamedTuple):
    """What LLVM is told."""

    cpu: str
    features: str
    opt_level: int


@dataclass
class KernelCounts:
    """How many kernels of a model were compiled, found in the cache, and equal to one of these."""

    compiled: int = 0
    found: int = 0
    equal: int = 0


@dataclass(frozen=True)
class _Code:
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
    ):
        """`identity` is what decides the code of kernels but for their texts; with `records` known ones are found."""
        self._lowering, self._context = lowering, context
        self._options, self._identity = options, identity
        self._objects, self._records = objects, records
        self._codes: dict[str, _Code] = {}
        self._units: list[tuple[KernelUnit, str]] = []
        llvm.binding()  # of which threads want to be sure
        self._pool = ThreadPoolExecutor(default_num_threads(), thread_name_prefix="xrelay-kernel")
        self.counts = KernelCounts()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)

    def add(self, unit: KernelUnit) -> None:
        """Begin to compile a kernel, whose module is consumed; its declaration says then what callers have to know.

        Errors of its passes get a note that names the kernel.
        """
        symbol = SYMBOL + content_key([self._identity, print_module(unit.module)])[:_DIGITS]
        code = self._codes.get(symbol)
        if code is not None:
            self.counts.equal += 1
        else:
            code = self._codes[symbol] = self._known(symbol) or self._compiled(unit, symbol)
        text = code.facts.declaration
        declaration = kernel_of(parse_module(self._context, text, unit.name)) if text else None
        declare_lowered(unit, declaration, may_fail=code.facts.may_fail)
        self._units.append((unit, symbol))

    @property
    def symbols(self) -> dict[str, str]:
        """The symbol in object code of each kernel, by its symbol in the module that it was taken from."""
        return {unit.name: symbol for unit, symbol in self._units}

    def finish(self) -> list[bytes]:
        """The objects of all kernels, each once."""
        found: list[bytes] = []
        for code in self._codes.values():
            found += code.objects.result() if isinstance(code.objects, Future) else code.objects
        return found

    def _known(self, symbol: str) -> _Code | None:
        known = None if self._records is None else self._records.get(symbol)
        if known is None:
            return None
        self.counts.found += 1
        return _Code(*known)

    def _compiled(self, unit: KernelUnit, symbol: str) -> _Code:
        self.counts.compiled += 1
        try:
            lowered = self._lowering.lower(unit.module, symbol)
        except XRelayError as error:
            nodes = f" of {', '.join(unit.sources)}" if unit.sources else ""
            error.add_note(f"in kernel @{unit.name}{nodes}")
            raise
        return _Code(self._pool.submit(self._emit, unit.name, symbol, lowered), lowered.facts)

    def _emit(self, name: str, symbol: str, lowered: LoweredKernel) -> list[bytes]:
        """The objects of a kernel; runs in a thread."""
        options = self._options._asdict()
        try:
            objects = [compile_cached(text, **options, cache=self._objects) for text in lowered.texts]
        except XRelayError as error:
            error.add_note(f"in kernel @{name}")
            raise
        if self._records is not None:
            self._records.put(symbol, [object_key(text, **options) for text in lowered.texts], lowered.facts)
        return objects
