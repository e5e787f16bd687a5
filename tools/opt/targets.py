"""The output formats of `xrelay-opt` besides those of xDSL: MLIR text, LLVM IR, and assembly."""

from __future__ import annotations

from dataclasses import dataclass, field
from io import StringIO
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.targets.mlir import MLIRTarget
from xdsl.utils.target import Target

from xrelay.passes.infra.printing import TextPrinter


@dataclass(frozen=True)
class TextTarget(MLIRTarget):
    """MLIR text, by the project's printer unless it is coloured."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Writes the text."""
        if self.syntax_highlight:
            super().emit(ctx, module, output)
            return
        printer = TextPrinter(
            StringIO(),
            generic=self.print_generic_format,
            debuginfo=self.print_debuginfo,
            no_properties=self.print_properties_as_attributes,
        )
        printer.print_op(module)
        printer.print_metadata(ctx.loaded_dialects)
        output.write(printer.text.getvalue())


@dataclass(frozen=True)
class LLVMIRTarget(Target):
    """LLVM IR text of a module in the llvm dialect, by the project's own emitter."""

    name = "llvm-ir"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Writes the text. Raises `LoweringError` for ops that the emitter does not support."""
        from xrelay.lowering.emit_llvm import emit_to_stream

        emit_to_stream(module, output)


@dataclass(frozen=True)
class AssemblyTarget(Target):
    """Assembly of a module in the llvm dialect, optimised for a CPU: `-t 'asm{cpu="cpu -mcpu=znver4"}'`."""

    name = "asm"

    cpu: str = field(default="", metadata={"help": "the CPU; this machine if empty"})

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Writes the text. Raises `LoweringError` as for LLVM IR, and if LLVM rejects it."""
        from xrelay.lowering.emit_llvm import emit_llvm_ir
        from xrelay.runtime.object_code.llvm_compiler import assembly
        from xrelay.target.target import Target as CpuTarget

        cpu = CpuTarget.parse(self.cpu) if self.cpu else CpuTarget.host()
        text = emit_llvm_ir(module, target_triple=cpu.triple, target_cpu=cpu.mcpu, prefer_vector_width=cpu.vector_bits)
        output.write(assembly(text, cpu=cpu.mcpu, features=",".join(cpu.code_features())))
