"""The symbols that ops refer to."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation

from xrelay.passes.infra.verify import walk_ops


def mentioned_symbols(op: Operation) -> Iterator[str]:
    """The symbols that `op` and the ops in it refer to."""
    for inner in walk_ops(op):
        pending: list[Attribute] = [*inner.properties.values(), *inner.attributes.values()]
        while pending:
            match pending.pop():
                case SymbolRefAttr() as symbol:
                    yield symbol.root_reference.data
                case ArrayAttr() as array:
                    pending.extend(array.data)
                case DictionaryAttr() as entries:
                    pending.extend(entries.data.values())
                case _:
                    pass
