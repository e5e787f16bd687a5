"""Compiles LLVM IR text to object code.

Compilation uses the new pass manager: a short pipeline for code that is vectorised already (`vector_passes.py`), except
at level 0, else the default pipeline of a given level with loop unrolling, which obeys `llvm.loop.unroll.*` of the
kernels. Code is position-independent and uses the small code model, so the same object serves `NativeLibrary` and a C
linker.

llvmlite holds one lock around every call into LLVM. The two long calls, to optimise and to emit, touch only the module,
its context and its target machine, so they bypass this lock, and several modules compile in parallel. A call that
releases the GIL may wait up to 5 ms to reacquire it while another thread computes, so short calls keep it.
"""

from __future__ import annotations

import ctypes
import functools
import re
import threading
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from importlib import import_module, resources
from typing import Any, Final, NamedTuple

from xrelay.errors import LoweringError, one_line
from xrelay.runtime import llvm
from xrelay.runtime.cache import ObjectCache, object_key
from xrelay.runtime.cores import default_num_threads
from xrelay.runtime.object_code.line_locations import Listing, listing_of, with_line_locations
from xrelay.runtime.object_code.vector_passes import VECTOR_PASSES, Code, code_of, hide_counters
from xrelay.shortage import LLVM, check_memory

_TRIPLE: Final = re.compile(r'^target triple = "([^"\n]*)"', re.MULTILINE)
IDLE_COMPILERS: Final = 8
"""The maximum number of idle compilers, over all options."""


class CodeOptions(NamedTuple):
    """LLVM's options for a module, see `compile_ir`."""

    cpu: str
    features: str
    opt_level: int


def compile_ir(ir_text: str, *, cpu: str, features: str, opt_level: int = 3) -> bytes:
    """Compiles an LLVM module to object code, for this machine's architecture unless its text names another triple.

    `cpu` and `features` are LLVM's names (`znver4`, `+avx512f,-avx512er`), `opt_level` is 0 to 3. Raises
    `LoweringError` with LLVM's own message if the text cannot be parsed, verified or compiled.
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
    """Compiles several modules to object code, in order, on up to `threads` threads (default: see `cores`).

    `opt_level` applies to all modules, or has one level for each. Modules of equal text and level are compiled once.
    With a `cache`, objects are read from it and added to it.
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
    """Returns the assembly text of the code of `compile_ir`, for users and for tests that count spills."""
    text, code = _prepared(ir_text)
    with _parsed(text) as module, _COMPILERS.one(CodeOptions(cpu, features, opt_level), _triple(text)) as compiler:
        return compiler.assembly(module, code)


def located_assembly(ir_text: str, *, cpu: str, features: str, opt_level: int = 3) -> Listing:
    """Returns the text of `assembly` with the lines of `ir_text` that its instructions were made from."""
    text, code = with_line_locations(ir_text), code_of(ir_text)
    hidden = hide_counters(text) if code is Code.VECTORS else text
    with _parsed(hidden) as module, _COMPILERS.one(CodeOptions(cpu, features, opt_level), _triple(text)) as compiler:
        return listing_of(compiler.assembly(module, code))


def _triple(ir_text: str) -> str:
    """Returns the triple that a text names; empty if it names none."""
    found = _TRIPLE.search(ir_text)
    return "" if found is None else found[1]


def _prepared(ir_text: str) -> tuple[str, Code]:
    """Returns the text to compile, and the kind of its code."""
    code = code_of(ir_text)
    return (hide_counters(ir_text) if code is Code.VECTORS else ir_text), code


def compile_cached(ir_text: str, *, cpu: str, features: str, opt_level: int, cache: ObjectCache | None) -> bytes:
    """Same as `compile_ir`; with a `cache`, the object is read from it or added to it."""
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
def _parsed(ir_text: str) -> Generator[Any]:
    """Parses and verifies a module in its own context. LLVM requires the module to be closed before the context."""
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
    return LoweringError(f"LLVM rejects the generated code: {one_line(str(error))}")


