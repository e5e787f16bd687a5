"""How many threads to use."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from xrelay.errors import InputError

MAX_THREADS: Final = 256  # what the native pool has room for, the calling thread included
_CPU_MAX: Final = Path("/sys/fs/cgroup/cpu.max")


def default_num_threads() -> int:
    """How many threads to use where nobody says: `XRELAY_NUM_THREADS`, else the cores this process may run on.

    Hardware threads of one core count once, as a second one adds nothing to code that keeps the units busy; a quota of
    the container bounds the number.
    """
    text = os.environ.get("XRELAY_NUM_THREADS", "")
    if text:
        if not text.isdecimal():
            raise InputError(f"XRELAY_NUM_THREADS is '{text}'", help=f"give a number from 1 to {MAX_THREADS}")
        return check_num_threads(int(text))
    return min(_physical_cores(), _quota(), MAX_THREADS)


def check_num_threads(threads: int) -> int:
    """`threads` itself; `InputError` unless it is from 1 to `MAX_THREADS`."""
    if not 1 <= threads <= MAX_THREADS:
        raise InputError(f"number of threads is {threads}", help=f"give a number from 1 to {MAX_THREADS}")
    return threads


def _physical_cores() -> int:
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    cpus = os.sched_getaffinity(0)
    cores = {_siblings(cpu) for cpu in cpus}
    return max(1, len(cores))


def _quota() -> int:
    """How many cores' time the control group of this process may use; `MAX_THREADS` where nothing says."""
    try:
        quota, period = _CPU_MAX.read_text().split()
        return max(1, round(int(quota) / int(period)))
    except (OSError, ValueError, ZeroDivisionError):  # no such file, or "max": no quota
        return MAX_THREADS


def _siblings(cpu: int) -> str:
    """What identifies the core of a CPU: the list of its hardware threads, or the CPU's number where unknown."""
    try:
        return Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text().strip()
    except OSError:
        return str(cpu)
