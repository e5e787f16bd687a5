"""Output forms that xDSL lacks: LLVM IR text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target


def llvm_ir_target() -> type[Target]:
    """Returns the class of the `llvm-ir` target."""
    return LLVMIRTarget


@dataclass(frozen=True)
class LLVMIRTarget(Target):
    """LLVM IR text of a module in the llvm dialect, by the project's own emitter."""

    name = "llvm-ir"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Writes the text. Raises `LoweringError` for ops that the emitter does not support."""
        from xrelay.lowering.emit_llvm import emit_to_stream

        emit_to_stream(module, output)
