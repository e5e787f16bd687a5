"""The number of threads that a call or a compilation may use."""

from __future__ import annotations

import os
from functools import cache
from operator import index
from pathlib import Path, PurePosixPath
from typing import Final, SupportsIndex

from xrelay import environment
from xrelay.errors import InputError

MAX_THREADS: Final = 256  # the capacity of the native pool, including the calling thread
_LONGEST_SHOWN: Final = 40
_CONTROL_GROUPS: Final = Path("/sys/fs/cgroup")
_OWN_GROUPS: Final = Path("/proc/self/cgroup")


def default_num_threads() -> int:
    """Returns the default number of threads: `XRELAY_NUM_THREADS`, else `available_cores()`."""
    given = environment.num_threads()
    if given is not None:
        return check_num_threads(given, environment.NUM_THREADS)
    return available_cores()


def available_cores() -> int:
    """Returns the number of cores that this process may use, at most `MAX_THREADS`.

    Hardware threads of one core count once, since a second thread does not speed up code that uses all execution units.
    The CPU quota that the container has at the first call limits the number.
    """
    return min(_physical_cores(), _quota(_CONTROL_GROUPS, _OWN_GROUPS), MAX_THREADS)


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


@cache
def _quota(control_groups: Path, own_groups: Path) -> int:
    """Returns the least CPU quota of the control groups of this process in cores; `MAX_THREADS` without a quota.

    It is read once, since reading all groups takes longer than some passes on a small program.
    """
    found = map(_quota_of, _group_folders(control_groups, own_groups))
    quotas = [quota for quota in found if quota is not None]
    return max(1, round(min(quotas, default=MAX_THREADS)))


def _group_folders(control_groups: Path, own_groups: Path) -> list[Path]:
    """Returns the folders of the control groups of this process, and of the groups that contain them.

    A line of the file `own_groups` is `0::/a/b` in version 2, `4:cpu,cpuacct:/a/b` in version 1. In a container the
    folders below the root may not exist.
    """
    folders = [control_groups, control_groups / "cpu"]
    try:
        lines = own_groups.read_text().splitlines()
    except OSError:
        return folders
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        folder = control_groups / ("cpu" if controllers else "")
        for name in PurePosixPath(path).parts[1:]:
            folder /= name
            folders.append(folder)
    return folders


def _quota_of(folder: Path) -> float | None:
    """Returns the quota of a control group in cores; `None` if it has none."""
    try:
        if (version_2 := folder / "cpu.max").exists():
            quota, period = version_2.read_text().split()
        else:
            quota, period = ((folder / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        cores = int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):  # no such file, or "max"
        return None
    return cores if cores > 0 else None  # version 1: -1 is no quota


@cache
def _siblings(cpu: int) -> str:
    """Returns an identifier of the core of a CPU: the list of its hardware threads, or the CPU's number if unknown."""
    try:
        return Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text().strip()
    except OSError:
        return str(cpu)
