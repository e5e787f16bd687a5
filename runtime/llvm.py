"""The part of llvmlite that the runtime uses, with types, imported on first use.

llvmlite has no types and takes about 50 ms to import, so the runtime uses it only through `binding()`.
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
    """An LLVM context, used by one thread at a time."""


class Module(_Closeable, Protocol):
    """A parsed LLVM module."""

    triple: str
    data_layout: str

    def verify(self) -> None:
        """Raises `RuntimeError` with LLVM's message if the module is invalid."""


class TargetMachine(Protocol):
    """A code generator for one CPU."""

    @property
    def target_data(self) -> object:
        """The data layout; its `str` is the text in a module."""
        ...

    def emit_assembly(self, module: Module) -> str:
        """Returns the assembly text of an optimised module."""
        ...


class Target(Protocol):
    """An architecture that LLVM is built for."""

    @property
    def triple(self) -> str:
        """The target triple."""
        ...

    def create_target_machine(self, *, cpu: str, features: str, opt: int, reloc: str, codemodel: str) -> TargetMachine:
        """Returns a code generator; unknown CPU names fall back to the architecture's baseline."""
        ...


class TargetClass(Protocol):
    """The class object of `Target`."""

    def from_default_triple(self) -> Target:
        """Returns the target of this machine."""
        ...

    def from_triple(self, triple: str) -> Target:
        """Returns the target of a triple.

        Raises `RuntimeError` if LLVM is not built for it, or it is not registered.
        """
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
        """Forgets the pipeline without freeing it."""


class PassBuilder(Protocol):
    """Builds the default pipelines."""

    def getModulePassManager(self) -> PassManager:  # noqa: N802 - llvmlite's name
        """Returns the per-module default pipeline of the options' speed level."""
        ...


class ResourceTracker(_Closeable, Protocol):
    """A linked JIT library; its code is unloaded when this object is closed or collected."""

    def __getitem__(self, symbol: str) -> int: ...


class LLJIT(_Closeable, Protocol):
    """An ORC just-in-time linker."""


class LibraryBuilder(Protocol):
    """Collects object code and symbols for one JIT library."""

    def add_object_img(self, data: bytes) -> LibraryBuilder:
        """Adds one object file."""
        ...

    def add_current_process(self) -> LibraryBuilder:
        """Resolves missing symbols in this process (libc, libm)."""
        ...

    def import_symbol(self, name: str, address: int) -> LibraryBuilder:
        """Binds an undefined symbol to an address."""
        ...

    def export_symbol(self, name: str) -> LibraryBuilder:
        """Makes a defined symbol's address available on the tracker."""
        ...

    def link(self, lljit: LLJIT, library_name: str) -> ResourceTracker:
        """Links and loads. Raises `RuntimeError` with the unresolved symbols."""
        ...


class LibraryBuilderClass(Protocol):
    """The class object of `LibraryBuilder`."""

    def __call__(self) -> LibraryBuilder:
        """Returns an empty builder."""
        ...


class Features(Protocol):
    """A CPU's features by name: present or not."""

    def flatten(self) -> str:
        """Returns the features as LLVM's `+a,-b` text."""
        ...

    def items(self) -> list[tuple[str, bool]]:
        """Returns names and presence."""
        ...


class Binding(Protocol):
    """`llvmlite.binding`."""

    llvm_version_info: tuple[int, int, int]
    Target: TargetClass
    JITLibraryBuilder: LibraryBuilderClass

    def initialize_native_target(self) -> None:
        """Registers this machine's code generator."""

    def initialize_native_asmprinter(self) -> None:
        """Registers this machine's object writer."""

    def initialize_native_asmparser(self) -> None:
        """Registers this machine's assembler, which inline assembly needs."""

    def initialize_all_targets(self) -> None:
        """Registers every code generator that LLVM is built with."""

    def initialize_all_asmprinters(self) -> None:
        """Registers every object writer."""

    def get_host_cpu_name(self) -> str:
        """Returns LLVM's name of this CPU."""
        ...

    def get_host_cpu_features(self) -> Features:
        """Returns the features of this CPU. Raises `RuntimeError` if LLVM cannot determine them."""
        ...

    def get_default_triple(self) -> str:
        """Returns the triple of this machine."""
        ...

    def create_context(self) -> Context:
        """Returns a new LLVM context."""
        ...

    def parse_assembly(self, llvmir: str, context: Context) -> Module:
        """Parses LLVM IR text. Raises `RuntimeError` with LLVM's message on a syntax error."""
        ...

    def create_pipeline_tuning_options(self, speed_level: int) -> TuningOptions:
        """Returns options of the default pipelines."""
        ...

    def create_pass_builder(self, tm: TargetMachine, pto: TuningOptions) -> PassBuilder:
        """Returns a builder of pipelines for a machine."""
        ...

    def create_lljit_compiler(self, *, use_jit_link: bool) -> LLJIT:
        """Returns a new JIT linker."""
        ...


@functools.cache
def binding() -> Binding:
    """Returns `llvmlite.binding` with this machine's target registered."""
    with reporting_shortage():
        importlib.import_module("llvmlite.binding")
    llvm: Binding = importlib.import_module("llvmlite").binding
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    return llvm


def target_of(triple: str) -> Target:
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
    """Returns the features of this CPU by LLVM's names; empty if LLVM cannot determine them."""
    try:
        features = binding().get_host_cpu_features()
    except RuntimeError:
        return frozenset()
    return frozenset(name for name, present in features.items() if present)
