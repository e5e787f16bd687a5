"""Output forms that xDSL lacks: LLVM IR text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target


def llvm_ir_target() -> type[Target]:
    """The `llvm-ir` target's class."""
    return LLVMIRTarget


@dataclass(frozen=True)
class LLVMIRTarget(Target):
    """LLVM IR text of a module in the llvm dialect, by the project's own emitter."""

    name = "llvm-ir"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Write the text; raises `LoweringError` for ops the emitter does not know."""
        from xrelay.lowering.emit_llvm import emit_to_stream

        emit_to_stream(module, output)
