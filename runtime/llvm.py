"""The part of llvmlite that the runtime uses, with types, imported when first used.

llvmlite ships no types and takes about 50 ms to import, so every use of it in the runtime goes through `binding()`.
"""

from __future__ import annotations

import functools
import importlib
from typing import Protocol

from xrelay.errors import LoweringError
from xrelay.shortage import reporting_shortage


class _Closeable(Protocol):
    def close(self) -> None: ...


class Context(_Closeable, Protocol):
    """An LLVM context: what one thread compiles in at a time."""


class Module(_Closeable, Protocol):
    """A parsed LLVM module."""

    triple: str
    data_layout: str

    def verify(self) -> None:
        """Raise `RuntimeError` with LLVM's text where the module is not valid."""


class TargetMachine(Protocol):
    """Code generator for one CPU."""

    @property
    def target_data(self) -> object:
        """The data layout; its `str` is the text a module carries."""
        ...

    def emit_assembly(self, module: Module) -> str:
        """The assembly text of an optimised module."""
        ...


class Target(Protocol):
    """An architecture that LLVM has been built for."""

    @property
    def triple(self) -> str:
        """The target triple."""
        ...

    def create_target_machine(self, *, cpu: str, features: str, opt: int, reloc: str, codemodel: str) -> TargetMachine:
        """A code generator; unknown CPU names fall back to the architecture's baseline."""
        ...


class TargetClass(Protocol):
    """The class object of `Target`."""

    def from_default_triple(self) -> Target:
        """The target of this machine."""
        ...

    def from_triple(self, triple: str) -> Target:
        """The target of a triple; `RuntimeError` where LLVM has not been built for it, or it is not registered."""
        ...


class TuningOptions(Protocol):
    """Switches of the new pass manager's default pipelines."""

    loop_unrolling: bool
    loop_vectorization: bool
    loop_interleaving: bool
    slp_vectorization: bool


class PassManager(Protocol):
    """A pipeline ready to run."""

    def detach(self) -> None:
        """Forget what it stands for, without freeing it."""


class PassBuilder(Protocol):
    """Builds the default pipelines."""

    def getModulePassManager(self) -> PassManager:  # noqa: N802 - llvmlite's name
        """The per-module default pipeline of the options' speed level."""
        ...


class ResourceTracker(_Closeable, Protocol):
    """A linked JIT library; its code is unloaded when this object is closed or collected."""

    def __getitem__(self, symbol: str) -> int: ...


class LLJIT(_Closeable, Protocol):
    """An ORC just-in-time linker."""


class LibraryBuilder(Protocol):
    """Collects object code and symbols for one JIT library."""

    def add_object_img(self, data: bytes) -> LibraryBuilder:
        """Add one object file."""
        ...

    def add_current_process(self) -> LibraryBuilder:
        """Resolve missing symbols in this process (libc, libm)."""
        ...

    def import_symbol(self, name: str, address: int) -> LibraryBuilder:
        """Bind an undefined symbol to an address."""
        ...

    def export_symbol(self, name: str) -> LibraryBuilder:
        """Make a defined symbol's address available on the tracker."""
        ...

    def link(self, lljit: LLJIT, library_name: str) -> ResourceTracker:
        """Link and load; raises `RuntimeError` with the unresolved symbols."""
        ...


class LibraryBuilderClass(Protocol):
    """The class object of `LibraryBuilder`."""

    def __call__(self) -> LibraryBuilder:
        """An empty builder."""
        ...


class Features(Protocol):
    """A CPU's features by name: present or not."""

    def flatten(self) -> str:
        """The features as LLVM's `+a,-b` text."""
        ...

    def items(self) -> list[tuple[str, bool]]:
        """Names and presence."""
        ...


class Binding(Protocol):
    """`llvmlite.binding`."""

    llvm_version_info: tuple[int, int, int]
    Target: TargetClass
    JITLibraryBuilder: LibraryBuilderClass

    def initialize_native_target(self) -> None:
        """Register this machine's code generator."""

    def initialize_native_asmprinter(self) -> None:
        """Register this machine's object writer."""

    def initialize_native_asmparser(self) -> None:
        """Register this machine's assembler, which inline assembly needs."""

    def initialize_all_targets(self) -> None:
        """Register every code generator that LLVM has been built with."""

    def initialize_all_asmprinters(self) -> None:
        """Register every object writer."""

    def get_host_cpu_name(self) -> str:
        """LLVM's name of this CPU."""
        ...

    def get_host_cpu_features(self) -> Features:
        """The features of this CPU; `RuntimeError` where LLVM cannot tell."""
        ...

    def get_default_triple(self) -> str:
        """The triple of this machine."""
        ...

    def create_context(self) -> Context:
        """A new LLVM context."""
        ...

    def parse_assembly(self, llvmir: str, context: Context) -> Module:
        """Parse LLVM IR text; `RuntimeError` with LLVM's message on a syntax error."""
        ...

    def create_pipeline_tuning_options(self, speed_level: int) -> TuningOptions:
        """Options of the default pipelines."""
        ...

    def create_pass_builder(self, tm: TargetMachine, pto: TuningOptions) -> PassBuilder:
        """A builder of pipelines for a machine."""
        ...

    def create_lljit_compiler(self, *, use_jit_link: bool) -> LLJIT:
        """A new JIT linker."""
        ...


@functools.cache
def binding() -> Binding:
    """`llvmlite.binding` with this machine's target registered."""
    with reporting_shortage():
        importlib.import_module("llvmlite.binding")
    llvm: Binding = importlib.import_module("llvmlite").binding
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    return llvm


def target_of(triple: str) -> Target:
    """The target of any triple; `LoweringError` where this build of LLVM generates no code for it."""
    native = binding()
    native.initialize_all_targets()
    native.initialize_all_asmprinters()
    try:
        return native.Target.from_triple(triple)
    except RuntimeError as error:
        raise LoweringError(f"LLVM {version()} as it is installed generates no code for {triple}") from error


@functools.cache
def version() -> str:
    """The version of LLVM in use, such as `22.1.0`."""
    return ".".join(str(part) for part in binding().llvm_version_info)


@functools.cache
def host_features() -> frozenset[str]:
    """The features this CPU has, by LLVM's names; empty where LLVM cannot tell."""
    try:
        features = binding().get_host_cpu_features()
    except RuntimeError:
        return frozenset()
    return frozenset(name for name, present in features.items() if present)
