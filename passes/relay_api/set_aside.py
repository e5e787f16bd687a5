"""Hides functions from passes that are to leave them alone."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Region

from xrelay.dialects.attribute_names import COMPILER, EXTERN, SKIP_OPTIMIZATION

SKIP_MARKS = (SKIP_OPTIMIZATION, COMPILER, EXTERN)
"""Attributes of functions that are nobody's business in function passes."""


def is_skipped(function: FuncOp) -> bool:
    """Whether function passes leave `function` alone."""
    return any(mark in function.attributes for mark in SKIP_MARKS)


@contextmanager
def skipped_functions_hidden(module: ModuleOp) -> Generator[None]:
    """Let the functions of `module` that are to be left alone be declarations for the time of a `with` block."""
    bodies: dict[str, Region] = {}
    for function in module.body.block.ops:
        if isinstance(function, FuncOp) and is_skipped(function) and not function.is_declaration:
            bodies[function.sym_name.data] = _exchange_body(function, Region())
    try:
        yield
    finally:
        for function in module.body.block.ops if bodies else ():
            # A pass that takes back what it did puts others in the place of the functions.
            if isinstance(function, FuncOp) and (body := bodies.get(function.sym_name.data)) is not None:
                _exchange_body(function, body)


def _exchange_body(function: FuncOp, body: Region) -> Region:
    """Give a function another body; gives the one that it had."""
    old = function.detach_region(0)
    function.add_region(body)
    return old
