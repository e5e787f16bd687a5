"""llvmlite, imported on first use: it takes about 50 ms to import and has no types."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from pathlib import Path
from typing import Any

from xrelay.errors import LoweringError
from xrelay.shortage import reporting_shortage


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
def package_text() -> str:
    """Returns text that differs between versions of llvmlite; empty if unknown. LLVM is not imported for it."""
    package = importlib.util.find_spec("llvmlite")
    if package is None or package.origin is None:
        return ""
    try:
        return (Path(package.origin).parent / "_version.py").read_text(encoding="utf-8")
    except OSError:
        return ""


def host_cpu() -> tuple[str, dict[str, bool]]:
    """Returns the name of this machine's CPU, and whether it has each feature; no features if LLVM finds none."""
    native = binding()
    try:
        features: dict[str, bool] = dict(native.get_host_cpu_features())
    except RuntimeError:
        features = {}
    return str(native.get_host_cpu_name()), features
