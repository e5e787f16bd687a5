"""Measures the roofline of this machine: peak arithmetic, and the bandwidth of memory and of each cache level.

A roofline bounds the speed of a kernel by its arithmetic and its memory traffic. Peaks are measured by two native
loops, on one thread and on as many as the model uses, and are kept in the cache of the user.
"""

from __future__ import annotations

import ctypes
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Final

from xrelay.errors import ArtifactError
from xrelay.runtime.abi import Context
from xrelay.runtime.arena import address_of, aligned_bytes
from xrelay.runtime.cache import FileRecord
from xrelay.runtime.host_cpu import host_cpu, host_features
from xrelay.runtime.json_fields import decode, parse_json_object
from xrelay.runtime.object_code.llvm_compiler import compile_ir
from xrelay.runtime.object_code.native_library import NativeLibrary
from xrelay.runtime.thread_pool import thread_pool

SIZES: Final = (1 << 17, 1 << 20, 1 << 23, 1 << 27)
"""The bytes whose bandwidth is measured: they fit into a cache of the first levels, of the last, or into no cache."""
_STEPS: Final = 4096
"""The iterations of the arithmetic loop for each index."""
_CHAINS: Final = 12
_ROUNDS: Final = 5
_MIN_BYTES: Final = 1 << 26
"""The minimum number of bytes that a round reads."""
_VERSION: Final = 1
_FMA_PER_CYCLE: Final = 2
"""The multiply-adds of vectors that a core starts in a cycle, as in the compiler's cost model."""


@dataclass(frozen=True)
class Roofline:
    """The peaks of this machine with `threads` threads."""

    threads: int
    operations: int
    """f32 operations per second; a multiply-add has two."""
    bandwidths: tuple[int, ...]
    """Bytes per second, for data of each of `SIZES`."""
    cycles: int
    """Cycles per second, if one core starts two multiply-adds of vectors in each."""

    def bandwidth(self, size: float) -> int:
        """Returns the bytes per second for data of a size."""
        return next((speed for bytes, speed in zip(SIZES, self.bandwidths, strict=True) if size <= bytes),
                    self.bandwidths[-1])  # fmt: skip

    def least_seconds(self, operations: float, size: float) -> float:
        """Returns the time of a kernel at the peak of arithmetic or of bandwidth, whichever takes longer."""
        return max(operations / self.operations, size / self.bandwidth(size))


def measured_roofline(threads: int) -> Roofline:
    """Returns the roofline for a number of threads, measured unless the cache has it (about a second)."""
    record, mark = FileRecord("roofline"), f"{_VERSION}/{_cpu()}/{threads}"
    known = record.get(mark)
    if known is not None:
        try:
            found: Roofline = decode(Roofline, parse_json_object(known, "the roofline"), "the roofline")
        except ArtifactError:
            return _measured(threads)
        return found
    found = _measured(threads)
    record.put(mark, json.dumps(asdict(found), separators=(",", ":")))
    return found


def _cpu() -> str:
    return f"{host_cpu().name}-{platform.node()}".replace(" ", "-")


def _measured(threads: int) -> Roofline:
    features = host_features()
    lanes = 16 if "avx512f" in features else 8 if "avx" in features else 4
    loops = _Loops(lanes, ",".join(f"+{name}" for name in sorted(features)))
    one, all_threads = (loops.operations_per_second(count) for count in (1, threads))
    bandwidths = tuple(int(loops.bytes_per_second(size, threads)) for size in SIZES)
    return Roofline(threads, int(all_threads), bandwidths, int(one / (2 * lanes * _FMA_PER_CYCLE)))


