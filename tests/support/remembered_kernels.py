"""Kernels that a test process has compiled before are not compiled again.

Tests of numbers compile the same few kernels over and over, for the same op of two programs or at two levels of ours.
What decides a kernel's code is the text of its module with the passes, the target and LLVM's level, as the cache on
disk has it; here all that is kept in memory, and for `cache=False` too. Each kernel is lowered once for all levels of
LLVM, which come after, and compiled once for each. What tells kernels apart is tested in `test_kernel_streams.py`, as
users have it, and in `test_remembered_kernels.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from typing import TypeVar

import pytest

from xrelay.api import streaming
from xrelay.api.kernel_lowering import LoweredKernel
from xrelay.api.kernel_stream import Code, KernelStream
from xrelay.api.kernel_workers import Wanted

LIMIT = 4096
"""How many kernels a process remembers; the oldest make way, so that memory stays bounded."""

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

_lock = threading.Lock()
_codes: dict[str, Code] = {}
_lowered: dict[tuple[str, str], tuple[str, LoweredKernel]] = {}


class RememberingStream(KernelStream):
    """Finds kernels of all earlier compilations of this process."""

    def _known(self, symbol: str) -> Code | None:
        found = _codes.get(symbol)
        if found is None:
            return super()._known(symbol)
        self.counts.found += 1
        return found

    def _lowered(self, wanted: Wanted) -> LoweredKernel:
        key = (self._lowering_identity(), wanted.text)
        found = _lowered.get(key)
        if found is None:
            found = wanted.symbol, super()._lowered(wanted)
            _remember(_lowered, key, found)
        symbol, lowered = found
        texts = tuple(text.replace(symbol, wanted.symbol) for text in lowered.texts)
        return LoweredKernel(texts, lowered.facts)

    def _emit(self, name: str, symbol: str, lowered: LoweredKernel) -> list[bytes]:
        objects = super()._emit(name, symbol, lowered)
        _remember(_codes, symbol, Code(objects, lowered.facts))
        return objects

    def _lowering_identity(self) -> str:
        """The identity of code but for LLVM's level, its last line."""
        return self._identity.rpartition("\n")[0]


def _remember(kept: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    with _lock:
        while len(kept) >= LIMIT:
            del kept[next(iter(kept))]
        kept[key] = value


@pytest.fixture(scope="module", autouse=True)
def remembered_kernels() -> Generator[None]:
    """Compilations of a test file find the kernels of those before; a folder's `conftest.py` imports this."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "KernelStream", RememberingStream)
        yield
