"""Code that a test process has compiled before is not compiled again.

Tests of numbers compile the same few kernels over and over, for the same op of two programs or at two levels of ours.
A kernel's code is determined by the text of its module, the passes, the target and LLVM's level, as in the cache on
disk; here all that is kept in memory, and for `cache=False` too. Each kernel is lowered once for all levels of LLVM,
which come after, and compiled once for each. Code outside kernels is remembered by its LLVM IR.

A sixth of the time of such tests is LLVM's. Without a cache on disk, LLVM optimises one module in four in `make test`,
chosen by its text, and each in `make test-all`. `test_kernel_streams.py` tests the identity of kernels as users have
it, and `test_remembered_kernels.py` as tests do.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from copy import copy
from dataclasses import replace
from typing import TypeVar

import pytest

from support.examples import THOROUGH, chance
from xrelay.api import build_artifact, stage_runner
from xrelay.api.kernel_lowering import LoweredKernel
from xrelay.api.kernel_stream import Code, KernelStream
from xrelay.api.kernel_workers import KernelJob
from xrelay.runtime.cache import ObjectCache
from xrelay.runtime.native import compile_many

LIMIT = 4096
"""How many kernels a process remembers; the oldest make way, so that memory stays bounded."""

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

_lock = threading.Lock()
_codes: dict[tuple[str, bool], Code] = {}
_lowered: dict[tuple[str, str], tuple[str, LoweredKernel]] = {}
_host_codes: dict[tuple[str, str, str, int], bytes] = {}


class RememberingStream(KernelStream):
    """Finds kernels of all earlier compilations of this process."""

    def _known(self, symbol: str) -> Code | None:
        found = _codes.get((symbol, self._is_optimised(symbol)))
        return super()._known(symbol) if found is None else found

    def _lowered(self, wanted: KernelJob) -> LoweredKernel:
        key = (self._lowering_identity(), wanted.text)
        found = _lowered.get(key)
        if found is None:
            found = wanted.symbol, super()._lowered(wanted)
            _remember(_lowered, key, found)
        symbol, lowered = found
        texts = tuple(text.replace(symbol, wanted.symbol) for text in lowered.texts)
        return replace(lowered, texts=texts)

    def _emit(self, name: str, symbol: str, lowered: LoweredKernel) -> list[bytes]:
        optimised = self._is_optimised(symbol)
        objects = KernelStream._emit(self if optimised else self._at_level_0(), name, symbol, lowered)
        _remember(_codes, (symbol, optimised), Code(objects, lowered))
        return objects

    def _is_optimised(self, symbol: str) -> bool:
        """Whether LLVM optimises the kernel: one in `THOROUGH`, and all that a cache on disk may get."""
        return self._objects is not None or int(symbol[-8:], 16) % THOROUGH == 0

    def _at_level_0(self) -> RememberingStream:
        quick = copy(self)
        quick._options = self._options._replace(opt_level=0)
        return quick

    def _lowering_identity(self) -> str:
        """The identity of code but for LLVM's level, its last line."""
        return self._identity.rpartition("\n")[0]


def compile_remembered(
    ir_texts: Sequence[str], *, cpu: str, features: str, opt_level: Sequence[int], cache: ObjectCache | None
) -> list[bytes]:
    """Same as `compile_many`; without a cache on disk, texts of earlier compilations are found."""
    if cache is not None:
        return compile_many(ir_texts, cpu=cpu, features=features, opt_level=opt_level, cache=cache)
    levels = [level if chance(text) % THOROUGH == 0 else 0 for text, level in zip(ir_texts, opt_level, strict=True)]
    keys = [(text, cpu, features, level) for text, level in zip(ir_texts, levels, strict=True)]
    found = {key: _host_codes.get(key) for key in keys}
    missing = [key for key, code in found.items() if code is None]
    texts, levels = [key[0] for key in missing], [key[3] for key in missing]
    compiled = dict(zip(missing, compile_many(texts, cpu=cpu, features=features, opt_level=levels), strict=True))
    for key, code in compiled.items():
        _remember(_host_codes, key, code)
    return [found[key] or compiled[key] for key in keys]


def _remember(kept: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    with _lock:
        while len(kept) >= LIMIT:
            del kept[next(iter(kept))]
        kept[key] = value


@pytest.fixture(scope="module", autouse=True)
def remembered_kernels() -> Generator[None]:
    """Compilations of a test file find the kernels of those before; a folder's `conftest.py` imports this."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage_runner, "KernelStream", RememberingStream)
        patch.setattr(build_artifact, "compile_many", compile_remembered)
        yield
