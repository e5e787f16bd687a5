"""The process's thread pool: `thread_pool.ll`, compiled and loaded on first use.

The pool's code is never unloaded, since its threads run in it. Workers start when a parallel region first needs them
and end at exit. The child of a fork starts its own.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import platform
import signal
import time
from pathlib import Path
from typing import Final

from xrelay.runtime.abi import PARALLEL_FOR_SYMBOL
from xrelay.runtime.cache import ObjectCache, object_key
from xrelay.runtime.cores import available_cores
from xrelay.runtime.object_code.native_library import NativeLibrary

_SPIN_NANOSECONDS: Final = 40_000
_OPT_LEVEL: Final = 3
_CALIBRATION_PAUSES: Final = 500
_CALIBRATION_ROUNDS: Final = 3
# The functions by which Linux reports the core of a thread, and moves it.
_SCHEDULER: Final = ("sched_getcpu", "sched_getaffinity", "sched_setaffinity")
# The spin-wait hint of each architecture; the text contains that of the first.
_PAUSES: Final = {"x86_64": "pause", "amd64": "pause", "aarch64": "isb sy", "arm64": "isb sy"}


@functools.cache
def thread_pool() -> ThreadPool:
    """Returns the pool of this process."""
    return ThreadPool()


class ThreadPool:
    """The native pool of the process."""

    parallel_for: int
    """The address of `i32 xrelay_parallel_for(ptr ctx, ptr body, ptr env, i64 n)`."""

    def __init__(self):
        """Compiles, loads and starts the pool; use `thread_pool()`, as there is one pool per process."""
        names = ("pause", "reset", "workers", "stop")
        exports = (PARALLEL_FOR_SYMBOL, *(f"xrelay_pool_{name}" for name in names))
        self._library = NativeLibrary.load([_code()], exports=exports)
        self.parallel_for = self._library.address(PARALLEL_FOR_SYMBOL)
        self._pause = ctypes.CFUNCTYPE(None, ctypes.c_int64)(self._library.address("xrelay_pool_pause"))
        pointers = (ctypes.c_void_p,) * len(_SCHEDULER)
        reset = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_int64, *pointers, ctypes.c_int32)
        self._reset = reset(self._library.address("xrelay_pool_reset"))
        self._workers = ctypes.CFUNCTYPE(ctypes.c_int32)(self._library.address("xrelay_pool_workers"))
        self._stop = ctypes.CFUNCTYPE(ctypes.c_int32)(self._library.address("xrelay_pool_stop"))
        self._spins = self._calibrate()
        self.reset()
        os.register_at_fork(after_in_child=self.reset)
        atexit.register(self.stop)

    @property
    def workers(self) -> int:
        """The number of threads that the pool has started, without the caller of a region."""
        return self._workers()

    def stop(self) -> bool:
        """Ends and joins the workers; later regions run inline. Returns false if a region was still running."""
        return self._stop() == 0

    def reset(self) -> None:
        """Resets the pool. Allowed only while it has no workers: after `stop`, or in the child of a fork."""
        self._reset(int(signal.SIG_SETMASK), self._spins, *map(_address_of, _SCHEDULER), available_cores())

    def _calibrate(self) -> int:
        """Returns the number of pauses that fill the time to spin; their cost differs tenfold between CPUs."""
        times: list[int] = []
        for _ in range(_CALIBRATION_ROUNDS):
            start = time.perf_counter_ns()
            self._pause(_CALIBRATION_PAUSES)
            times.append(time.perf_counter_ns() - start)
        return max(1, _CALIBRATION_PAUSES * _SPIN_NANOSECONDS // max(1, min(times)))


def _code() -> bytes:
    """Returns the object code of the pool, from the cache if it has it; only then is the compiler not imported."""
    text = Path(__file__).with_suffix(".ll").read_text(encoding="utf-8")
    pause = _PAUSES.get(platform.machine().lower(), "")
    text = text.replace('asm sideeffect "pause"', f'asm sideeffect "{pause}"')
    cache = ObjectCache.default()
    key = object_key(text, cpu="", features="", opt_level=_OPT_LEVEL)
    found = None if cache is None else cache.get(key)
    if found is not None:
        return found
    from xrelay.runtime.object_code.llvm_compiler import compile_cached

    return compile_cached(text, cpu="", features="", opt_level=_OPT_LEVEL, cache=cache)


def _address_of(name: str) -> int | None:
    """Returns the address of a function of the C library; None if the system has no such function."""
    try:
        return ctypes.cast(ctypes.CDLL(None)[name], ctypes.c_void_p).value
    except (AttributeError, OSError, TypeError):  # no such function, or no handle of the program
        return None