class _Compiler:
    """A target machine and its pipeline builders, which compile one module at a time; not thread-safe."""

    def __init__(self, code: CodeOptions, triple: str):
        native = llvm.binding()
        target = llvm.target_of(triple) if triple else native.Target.from_default_triple()
        self._triple = target.triple
        self._machine = target.create_target_machine(
            cpu=code.cpu, features=code.features, opt=code.opt_level, reloc="pic", codemodel="small"
        )
        self._data_layout = str(self._machine.target_data)
        self._opt_level = code.opt_level
        self._builders: dict[bool, Any] = {}
        """Maps whether LLVM may vectorise loops to the builder of such pipelines, created on first use."""

    def compile(self, module: Any, code: Code) -> bytes:
        """Optimises a module by the pipeline for its kind of code and its level, and emits object code."""
        self._optimise(module, code)
        return _unlocked().emit_object(self._machine, module)

    def assembly(self, module: Any, code: Code) -> str:
        """Optimises a module and emits assembly text."""
        self._optimise(module, code)
        return self._machine.emit_assembly(module)

    def _builder(self, *, vectorizes: bool) -> Any:
        if vectorizes not in self._builders:
            native = llvm.binding()
            options = native.create_pipeline_tuning_options(self._opt_level)
            options.loop_unrolling = options.slp_vectorization = True
            options.loop_vectorization = options.loop_interleaving = vectorizes
            self._builders[vectorizes] = native.create_pass_builder(self._machine, options)
        return self._builders[vectorizes]

    def _optimise(self, module: Any, code: Code) -> None:
        _unlocked().set_target(module, self._triple, self._data_layout)
        builder = self._builder(vectorizes=code is not Code.QUOTIENTS)
        # The default pipeline of level 0 only inlines functions that must be inlined.
        is_listed = code is Code.VECTORS and self._opt_level > 0
        passes = _unlocked().listed_passes(VECTOR_PASSES) if is_listed else builder.getModulePassManager()
        try:
            _unlocked().optimise(passes, module, builder)
        finally:
            _unlocked().free_passes(passes)


class _Compilers:
    """A pool of idle compilers.

    Creating one looks up the CPU's features, which takes as long as emitting a small module.
    """

    def __init__(self) -> None:
        self._idle: deque[tuple[CodeOptions, str, _Compiler]] = deque(maxlen=IDLE_COMPILERS)
        self._lock = threading.Lock()

    @contextmanager
    def one(self, code: CodeOptions, triple: str) -> Generator[_Compiler]:
        """Yields a compiler for exclusive use, which returns to the pool unless an error occurs."""
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
    """Entry points of llvmlite's library, called without its lock; only the long ones release the GIL."""

    def __init__(self):
        name = import_module("llvmlite.utils").get_library_name()
        with resources.as_file(resources.files("llvmlite.binding") / name) as path:
            library, short = ctypes.CDLL(str(path)), ctypes.PyDLL(str(path))
        pointer, text, code = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
        self._run = _function(library.LLVMPY_RunNewModulePassManager, None, pointer, pointer, pointer)
        self._emit = _function(
            library.LLVMPY_TargetMachineEmitToMemory, pointer, pointer, pointer, code, ctypes.POINTER(pointer)
        )
        self._new_passes = _function(short.LLVMPY_CreateNewModulePassManager, pointer)
        self._add = {
            name: _function(getattr(short, f"LLVMPY_module_Add{name}Pass"), None, pointer) for name in VECTOR_PASSES
        }
        self._free_passes = _function(short.LLVMPY_DisposeNewModulePassManger, None, pointer)
        self._set_triple = _function(short.LLVMPY_SetTarget, None, pointer, text)
        self._set_layout = _function(short.LLVMPY_SetDataLayout, None, pointer, text)
        self._start = _function(short.LLVMPY_GetBufferStart, pointer, pointer)
        self._size = _function(short.LLVMPY_GetBufferSize, ctypes.c_size_t, pointer)
        self._free_buffer = _function(short.LLVMPY_DisposeMemoryBuffer, None, pointer)
        self._free_string = _function(short.LLVMPY_DisposeString, None, pointer)

    def listed_passes(self, names: Sequence[str]) -> int:
        """Returns a pipeline of passes in this order; it runs once and is then freed."""
        passes = self._new_passes()
        for name in names:
            self._add[name](passes)
        return passes

    def free_passes(self, passes: Any) -> None:
        """Frees a pipeline. llvmlite never does: its class inherits a method that does nothing."""
        self._free_passes(passes)
        if not isinstance(passes, int):
            passes.detach()

    def set_target(self, module: Any, triple: str, layout: str) -> None:
        """Sets the triple and the data layout of a module."""
        self._set_triple(module, triple.encode())
        self._set_layout(module, layout.encode())

    def optimise(self, passes: Any, module: Any, builder: Any) -> None:
        """Runs a pipeline on a module."""
        self._run(passes, module, builder)

    def emit_object(self, machine: Any, module: Any) -> bytes:
        """Emits object code of an optimised module."""
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


def _function(function: Any, result: Any, *arguments: Any) -> Any:
    """Returns a C function with the types of its result and its arguments."""
    function.argtypes, function.restype = list(arguments), result
    return function


@functools.cache
def _unlocked() -> _Unlocked:
    return _Unlocked()
