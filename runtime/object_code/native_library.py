"""Loads object code into this process. LLVM is imported only for objects that `ObjectImage` refuses.

Importing LLVM takes longer than loading a model, and more memory than a small model needs.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Protocol

from xrelay.errors import ArtifactError, ExecutionError
from xrelay.forking import forks_wait
from xrelay.runtime.object_code import llvm_linker
from xrelay.runtime.object_code.code_memory import CodeMemory
from xrelay.runtime.object_code.object_image import ObjectImage
from xrelay.shortage import shortage_of


class LoadedCode(Protocol):
    """Code in the memory of this process."""

    def free(self) -> None:
        """Unloads the code."""
        ...


class NativeLibrary:
    """Object code loaded into this process: symbols and their addresses.

    The code is unloaded with the last reference to the library. An address is valid only while the library is
    alive, so callers must keep a reference to it.
    """

    def __init__(self, addresses: Mapping[str, int], code: LoadedCode):
        """Owns code with these symbols; use `load`."""
        self._addresses = addresses
        unload = weakref.finalize(self, _unload, code)
        unload.atexit = False  # the process frees the memory at exit, and threads may still run the code

    @staticmethod
    def load(
        objects: Sequence[bytes], *, exports: Sequence[str], imports: Mapping[str, int] | None = None
    ) -> NativeLibrary:
        """Links `objects` together and loads them.

        `exports` are the symbols to look up later; `imports` binds undefined symbols to addresses. Other undefined
        symbols are looked up in the process (libc, libm). Raises `ExecutionError` if a symbol is missing or an object
        is malformed.
        """
        known: Mapping[str, int] = {} if imports is None else imports
        try:
            addresses, code = _linked(objects, known)
        except OSError as error:
            raise shortage_of(error) or ExecutionError(f"cannot load native code: {error.strerror}") from error
        except ArtifactError:
            addresses, code = llvm_linker.link(objects, exports, known)
        library = NativeLibrary(addresses, code)
        for symbol in exports:
            library.address(symbol)
        return library

    def address(self, symbol: str) -> int:
        """Returns the address of an exported symbol. Raises `ExecutionError` if it was not exported."""
        try:
            return self._addresses[symbol]
        except KeyError:
            raise ExecutionError(f"the native library has no symbol '{symbol}'") from None


def _linked(objects: Sequence[bytes], imports: Mapping[str, int]) -> tuple[dict[str, int], LoadedCode]:
    """Links objects; returns the addresses of symbols, and the code.

    Raises `ArtifactError` if LLVM has to link them, `ExecutionError` for a missing symbol, and `OSError` if the system
    refuses memory.
    """
    if sys.platform != "linux":
        raise ArtifactError("memory for code is implemented for Linux")
    image = ObjectImage(objects)
    addresses = {name: imports[name] if name in imports else _process_symbol(name) for name in image.undefined}
    memory = CodeMemory(image.size)
    try:
        image.write(memory.view(), memory.address, addresses)
        memory.protect(image.segments)
    except BaseException:
        memory.free()
        raise
    return {name: memory.address + offset for name, offset in image.symbols.items()}, memory


@cache
def _process() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _process_symbol(name: str) -> int:
    """Returns the address of a function of this process. Raises `ExecutionError` if it has none."""
    try:
        address = ctypes.cast(_process()[name], ctypes.c_void_p).value
    except AttributeError as error:
        raise ExecutionError(f"cannot load native code: this process has no function '{name}'") from error
    assert address is not None
    return address


def _unload(code: LoadedCode) -> None:
    with forks_wait(is_short=True):  # run by the garbage collector, in any thread
        code.free()
