"""Traces the kernel calls of a model: start, end and thread of each call, and of each part that a thread computes.

A model's object code is linked differently for this, and is not changed, so that tracing costs nothing when it is off.
The functions around the kernels are linked with a *stub* in place of each kernel, which reads the clock, calls the
kernel and records an event. Kernels are linked with a stub of `xrelay_parallel_for`, which records an event for each
range that a thread computes.

    xrelay_entry, main  →  stub of kernel 0  →  kernel 0  →  stub of xrelay_parallel_for  →  xrelay_parallel_for
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from xrelay.runtime.abi import PARALLEL_FOR_SYMBOL
from xrelay.runtime.metadata import KernelInfo
from xrelay.runtime.object_code.elf import defined_symbols, rename_symbols
from xrelay.runtime.object_code.llvm_compiler import compile_ir
from xrelay.runtime.object_code.native_library import NativeLibrary

_WORDS: Final = 4
"""The words of an event: kernel, thread, start, end. The extents of the call follow."""
_PARALLEL_FOR: Final = "trace_parallel_for"
_FIRST_CAPACITY: Final = 1 << 14
"""The number of events for which there is memory at first."""

_RECORDER: Final = """\
@events = internal global ptr null
@capacity = internal global i64 0
@count = internal global i64 0
@kernel = internal global i64 0
@spare = internal global [{words} x i64] zeroinitializer
declare i32 @clock_gettime(i32, ptr)
declare i64 @pthread_self()
declare i32 @xrelay_parallel_for(ptr, ptr, ptr, i64)

