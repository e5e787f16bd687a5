"""The machine this runs on as a target: LLVM names its CPU, the operating system its caches and cores."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from functools import cache
from pathlib import Path

from xrelay.target.target import CPUS, KIB, Target, with_features

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


@cache
def host_target() -> Target:
    """The machine this runs on, with as many threads as cores may be used."""
    import llvmlite.binding as llvm

    name = str(llvm.get_host_cpu_name())
    features: dict[str, bool] = dict(llvm.get_host_cpu_features())
    enabled = {feature for feature, on in features.items() if on}
    cores = _usable_cores()
    base = CPUS.get(name, Target(arch=platform.machine()))
    base = replace(base, mcpu=name, cores=cores, threads=cores, **_cache_sizes())
    # Width and registers follow from what LLVM detects, not from the name: a hypervisor may hide features.
    if base.arch == "x86_64":
        wide = "+avx512f" if "avx512f" in enabled else "-avx512f"
        base = with_features(replace(base, vector_bits=256 if "avx2" in enabled else 128), (wide,))
        base = replace(base, features=())
    return base


def _usable_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this operating system
        return os.cpu_count() or 1


def _cache_sizes() -> dict[str, int]:
    """Sizes of the data caches as far as the operating system tells."""
    sizes: dict[str, int] = {}
    for entry in sorted(_CACHES.glob("index*")):
        try:
            kind, level = (entry / "type").read_text().strip(), (entry / "level").read_text().strip()
            size = (entry / "size").read_text().strip()
        except OSError:
            continue
        if kind != "Instruction" and level in "123" and size.endswith("K") and size[:-1].isdecimal():
            sizes[f"l{level}"] = int(size[:-1]) * KIB
    return sizes
