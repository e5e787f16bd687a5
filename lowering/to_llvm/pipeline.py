"""The way from the scf level to the llvm dialect, step by step."""

from __future__ import annotations

LLVM_PIPELINE: tuple[str, ...] = (
    "convert-scf-parallel-to-calls",
    "arith-guard-division",
    "math-expand",
    "convert-scf-to-branches",
    "convert-memref-to-llvm",
    "convert-vector-to-llvm",
    "convert-arith-to-llvm",
    "convert-math-to-llvm",
    "convert-cf-to-llvm",
    "convert-func-to-llvm",
)
"""Names of passes, in order. Each runs alone on a text; what lies between two of them is valid upstream MLIR."""