define void @trace_reset(ptr %events, i64 %capacity) {{
  store ptr %events, ptr @events
  store i64 %capacity, ptr @capacity
  store i64 0, ptr @count
  ret void
}}
define i64 @trace_count() {{
  %count = load i64, ptr @count
  ret i64 %count
}}
define internal i64 @now() {{
  %time = alloca [2 x i64]
  %status = call i32 @clock_gettime(i32 1, ptr %time)
  %seconds = load i64, ptr %time
  %place = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %place
  %scaled = mul i64 %seconds, 1000000000
  %now = add i64 %scaled, %rest
  ret i64 %now
}}
define internal ptr @record(i64 %kernel, i64 %start, i64 %end) {{
  %number = atomicrmw add ptr @count, i64 1 monotonic
  %capacity = load i64, ptr @capacity
  %fits = icmp ult i64 %number, %capacity
  %events = load ptr, ptr @events
  %offset = mul i64 %number, {words}
  %own = getelementptr i64, ptr %events, i64 %offset
  %event = select i1 %fits, ptr %own, ptr @spare
  %thread = call i64 @pthread_self()
  store i64 %kernel, ptr %event
  %thread_place = getelementptr i64, ptr %event, i64 1
  store i64 %thread, ptr %thread_place
  %start_place = getelementptr i64, ptr %event, i64 2
  store i64 %start, ptr %start_place
  %end_place = getelementptr i64, ptr %event, i64 3
  store i64 %end, ptr %end_place
  ret ptr %event
}}
define i32 @trace_parallel_for(ptr %ctx, ptr %body, ptr %env, i64 %n) {{
  %pair = alloca [2 x ptr]
  store ptr %body, ptr %pair
  %place = getelementptr ptr, ptr %pair, i64 1
  store ptr %env, ptr %place
  %status = call i32 @xrelay_parallel_for(ptr %ctx, ptr @range, ptr %pair, i64 %n)
  ret i32 %status
}}
define internal i32 @range(ptr %ctx, ptr %pair, i64 %begin, i64 %end) {{
  %body = load ptr, ptr %pair
  %place = getelementptr ptr, ptr %pair, i64 1
  %env = load ptr, ptr %place
  %started = call i64 @now()
  %status = call i32 %body(ptr %ctx, ptr %env, i64 %begin, i64 %end)
  %ended = call i64 @now()
  %kernel = load i64, ptr @kernel
  %number = sub i64 -1, %kernel
  %event = call ptr @record(i64 %number, i64 %started, i64 %ended)
  ret i32 %status
}}
"""


@dataclass(frozen=True)
class TracedCall:
    """A call of a kernel, or the part of a call that a thread computed. Times are of `time.perf_counter_ns`."""

    kernel: int
    thread: int
    start: int
    end: int
    is_part: bool
    extents: tuple[int, ...] = ()


class CallTracer:
    """Links a model with stubs and collects the events of its runs, one run at a time."""

    def __init__(self, kernels: Sequence[KernelInfo]):
        """Events have the positions of `kernels`, of the first of those with equal code."""
        self._kernels: dict[str, tuple[int, KernelInfo]] = {}
        for number, kernel in enumerate(kernels):
            self._kernels.setdefault(kernel.code, (number, kernel))
        self._words = _WORDS + max((kernel.extents for kernel in kernels), default=0)
        self._extents = [kernel.extents for kernel in kernels]
        self._events = (ctypes.c_int64 * (self._words * _FIRST_CAPACITY))()

    def link(self, objects: Sequence[bytes], *, exports: Sequence[str], imports: Mapping[str, int]) -> NativeLibrary:
        """Links and loads the objects of a model as `NativeLibrary.load` does; the first one contains the entry."""
        entry, *others = objects
        defined = set[str]().union(*map(defined_symbols, others)) - defined_symbols(entry)
        traced = {code: _Stub(*self._kernels[code]) for code in sorted(defined & self._kernels.keys())}
        text = _RECORDER.format(words=self._words) + "".join(stub.text() for stub in traced.values())
        stubs = compile_ir(text, cpu="", features="", opt_level=1)
        linked = [
            rename_symbols(entry, {code: stub.name for code, stub in traced.items()}, public=()),
            *(rename_symbols(code, {PARALLEL_FOR_SYMBOL: _PARALLEL_FOR}, public=()) for code in others),
            stubs,
        ]
        library = NativeLibrary.load(linked, exports=[*exports, "trace_reset", "trace_count"], imports=imports)
        self._reset = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(library.address("trace_reset"))
        self._count = ctypes.CFUNCTYPE(ctypes.c_int64)(library.address("trace_count"))
        return library

    def begin(self) -> None:
        """Forgets all events."""
        self._reset(ctypes.addressof(self._events), len(self._events) // self._words)

    def end(self) -> list[TracedCall] | None:
        """Returns the events since `begin`, by time of their end.

        Returns `None` if there were too many; there is then enough memory for as many from now on.
        """
        count, words = self._count(), self._words
        if count * words > len(self._events):
            self._events = (ctypes.c_int64 * (2 * count * words))()
            return None
        numbers = self._events[: count * words]
        return [self._event(numbers[place : place + words]) for place in range(0, len(numbers), words)]

    def _event(self, words: Sequence[int]) -> TracedCall:
        number, thread, start, end = words[:_WORDS]
        kernel, is_part = (-1 - number, True) if number < 0 else (number, False)
        extents = () if is_part else tuple(words[_WORDS : _WORDS + self._extents[kernel]])
        return TracedCall(kernel, thread, start, end, is_part, extents)


@dataclass(frozen=True)
class _Stub:
    """A function that calls a kernel and records the call."""

    number: int
    kernel: KernelInfo

    @property
    def name(self) -> str:
        """The symbol of the function."""
        return f"trace_kernel_{self.number}"

    def text(self) -> str:
        """Returns the function in LLVM IR. On supported CPUs pointers and 64-bit integers are passed alike."""
        count = self.kernel.arguments - 1
        types, values = ", ".join(["ptr"] + ["i64"] * count), [f"i64 %a{number}" for number in range(count)]
        arguments = ", ".join(["ptr %ctx", *values])
        lines = [
            f"declare i32 @{self.kernel.code}({types})",
            f"define i32 @{self.name}({arguments}) {{",
            f"  store i64 {self.number}, ptr @kernel",
            "  %started = call i64 @now()",
            f"  %status = call i32 @{self.kernel.code}({arguments})",
            "  %ended = call i64 @now()",
            f"  %event = call ptr @record(i64 {self.number}, i64 %started, i64 %ended)",
        ]
        for place, value in enumerate(values[count - self.kernel.extents :]):
            lines.append(f"  %place{place} = getelementptr i64, ptr %event, i64 {_WORDS + place}")
            lines.append(f"  store {value}, ptr %place{place}")
        return "\n".join([*lines, "  ret i32 %status", "}", ""])
