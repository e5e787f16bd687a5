"""Hides functions from passes that must leave them unchanged."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Region

from xrelay.dialects.shared.attribute_names import COMPILER, EXTERN, SKIP_OPTIMIZATION

SKIP_MARKS = (SKIP_OPTIMIZATION, COMPILER, EXTERN)
"""Attributes of functions that function passes skip."""


def is_skipped(function: FuncOp) -> bool:
    """Whether function passes skip `function`."""
    return any(mark in function.attributes for mark in SKIP_MARKS)


@contextmanager
def skipped_functions_hidden(module: ModuleOp) -> Generator[None]:
    """Turns the skipped functions of `module` into declarations for the duration of a `with` block."""
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    with bodies_hidden(module, [op for op in functions if is_skipped(op) and not op.is_declaration]):
        yield


@contextmanager
def bodies_hidden(module: ModuleOp, functions: Sequence[FuncOp]) -> Generator[Callable[[ModuleOp], None]]:
    """Turns `functions` of `module` into declarations for the duration of a `with` block.

    The context value is a function that restores the bodies in another module, which was created from this one. It also
    restores functions that are missing there.
    """
    bodies = {function.sym_name.data: _exchange_body(function, Region()) for function in functions}
    originals = {function.sym_name.data: function.clone() for function in functions}

    def restore(made: ModuleOp) -> None:
        # A pass that restores the module on failure replaces the functions with others.
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
    """Sets another body on a function; returns the old one."""
    old = function.detach_region(0)
    function.add_region(body)
    return old
