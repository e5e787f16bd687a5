"""Hides functions from passes that are to leave them alone."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Region

from xrelay.dialects.shared.attribute_names import COMPILER, EXTERN, SKIP_OPTIMIZATION

SKIP_MARKS = (SKIP_OPTIMIZATION, COMPILER, EXTERN)
"""Attributes of functions that are nobody's business in function passes."""


def is_skipped(function: FuncOp) -> bool:
    """Whether function passes leave `function` alone."""
    return any(mark in function.attributes for mark in SKIP_MARKS)


@contextmanager
def skipped_functions_hidden(module: ModuleOp) -> Generator[None]:
    """Let the functions of `module` that are to be left alone be declarations for the time of a `with` block."""
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    with bodies_hidden(module, [op for op in functions if is_skipped(op) and not op.is_declaration]):
        yield


@contextmanager
def bodies_hidden(module: ModuleOp, functions: Sequence[FuncOp]) -> Generator[Callable[[ModuleOp], None]]:
    """Let `functions` of `module` be declarations for the time of a `with` block.

    The block gets a function that gives the bodies to another module, which was made of this one, instead. A function
    that is not there any more comes back.
    """
    bodies = {function.sym_name.data: _exchange_body(function, Region()) for function in functions}
    originals = {function.sym_name.data: function.clone() for function in functions}

    def restore(made: ModuleOp) -> None:
        # A pass that takes back what it did puts others in the place of the functions.
        found = {op.sym_name.data: op for op in made.body.block.ops if isinstance(op, FuncOp)}
        for name in list(bodies):
            if name not in found:
                made.body.block.add_op(originals[name])
            _exchange_body(found.get(name, originals[name]), bodies.pop(name))

    try:
        yield restore
    finally:
        restore(module)


def _exchange_body(function: FuncOp, body: Region) -> Region:
    """Give a function another body; gives the one that it had."""
    old = function.detach_region(0)
    function.add_region(body)
    return old
