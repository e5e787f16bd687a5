"""Semantics of the scalar ops (`arith`, `math`, checked indices), shared by the interpreters of topi and loop.

`compile_scalar(op)` returns a function from the op's operand values to its result. It works on numpy scalars and,
elementwise, on arrays. Attributes and types are read only at compilation.
"""

from __future__ import annotations

from xdsl.ir import Operation

from xrelay.errors import InterpreterError
from xrelay.interpreters.arith import ARITH
from xrelay.interpreters.checked_index import compile_checked_index
from xrelay.interpreters.math import MATH
from xrelay.interpreters.scalar_meaning import ScalarCompiler, ScalarFunction

SCALAR_COMPILERS: dict[str, ScalarCompiler] = {
    **ARITH,
    **MATH,
    "topi.checked_index": compile_checked_index,
    "loop.checked_index": compile_checked_index,
}
"""The compilers of all ops that `compile_scalar` supports, by name."""


def is_scalar_op(op: Operation) -> bool:
    """Returns whether `compile_scalar` supports the op."""
    return op.name in SCALAR_COMPILERS


def compile_scalar(op: Operation) -> ScalarFunction:
    """Returns the function that computes `op`. Raises `InterpreterError` for an unsupported op."""
    compiler = SCALAR_COMPILERS.get(op.name)
    if compiler is None:
        raise InterpreterError(
            f"'{op.name}' has no meaning as a scalar op", help="arith and math ops with one result are known"
        )
    return compiler(op)
