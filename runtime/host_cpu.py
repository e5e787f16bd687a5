"""The name and the features of this machine's CPU, by LLVM's names.

LLVM determines them, and the cache records them for the CPU that Linux describes, so that processes which only run
models do not import LLVM.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Final, NamedTuple

from xrelay.runtime import llvm
from xrelay.runtime.cache import FileRecord
from xrelay.runtime.digests import content_key
from xrelay.tile_permission import usable_features

_RECORD: Final = FileRecord("cpus")
_DESCRIPTION: Final = "/proc/cpuinfo"
_FIRST_BYTES: Final = 8192
"""The bytes that are read of the description, which has a part for each CPU: more than the first part."""
_FIELDS: Final = (
    *("vendor_id", "cpu family", "model", "model name", "stepping", "flags"),
    *("CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features"),
)
"""The fields of the description that LLVM's answer depends on, on x86-64 and aarch64."""


class HostCpu(NamedTuple):
    """The CPU of this machine; `features` maps the known features to whether the CPU has them."""

    name: str
    features: dict[str, bool]


@cache
def host_cpu() -> HostCpu:
    """Returns the CPU of this machine. It has no features if LLVM cannot determine them."""
    mark = _mark()
    found = None if mark is None else _recorded(mark)
    if found is None:
        found = HostCpu(*llvm.host_cpu())
        if mark is not None:
            text = _text(found)
            _RECORD.put(mark, f"{text}:{content_key([mark, text])}")
    return found


@cache
def host_features() -> frozenset[str]:
    """Returns the features that this process may use; empty if LLVM cannot determine them."""
    return usable_features(name for name, present in host_cpu().features.items() if present)


def _mark() -> str | None:
    """Returns a digest of everything that determines LLVM's answer; `None` if Linux does not describe the CPU."""
    try:
        with open(_DESCRIPTION, encoding="utf-8", errors="replace") as file:
            text = file.read(_FIRST_BYTES)
    except OSError:
        return None
    first, _, _ = text.partition("\n\n")
    lines = [line for line in first.splitlines() if line.partition("\t")[0].rstrip(" :") in _FIELDS]
    return content_key([*lines, os.uname().release, llvm.package_text()]) if lines else None


def _text(cpu: HostCpu) -> str:
    return ",".join([cpu.name, *(f"{'+' if present else '-'}{name}" for name, present in cpu.features.items())])


def _recorded(mark: str) -> HostCpu | None:
    """Returns the recorded CPU; `None` without an undamaged record."""
    text, _, digest = (_RECORD.get(mark) or "").rpartition(":")
    if digest != content_key([mark, text]):
        return None
    name, *features = text.split(",")
    return HostCpu(name, {each[1:]: each.startswith("+") for each in features})
