"""The pipeline from the scf level to the llvm dialect."""

from __future__ import annotations


def llvm_pipeline(*, converts_f16: bool = True, dot_products: tuple[str, int] | None = None) -> tuple[str, ...]:
    """Returns the names of the passes, in order, for a CPU with or without instructions to convert f16.

    `dot_products` is the name of the CPU's instruction for sums of products of bytes, with the width in bits of its
    longest vectors.

    Each pass also runs alone on a text; the program between two of them is valid upstream MLIR.
    """
    return (
        "convert-scf-parallel-to-calls",
        "memref-hoist-allocations",
        "arith-guard-division",
        "arith-expand-half" if converts_f16 else "arith-expand-half{f16=true}",
        _expand_dot_products(dot_products),
        "math-expand",
        "convert-scf-to-llvm",
        "llvm-hoist-addresses",
        "llvm-recursion-to-frames",
    )


def _expand_dot_products(dot_products: tuple[str, int] | None) -> str:
    name = "vector-expand-dot-products"
    return name if dot_products is None else f"{name}{{instruction={dot_products[0]} width={dot_products[1]}}}"


STEPS = (
    "convert-scf-to-branches",
    "convert-memref-to-llvm",
    "convert-vector-to-llvm",
    "convert-arith-to-llvm",
    "convert-math-to-llvm",
    "convert-cf-to-llvm",
    "convert-func-to-llvm",
)
"""The passes that `convert-scf-to-llvm` combines, with the same output: for reading, and for texts between them."""

LLVM_PIPELINE = llvm_pipeline()
"""The passes for an unknown CPU."""
