"""Tensor expressions and their schedules, under Relay's names.

    A, B = te.placeholder((1024, 64), name="A"), te.placeholder((64, 512), name="B")
    k = te.reduce_axis((0, 64), name="k")
    C = te.compute((1024, 512), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    io, jo, ii, ji = s[C].tile(*s[C].op.axis, 8, 16)
    s[C].vectorize(ji)
    s[C].parallel(io)
    gemm = xrelay.build(s, [A, B, C], "llvm")

A compute becomes a `topi.compute`, and a schedule the `loop.schedule` of its kernel. Shapes are static.
"""

from __future__ import annotations

from xrelay.te import schedule, tensor
from xrelay.te.expr import (
    IterVar,
    PrimExpr,
    abs,
    all,
    any,
    ceil,
    const,
    cos,
    erf,
    exp,
    floor,
    if_then_else,
    log,
    log2,
    max,
    min,
    power,
    round,
    rsqrt,
    sigmoid,
    sin,
    sqrt,
    sum,
    tanh,
    trunc,
)
from xrelay.te.lower import lower
from xrelay.te.schedule import AutoInlineInjective, Schedule, Stage, create_schedule
from xrelay.te.tensor import ComputeOp, PlaceholderOp, Tensor, compute, placeholder, reduce_axis, size_var, var

__all__ = [
    "AutoInlineInjective",
    "ComputeOp",
    "IterVar",
    "PlaceholderOp",
    "PrimExpr",
    "Schedule",
    "Stage",
    "Tensor",
    "abs",
    "all",
    "any",
    "ceil",
    "compute",
    "const",
    "cos",
    "create_schedule",
    "erf",
    "exp",
    "floor",
    "if_then_else",
    "log",
    "log2",
    "lower",
    "max",
    "min",
    "placeholder",
    "power",
    "reduce_axis",
    "round",
    "rsqrt",
    "schedule",
    "sigmoid",
    "sin",
    "size_var",
    "sqrt",
    "sum",
    "tanh",
    "tensor",
    "trunc",
    "var",
]