class _Loops:
    """The native loops, run by the thread pool."""

    def __init__(self, lanes: int, features: str):
        """`lanes` is the number of f32 elements of a vector."""
        self._lanes = lanes
        code = compile_ir(_text(lanes), cpu=host_cpu().name, features=features, opt_level=2)
        self._library = NativeLibrary.load([code], exports=["roof_operations", "roof_bytes"])
        pointer = ctypes.c_void_p
        prototype = ctypes.CFUNCTYPE(ctypes.c_int32, pointer, pointer, pointer, ctypes.c_int64)
        self._parallel_for = prototype(thread_pool().parallel_for)

    def operations_per_second(self, threads: int) -> float:
        """Returns the peak of f32 multiply-adds, counted as two operations."""
        count = 64 * threads
        seconds = self._least_seconds("roof_operations", None, count, threads)
        return 2 * self._lanes * _CHAINS * _STEPS * count / seconds

    def bytes_per_second(self, size: int, threads: int) -> float:
        """Returns the speed of reading a buffer of `size` bytes, repeatedly, by all threads."""
        buffer, segments = aligned_bytes(size), 8 * threads
        buffer[:] = 1
        env = (ctypes.c_int64 * 3)(address_of(buffer), segments, size // segments // 512)
        count = segments * max(1, _MIN_BYTES // size)
        seconds = self._least_seconds("roof_bytes", env, count, threads)
        return count * env[2] * 512 / seconds

    def _least_seconds(self, symbol: str, env: ctypes.Array[ctypes.c_int64] | None, count: int, threads: int) -> float:
        context, times = Context(num_threads=threads), list[float]()
        for _ in range(_ROUNDS):
            start = perf_counter()
            self._parallel_for(
                ctypes.addressof(context),
                self._library.address(symbol),
                None if env is None else ctypes.addressof(env),
                count,
            )
            times.append(perf_counter() - start)
        return min(times)


def _text(lanes: int) -> str:
    """Returns the LLVM IR of both loops; each is the body of a parallel loop."""
    vector = f"<{lanes} x float>"
    phis = [f"  %a{k} = phi {vector} [ zeroinitializer, %entry ], [ %b{k}, %loop ]" for k in range(_CHAINS)]
    steps = [
        f"  %b{k} = call {vector} @llvm.fmuladd.v{lanes}f32({vector} %factor, {vector} %a{k}, {vector} %factor)"
        for k in range(_CHAINS)
    ]
    ends = [f"  store volatile {vector} %b{k}, ptr %sink" for k in range(_CHAINS)]
    reads = [
        line
        for k in range(8)
        for line in (
            f"  %p{k} = getelementptr i8, ptr %line, i64 {64 * k}",
            f"  %v{k} = load <8 x i64>, ptr %p{k}, align 64",
            f"  %y{k} = or <8 x i64> %x{k}, %v{k}",
        )
    ]
    sums = [f"  %x{k} = phi <8 x i64> [ zeroinitializer, %segment ], [ %y{k}, %lines ]" for k in range(8)]
    kept = [f"  store volatile <8 x i64> %y{k}, ptr %sink" for k in range(8)]
    parts: Mapping[str, str] = {
        "vector": vector,
        "lanes": str(lanes),
        "phis": "\n".join(phis),
        "steps": "\n".join(steps),
        "ends": "\n".join(ends),
        "sums": "\n".join(sums),
        "reads": "\n".join(reads),
        "kept": "\n".join(kept),
        "count": str(_STEPS),
    }
    return _TEXT.format_map(parts)


_TEXT: Final = """\
@seed = global {vector} zeroinitializer
declare {vector} @llvm.fmuladd.v{lanes}f32({vector}, {vector}, {vector})
define i32 @roof_operations(ptr %ctx, ptr %env, i64 %begin, i64 %end) {{
entry:
  %sink = alloca {vector}, align 64
  %factor = load volatile {vector}, ptr @seed
  %indices = sub i64 %end, %begin
  %total = mul i64 %indices, {count}
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{phis}
{steps}
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %total
  br i1 %more, label %loop, label %done
done:
{ends}
  ret i32 0
}}
define i32 @roof_bytes(ptr %ctx, ptr %env, i64 %begin, i64 %end) {{
entry:
  %sink = alloca <8 x i64>, align 64
  %buffer = load ptr, ptr %env
  %count_place = getelementptr i64, ptr %env, i64 1
  %segments = load i64, ptr %count_place
  %lines_place = getelementptr i64, ptr %env, i64 2
  %length = load i64, ptr %lines_place
  %bytes = mul i64 %length, 512
  br label %segment
segment:
  %i = phi i64 [ %begin, %entry ], [ %next, %finished ]
  %number = urem i64 %i, %segments
  %offset = mul i64 %number, %bytes
  %first = getelementptr i8, ptr %buffer, i64 %offset
  br label %lines
lines:
  %k = phi i64 [ 0, %segment ], [ %k_next, %lines ]
{sums}
  %shift = mul i64 %k, 512
  %line = getelementptr i8, ptr %first, i64 %shift
{reads}
  %k_next = add i64 %k, 1
  %k_more = icmp ult i64 %k_next, %length
  br i1 %k_more, label %lines, label %finished
finished:
{kept}
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %end
  br i1 %more, label %segment, label %done
done:
  ret i32 0
}}
"""
