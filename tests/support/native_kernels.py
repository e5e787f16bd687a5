"""Kernels of the loop level, compiled to native code and called on numpy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from support.examples import THOROUGH, chance
from xrelay.lowering.emit_llvm import emit_llvm_ir
from xrelay.lowering.pipelines import LLVM_PIPELINE
from xrelay.lowering.registry import pass_thunks
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import verify_module
from xrelay.passes.instruments.verify import Verify
from xrelay.runtime import llvm
from xrelay.runtime.abi import Context
from xrelay.runtime.object_code.llvm_compiler import compile_ir
from xrelay.runtime.object_code.native_library import NativeLibrary
from xrelay.runtime.thread_pool import thread_pool

SCF_PIPELINE = ("loop-lower-blocks", "convert-loop-to-scf")
"""The passes from scheduled loop nests to the scf level."""

__all__ = ["SCF_PIPELINE", "NativeKernel", "host_ir", "lowered"]


def lowered(text: str, passes: Sequence[str] = SCF_PIPELINE) -> ModuleOp:
    """Returns the module after these passes; it is verified, and one in `THOROUGH` after each pass."""
    context = full_context()
    module = parse_module(context, text, "kernel.mlir")
    module.verify()
    steps = parse_passes(",".join(passes), pass_thunks())
    instruments = [Verify(before=False)] if chance(text) % THOROUGH == 0 else []
    run_pipeline(module, steps, context=context, instruments=instruments)
    if not instruments:
        verify_module(module)
    return module


def host_ir(text: str, passes: Sequence[str] = SCF_PIPELINE, llvm_passes: Sequence[str] = LLVM_PIPELINE) -> str:
    """Returns LLVM IR text for this machine."""
    return emit_llvm_ir(lowered(text, [*passes, *llvm_passes]))


class NativeKernel:
    """One function of a module, compiled for this machine."""

    def __init__(self, text: str, name: str = "k", passes: Sequence[str] = SCF_PIPELINE):
        native = llvm.binding()
        self.code = compile_ir(
            host_ir(text, passes), cpu=native.get_host_cpu_name(), features=native.get_host_cpu_features().flatten()
        )
        pool = {"xrelay_parallel_for": thread_pool().parallel_for}
        self._library = NativeLibrary.load([self.code], exports=[name], imports=pool)
        self._address = self._library.address(name)

    def __call__(self, *arguments: NDArray[Any] | int, threads: int = 2) -> None:
        """Runs the function on the arrays' memory and the extents after them; it must succeed."""
        assert self.status(*arguments, threads=threads) == 0

    def status(self, *arguments: NDArray[Any] | int, threads: int = 2) -> int:
        """Runs the function on the arrays' memory and the extents after them; returns its status."""
        types = [ctypes.c_int64 if isinstance(argument, int) else ctypes.c_void_p for argument in arguments]
        function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, *types)(self._address)
        context = Context(0, threads)
        return function(ctypes.addressof(context), *[_passed(argument) for argument in arguments])


def _passed(argument: NDArray[Any] | int) -> int:
    if isinstance(argument, int):
        return argument
    assert argument.flags.c_contiguous
    return argument.ctypes.data
