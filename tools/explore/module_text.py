"""The text of a module that passes rewrite, printed again only if the module has changed."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.verify import walk_ops


class ModuleText:
    """Prints a module, and returns the same text until the module differs from the printed one.

    A comparison of modules takes a tenth of the time of printing. Most passes change nothing, and the module before a
    pass is usually that after the previous pass.
    """

    def __init__(self) -> None:
        self._contents: list[object] = []
        self._text = ""

    def of(self, module: ModuleOp) -> str:
        """Returns the text of `module`."""
        contents = list(_contents(module))
        if contents != self._contents:
            self._text = print_module(module)
            self._contents = contents
        return self._text


def _contents(module: ModuleOp) -> Iterator[object]:
    """Yields all that the text of `module` depends on; objects of the IR are equal only to themselves."""
    for op in walk_ops(module):
        yield op
        yield op.parent
        yield tuple(op.operands)
        yield tuple(op.successors)
        yield tuple(op.properties.items())
        yield tuple(op.attributes.items())
        yield from map(_named, op.results)
        yield from _blocks(op)


def _blocks(op: Operation) -> Iterator[object]:
    """Yields the blocks of an op by region, with their arguments."""
    for region in op.regions:
        blocks: tuple[Block, ...] = tuple(region.blocks)
        yield blocks
        for block in blocks:
            yield block.name_hint
            yield tuple(map(_named, block.args))


def _named(value: SSAValue) -> tuple[object, ...]:
    return value, value.type, value.name_hint
