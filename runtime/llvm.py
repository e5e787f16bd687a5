"""llvmlite, imported on first use: it takes about 50 ms to import and has no types."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from xrelay.errors import LoweringError
from xrelay.shortage import reporting_shortage
from xrelay.tile_permission import usable_features


@functools.cache
def binding() -> Any:
    """Returns `llvmlite.binding` with this machine's target registered."""
    with reporting_shortage():
        importlib.import_module("llvmlite.binding")
    llvm = importlib.import_module("llvmlite").binding
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    return llvm


def target_of(triple: str) -> Any:
    """Returns the target of any triple. Raises `LoweringError` if this build of LLVM cannot generate code for it."""
    native = binding()
    native.initialize_all_targets()
    native.initialize_all_asmprinters()
    try:
        return native.Target.from_triple(triple)
    except RuntimeError as error:
        raise LoweringError(f"the installed LLVM {version()} cannot generate code for {triple}") from error


@functools.cache
def version() -> str:
    """Returns the version of LLVM in use, such as `22.1.0`."""
    return ".".join(str(part) for part in binding().llvm_version_info)


@functools.cache
def host_features() -> frozenset[str]:
    """Returns the features that this process may use, by LLVM's names; empty if LLVM cannot determine them."""
    try:
        features = binding().get_host_cpu_features()
    except RuntimeError:
        return frozenset()
    return usable_features(name for name, present in features.items() if present)
