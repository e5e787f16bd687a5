"""The machine that this process runs on: LLVM names its CPU, the operating system its caches and cores."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

KIB = 1024
_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}
"""Maps other names of architectures to LLVM's."""
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


@dataclass(frozen=True)
class HostFacts:
    """The facts that LLVM and the operating system report about the machine."""

    arch: str
    cpu: str
    """LLVM's name of the CPU."""
    features: frozenset[str]
    """LLVM's names of the features that this process may use.

    A hypervisor may hide features that the CPU's name implies, and the operating system may refuse tile registers.
    """
    absent: frozenset[str]
    """LLVM's names of the known features that are disabled."""
    cores: int
    """The number of CPUs, whether or not this process may use them: code does not depend on its affinity."""
    caches: dict[str, int]
    """The sizes of `l1`, `l2` and `l3` in bytes, as far as they are known."""

    @cached_property
    def code_features(self) -> tuple[str, ...]:
        """All known features, sorted: `+name` of those that are enabled, then `-name` of the others."""
        return (*(f"+{name}" for name in sorted(self.features)), *(f"-{name}" for name in sorted(self.absent)))


_known_facts: HostFacts | None = None


def set_host_facts(facts: HostFacts) -> None:
    """Sets the facts that another process on this machine has queried, so that this one need not load LLVM for them."""
    global _known_facts
    _known_facts = facts


def host_facts() -> HostFacts:
    """Returns the facts of this machine, queried once."""
    return _query() if _known_facts is None else _known_facts


@cache
def _query() -> HostFacts:
    import platform

    from xrelay.runtime.host_cpu import host_cpu, host_features

    name, features = host_cpu()
    enabled = host_features()
    arch = platform.machine().lower()
    return HostFacts(
        arch=_ARCHITECTURES.get(arch, arch),
        cpu=name,
        features=enabled,
        absent=frozenset(features) - enabled,
        cores=os.cpu_count() or 1,
        caches=_cache_sizes(),
    )


def usable_cores() -> int:
    """Returns the number of CPUs that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this operating system
        return os.cpu_count() or 1


def _cache_sizes() -> dict[str, int]:
    """Returns the data cache sizes that the operating system reports."""
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
