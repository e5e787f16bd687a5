"""Compiles equal code only once in each test process.

Numeric tests compile the same few kernels many times, for example for one op at two opt levels. As in the cache on
disk, the text of its module, the passes, the target and LLVM's opt level determine the code of a kernel. This module
keeps code in memory by these keys, also for `cache=False`. Lowering does not depend on LLVM's opt level, so a kernel is
lowered once, and then compiled once for each level. Code outside of kernels is kept by its LLVM IR. Models use no cache
on disk unless a test turns it on.

LLVM takes a sixth of the time of such tests. Without a cache on disk, it optimises one module in eight in `make test`,
chosen by a hash of the text, and every module in `make test-all`. `test_kernel_streams.py` tests the keys that users'
compilations have, `test_remembered_kernels.py` those of this module.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from copy import copy
from dataclasses import replace
from typing import TypeVar

import pytest

from support.examples import OPTIMISED, chance
from xrelay import environment
from xrelay.api import build_artifact, stage_runner
from xrelay.api.kernels.lowering import LoweredKernel
from xrelay.api.kernels.stream import Code, KernelStream
from xrelay.api.kernels.workers import KernelJob
from xrelay.runtime.cache import ObjectCache
from xrelay.runtime.object_code.llvm_compiler import compile_many

TILES = "@llvm.x86.t"
"""The start of the names of the intrinsics on tiles."""
LIMIT = 4096
"""The maximum number of kernels that a process keeps; the oldest are removed first."""

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

_lock = threading.Lock()
_codes: dict[tuple[str, bool], Code] = {}
_lowered: dict[tuple[str, str], tuple[str, LoweredKernel]] = {}
_host_codes: dict[tuple[str, str, str, int], bytes] = {}


class RememberingStream(KernelStream):
    """A kernel stream that finds the kernels of all earlier compilations of this process."""

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
        # At level 0, LLVM aborts the process, as it assigns no tile registers.
        has_tiles = any(TILES in text for text in lowered.texts)
        objects = KernelStream._emit(self if optimised or has_tiles else self._at_level_0(), name, symbol, lowered)
        _remember(_codes, (symbol, optimised), Code(objects, lowered))
        return objects

    def _is_optimised(self, symbol: str) -> bool:
        """Whether LLVM optimises the kernel: one kernel in `OPTIMISED`, and every kernel that may be written to a cache
        on disk."""
        return self._objects is not None or int(symbol[-8:], 16) % OPTIMISED == 0

    def _at_level_0(self) -> RememberingStream:
        quick = copy(self)
        quick._options = self._options._replace(opt_level=0)
        return quick

    def _lowering_identity(self) -> str:
        """The identity of code without its last line, LLVM's level."""
        return self._identity.rpartition("\n")[0]


def compile_remembered(
    ir_texts: Sequence[str], *, cpu: str, features: str, opt_level: Sequence[int], cache: ObjectCache | None
) -> list[bytes]:
    """Same as `compile_many`, but without a cache on disk, it returns the code of equal texts from earlier
    compilations."""
    if cache is not None:
        return compile_many(ir_texts, cpu=cpu, features=features, opt_level=opt_level, cache=cache)
    levels = [
        level if chance(text) % OPTIMISED == 0 or TILES in text else 0
        for text, level in zip(ir_texts, opt_level, strict=True)
    ]
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
    """Keeps kernels for all tests of a file; the `conftest.py` of a folder imports this fixture."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(environment.CACHE, "0")
        patch.setattr(stage_runner, "KernelStream", RememberingStream)
        patch.setattr(build_artifact, "compile_many", compile_remembered)
        yield
