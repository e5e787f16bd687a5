"""The number of threads that a call or a compilation may use."""

from __future__ import annotations

import os
from functools import cache
from operator import index
from pathlib import Path
from typing import Final, SupportsIndex

from xrelay import environment
from xrelay.errors import InputError

MAX_THREADS: Final = 256  # the capacity of the native pool, including the calling thread
_LONGEST_SHOWN: Final = 40
_CPU_MAX: Final = Path("/sys/fs/cgroup/cpu.max")


def default_num_threads() -> int:
    """Returns the default number of threads: `XRELAY_NUM_THREADS`, else `available_cores()`."""
    given = environment.num_threads()
    if given is not None:
        return check_num_threads(given, environment.NUM_THREADS)
    return available_cores()


def available_cores() -> int:
    """Returns the number of cores that this process may use, at most `MAX_THREADS`.

    Hardware threads of one core count once, since a second thread does not speed up code that uses all execution units.
    A CPU quota of the container limits the number.
    """
    return min(_physical_cores(), _quota(), MAX_THREADS)


def check_num_threads(threads: object, option: str = "threads") -> int:
    """Returns `threads` as an `int`.

    Raises an `InputError` for `option` unless it is an integer from 1 to `MAX_THREADS`.
    """
    if isinstance(threads, SupportsIndex) and not isinstance(threads, bool):
        number = index(threads)
        if 1 <= number <= MAX_THREADS:
            return number
    shown = repr(threads) if len(repr(threads)) <= _LONGEST_SHOWN else f"{repr(threads)[:_LONGEST_SHOWN]}…"
    raise InputError(f"{option} is {shown}", help=f"pass an integer from 1 to {MAX_THREADS}")


def _physical_cores() -> int:
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    cpus = os.sched_getaffinity(0)
    cores = {_siblings(cpu) for cpu in cpus}
    return max(1, len(cores))


def _quota() -> int:
    """Returns the CPU quota of this process's control group in cores; `MAX_THREADS` without a quota."""
    try:
        quota, period = _CPU_MAX.read_text().split()
        return max(1, round(int(quota) / int(period)))
    except (OSError, ValueError, ZeroDivisionError):  # no such file, or "max": no quota
        return MAX_THREADS


@cache
def _siblings(cpu: int) -> str:
    """Returns an identifier of the core of a CPU: the list of its hardware threads, or the CPU's number if unknown."""
    try:
        return Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text().strip()
    except OSError:
        return str(cpu)
