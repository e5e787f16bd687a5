"""Meaning of the scalar ops (`arith`, `math`, checked indices), shared by the interpreters of topi and loop.

`compile_scalar(op)` gives a function of the op's operand values that returns the op's result. It works on numpy
scalars and, elementwise, on arrays. Attributes and types are looked at once, when compiling.
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
"""Every op that `compile_scalar` knows, by name."""


def is_scalar_op(op: Operation) -> bool:
    """Whether `compile_scalar` knows the op."""
    return op.name in SCALAR_COMPILERS


def compile_scalar(op: Operation) -> ScalarFunction:
    """The function that computes `op`; `InterpreterError` for an op that is not a known scalar op."""
    compiler = SCALAR_COMPILERS.get(op.name)
    if compiler is None:
        raise InterpreterError(
            f"'{op.name}' has no meaning as a scalar op", help="arith and math ops with one result are known"
        )
    return compiler(op)
