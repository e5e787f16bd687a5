"""LLVM IR text to object code, and object code to callable symbols.

Compiling uses the new pass manager: a short pipeline for code that is vectors already (`vector_passes.py`), else the
default one of a given level with loop unrolling on (kernels carry `llvm.loop.unroll.*` and expect to be obeyed). Code
is position-independent and of the small code model, so that the same object serves the JIT linker and a C linker.
llvmlite holds one lock around every call into LLVM; the two long ones, optimising and emitting, touch nothing but the
module, its own context and its own target machine, so they are called past that lock and several modules compile at
once. Every call but the shortest gives Python's lock away and has to wait for it afterwards, up to 5 ms beside a thread
that computes: what takes no time is called with the lock.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import re
import threading
import weakref
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from importlib import import_module, resources
from typing import Final, NamedTuple

from xrelay.errors import ExecutionError, LoweringError
from xrelay.forking import forks_wait
from xrelay.runtime import llvm
from xrelay.runtime.cache import ObjectCache, object_key
from xrelay.runtime.cores import default_num_threads
from xrelay.runtime.vector_passes import VECTOR_PASSES, Code, code_of, hide_counters
from xrelay.shortage import LLVM, check_memory

_TRIPLE: Final = re.compile(r'^target triple = "([^"\n]*)"', re.MULTILINE)
_ORC_LOCK: Final = threading.Lock()
LIBRARIES_PER_LINKER: Final = 16
IDLE_COMPILERS: Final = 8
"""How many compilers wait at most, of whatever options."""


class CodeOptions(NamedTuple):
    """What LLVM is told of a module that it compiles, see `compile_ir`."""

    cpu: str
    features: str
    opt_level: int


def compile_ir(ir_text: str, *, cpu: str, features: str, opt_level: int = 3) -> bytes:
    """Object code of one LLVM module, for this machine's architecture unless its text names another triple.

    `cpu` and `features` are LLVM's names (`znver4`, `+avx512f,-avx512er`), `opt_level` is 0 to 3. Raises
    `LoweringError` with LLVM's own message where the text does not parse or verify or cannot be compiled.
    """
    check_memory(LLVM, "compiling a kernel")
    text, code = _prepared(ir_text)
    with _parsed(text) as module, _COMPILERS.one(CodeOptions(cpu, features, opt_level), _triple(text)) as compiler:
        return compiler.compile(module, code)


def compile_many(
    ir_texts: Sequence[str],
    *,
    cpu: str,
    features: str,
    opt_level: int | Sequence[int] = 3,
    cache: ObjectCache | None = None,
    threads: int | None = None,
) -> list[bytes]:
    """Object code of several modules, in order, compiled on up to `threads` threads (default: see `cores`).

    `opt_level` is that of all modules, or has one for each. Modules of equal text and level are compiled once. With a
    `cache`, objects are taken from it and added to it.
    """
    levels = [opt_level] * len(ir_texts) if isinstance(opt_level, int) else opt_level
    modules = list(zip(ir_texts, levels, strict=True))
    distinct = list(dict.fromkeys(modules))

    def compile_one(module: tuple[str, int]) -> bytes:
        text, level = module
        return compile_cached(text, cpu=cpu, features=features, opt_level=level, cache=cache)

    if threads is None:
        threads = default_num_threads()
    workers = min(threads, len(distinct))
    if workers <= 1:
        objects = [compile_one(module) for module in distinct]
    else:
        llvm.binding()
        with ThreadPoolExecutor(workers, thread_name_prefix="xrelay-compile") as pool:
            objects = list(pool.map(compile_one, distinct))
    compiled = dict(zip(distinct, objects, strict=True))
    return [compiled[module] for module in modules]


def assembly(ir_text: str, *, cpu: str, features: str, opt_level: int = 3) -> str:
    """Assembly text of the code `compile_ir` gives, for people and for tests that count spills."""
    text, code = _prepared(ir_text)
    with _parsed(text) as module, _COMPILERS.one(CodeOptions(cpu, features, opt_level), _triple(text)) as compiler:
        return compiler.assembly(module, code)


def _triple(ir_text: str) -> str:
    """The triple that a text names; empty where it names none."""
    found = _TRIPLE.search(ir_text)
    return "" if found is None else found[1]


def _prepared(ir_text: str) -> tuple[str, Code]:
    """The text that LLVM gets, and what it consists of."""
    code = code_of(ir_text)
    return (hide_counters(ir_text) if code is Code.VECTORS else ir_text), code


def compile_cached(ir_text: str, *, cpu: str, features: str, opt_level: int, cache: ObjectCache | None) -> bytes:
    """As `compile_ir`; with a `cache`, the object is taken from it or added to it."""
    if cache is None:
        return compile_ir(ir_text, cpu=cpu, features=features, opt_level=opt_level)
    key = object_key(ir_text, cpu=cpu, features=features, opt_level=opt_level)
    found = cache.get(key)
    if found is not None:
        return found
    code = compile_ir(ir_text, cpu=cpu, features=features, opt_level=opt_level)
    cache.put(key, code)
    return code


@contextmanager
def _parsed(ir_text: str) -> Generator[llvm.Module]:
    """A verified module in a context of its own, closed in the one order that LLVM bears: module, then context."""
    native = llvm.binding()
    with closing(native.create_context()) as context:
        try:
            module = native.parse_assembly(ir_text, context)
        except RuntimeError as error:
            raise _refusal(error) from error
        with closing(module):
            try:
                module.verify()
            except RuntimeError as error:
                raise _refusal(error) from error
            yield module


def _refusal(error: RuntimeError) -> LoweringError:
    return LoweringError(f"LLVM refuses the generated code: {_one_line(error)}")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


class _Compiler:
    """A target machine and a builder of pipelines, for one module after another; not shared between threads."""

    def __init__(self, code: CodeOptions, triple: str):
        native = llvm.binding()
        target = llvm.target_of(triple) if triple else native.Target.from_default_triple()
        self._triple = target.triple
        self._machine = target.create_target_machine(
            cpu=code.cpu, features=code.features, opt=code.opt_level, reloc="pic", codemodel="small"
        )
        self._data_layout = str(self._machine.target_data)
        self._opt_level = code.opt_level
        self._builders: dict[bool, llvm.PassBuilder] = {}
        """Whether LLVM may make vectors of loops → the builder of such pipelines, made when it is needed."""

    def compile(self, module: llvm.Module, code: Code) -> bytes:
        """Optimise, as what the module consists of needs, and emit object code."""
        self._optimise(module, code)
        return _unlocked().emit_object(self._machine, module)

    def assembly(self, module: llvm.Module, code: Code) -> str:
        """Optimise and emit assembly text."""
        self._optimise(module, code)
        return self._machine.emit_assembly(module)

    def _builder(self, *, vectorizes: bool) -> llvm.PassBuilder:
        if vectorizes not in self._builders:
            native = llvm.binding()
            options = native.create_pipeline_tuning_options(self._opt_level)
            options.loop_unrolling = options.slp_vectorization = True
            options.loop_vectorization = options.loop_interleaving = vectorizes
            self._builders[vectorizes] = native.create_pass_builder(self._machine, options)
        return self._builders[vectorizes]

    def _optimise(self, module: llvm.Module, code: Code) -> None:
        _unlocked().set_target(module, self._triple, self._data_layout)
        builder = self._builder(vectorizes=code is not Code.QUOTIENTS)
        passes = _unlocked().listed_passes(VECTOR_PASSES) if code is Code.VECTORS else builder.getModulePassManager()
        try:
            _unlocked().optimise(passes, module, builder)
        finally:
            _unlocked().free_passes(passes)


class _Compilers:
    """Compilers that wait for their next module.

    To make one, which looks up what its CPU can do, takes as long as to emit a small module.
    """

    def __init__(self) -> None:
        self._idle: deque[tuple[CodeOptions, str, _Compiler]] = deque(maxlen=IDLE_COMPILERS)
        self._lock = threading.Lock()

    @contextmanager
    def one(self, code: CodeOptions, triple: str) -> Generator[_Compiler]:
        """A compiler for the caller alone, which waits for others afterwards unless something went wrong."""
        compiler = self._taken(code, triple)
        if compiler is None:
            compiler = _Compiler(code, triple)
        yield compiler
        with self._lock:
            self._idle.append((code, triple, compiler))

    def _taken(self, code: CodeOptions, triple: str) -> _Compiler | None:
        with self._lock:
            found = next((each for each in reversed(self._idle) if each[:2] == (code, triple)), None)
            if found is None:
                return None
            self._idle.remove(found)
            return found[2]


_COMPILERS: Final = _Compilers()


class _Unlocked:
    """Entry points of llvmlite's library, called without its lock; only the long ones release Python's own."""

    def __init__(self):
        name = import_module("llvmlite.utils").get_library_name()
        with resources.as_file(resources.files("llvmlite.binding") / name) as path:
            library, short = ctypes.CDLL(str(path)), ctypes.PyDLL(str(path))
        pointer = ctypes.c_void_p
        self._run = library.LLVMPY_RunNewModulePassManager
        self._run.argtypes, self._run.restype = [pointer] * 3, None
        self._new_passes = short.LLVMPY_CreateNewModulePassManager
        self._new_passes.argtypes, self._new_passes.restype = [], pointer
        self._add = {name: getattr(short, f"LLVMPY_module_Add{name}Pass") for name in VECTOR_PASSES}
        for add in self._add.values():
            add.argtypes, add.restype = [pointer], None
        self._free_passes = short.LLVMPY_DisposeNewModulePassManger
        self._free_passes.argtypes, self._free_passes.restype = [pointer], None
        self._emit = library.LLVMPY_TargetMachineEmitToMemory
        self._emit.argtypes, self._emit.restype = [pointer, pointer, ctypes.c_int, ctypes.POINTER(pointer)], pointer
        self._set_triple, self._set_layout = short.LLVMPY_SetTarget, short.LLVMPY_SetDataLayout
        self._set_triple.argtypes = self._set_layout.argtypes = [pointer, ctypes.c_char_p]
        self._set_triple.restype = self._set_layout.restype = None
        self._start = short.LLVMPY_GetBufferStart
        self._start.argtypes, self._start.restype = [pointer], pointer
        self._size = short.LLVMPY_GetBufferSize
        self._size.argtypes, self._size.restype = [pointer], ctypes.c_size_t
        self._free_buffer = short.LLVMPY_DisposeMemoryBuffer
        self._free_buffer.argtypes, self._free_buffer.restype = [pointer], None
        self._free_string = short.LLVMPY_DisposeString
        self._free_string.argtypes, self._free_string.restype = [pointer], None

    def listed_passes(self, names: Sequence[str]) -> int:
        """A pipeline of single passes, in this order, to be freed after its one run."""
        passes = self._new_passes()
        for name in names:
            self._add[name](passes)
        return passes

    def free_passes(self, passes: llvm.PassManager | int) -> None:
        """Free a pipeline. llvmlite itself never does: its class inherits the method that does nothing."""
        self._free_passes(passes)
        if not isinstance(passes, int):
            passes.detach()

    def set_target(self, module: llvm.Module, triple: str, layout: str) -> None:
        """Say which architecture a module is for, and how it lays out data."""
        self._set_triple(module, triple.encode())
        self._set_layout(module, layout.encode())

    def optimise(self, passes: llvm.PassManager | int, module: llvm.Module, builder: llvm.PassBuilder) -> None:
        """Run a pipeline on a module."""
        self._run(passes, module, builder)

    def emit_object(self, machine: llvm.TargetMachine, module: llvm.Module) -> bytes:
        """Object code of an optimised module."""
        message = ctypes.c_void_p()
        buffer = self._emit(machine, module, 1, ctypes.byref(message))
        if not buffer:
            text = ctypes.string_at(message.value).decode() if message.value else "no message"
            self._free_string(message)
            raise LoweringError(f"LLVM cannot emit object code: {text}")
        try:
            return ctypes.string_at(self._start(buffer), self._size(buffer))
        finally:
            self._free_buffer(buffer)


@functools.cache
def _unlocked() -> _Unlocked:
    return _Unlocked()


class _Linkers:
    """Hands out JIT linkers. JITLink places an object's sections together, as the small code model needs.

    A linker keeps 9 KB for each library that it has ever linked, so it makes way for a new one after
    `LIBRARIES_PER_LINKER`, and goes with the last of its libraries.
    """

    def __init__(self) -> None:
        self._current: llvm.LLJIT | None = None
        self._numbers = itertools.count()

    def next(self) -> tuple[llvm.LLJIT, str]:
        """A linker, and a name that no library has had."""
        number = next(self._numbers)
        if self._current is None or number % LIBRARIES_PER_LINKER == 0:
            self._current = llvm.binding().create_lljit_compiler(use_jit_link=True)
        return self._current, f"xrelay.{number}"


_LINKERS: Final = _Linkers()


class NativeLibrary:
    """Object code loaded into this process: symbols and their addresses.

    The code stays as long as the library or anything that keeps a reference to it lives, and is unloaded once, when
    the last reference goes. An address is valid no longer than that: whoever calls one keeps the library.
    """

    def __init__(self, tracker: llvm.ResourceTracker, linker: llvm.LLJIT):
        """Take over a linked library; users call `load`."""
        self._tracker = tracker
        unload = weakref.finalize(self, _unload, tracker, linker)
        unload.atexit = False  # the process takes the memory with it, and threads may still run the code

    @staticmethod
    def load(
        objects: Sequence[bytes], *, exports: Sequence[str], imports: Mapping[str, int] | None = None
    ) -> NativeLibrary:
        """Link `objects` together and load them.

        `exports` are the symbols to be looked up later, `imports` binds undefined symbols to addresses; what is in
        neither is looked up in the process (libc, libm). Raises `ExecutionError` where a symbol is missing or an
        object is not one.
        """
        native = llvm.binding()
        with _ORC_LOCK:
            linker, name = _LINKERS.next()
            builder = native.JITLibraryBuilder().add_current_process()
            for code in objects:
                builder.add_object_img(code)
            for symbol, address in (imports or {}).items():
                builder.import_symbol(symbol, address)
            for symbol in exports:
                builder.export_symbol(symbol)
            try:
                return NativeLibrary(builder.link(linker, name), linker)
            except RuntimeError as error:
                check_memory(LLVM, "loading native code")
                hint = "LLVM writes the names of missing symbols to stderr"
                raise ExecutionError(f"cannot load native code: {_one_line(error)}", help=hint) from error

    def address(self, symbol: str) -> int:
        """The address of an exported symbol; `ExecutionError` where it was not exported."""
        try:
            return self._tracker[symbol]
        except KeyError:
            raise ExecutionError(f"native library exports no symbol '{symbol}'") from None


def _unload(tracker: llvm.ResourceTracker, linker: llvm.LLJIT) -> None:
    """Unload a library before its linker, which lives as long as anything refers to it, may go."""
    with forks_wait(is_short=True):  # run by the collector, in any thread
        tracker.close()
