"""Links and loads object code with LLVM's JIT linker."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from xrelay.errors import ExecutionError, one_line
from xrelay.runtime import llvm
from xrelay.shortage import LLVM, check_memory

_ORC_LOCK: Final = threading.Lock()
LIBRARIES_PER_LINKER: Final = 16


class _Linkers:
    """Creates JIT linkers. JITLink places the sections of an object together, as the small code model requires.

    A linker keeps 9 KB for each library that it has ever linked, so it is replaced after `LIBRARIES_PER_LINKER`, and is
    freed with the last of its libraries.
    """

    def __init__(self) -> None:
        self._current: Any = None
        self._numbers = itertools.count()

    def next(self) -> tuple[Any, str]:
        """Returns a linker, and a unique library name."""
        number = next(self._numbers)
        if self._current is None or number % LIBRARIES_PER_LINKER == 0:
            self._current = llvm.binding().create_lljit_compiler(use_jit_link=True)
        return self._current, f"xrelay.{number}"


_LINKERS: Final = _Linkers()


class LlvmCode(NamedTuple):
    """Code that LLVM has linked."""

    tracker: Any
    linker: Any
    """A reference that keeps the linker alive."""

    def free(self) -> None:
        """Unloads the code."""
        self.tracker.close()


def link(
    objects: Sequence[bytes], exports: Sequence[str], imports: Mapping[str, int]
) -> tuple[dict[str, int], LlvmCode]:
    """Links objects as `NativeLibrary.load` does; returns the addresses of `exports`, and the code."""
    native = llvm.binding()
    with _ORC_LOCK:
        linker, name = _LINKERS.next()
        builder = native.JITLibraryBuilder().add_current_process()
        for code in objects:
            builder.add_object_img(code)
        for symbol, address in imports.items():
            builder.import_symbol(symbol, address)
        for symbol in exports:
            builder.export_symbol(symbol)
        try:
            tracker = builder.link(linker, name)
        except RuntimeError as error:
            check_memory(LLVM, "loading native code")
            hint = "LLVM prints the names of missing symbols to stderr"
            raise ExecutionError(f"cannot load native code: {one_line(str(error))}", help=hint) from error
    return {symbol: tracker[symbol] for symbol in exports}, LlvmCode(tracker, linker)
