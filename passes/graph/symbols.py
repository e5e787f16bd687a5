"""Symbols that ops refer to."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation

from xrelay.passes.infra.verify import walk_ops


def mentioned_symbols(op: Operation) -> Iterator[str]:
    """Yields the symbols that `op` and the ops in it refer to."""
    # A small attribute that shares parts can print as millions of parts, so each object is visited once.
    seen: dict[int, Attribute] = {}
    for inner in walk_ops(op):
        pending: list[Attribute] = [*inner.properties.values(), *inner.attributes.values()]
        while pending:
            attribute = pending.pop()
            if isinstance(attribute, SymbolRefAttr):
                yield attribute.root_reference.data
            elif isinstance(attribute, ArrayAttr | DictionaryAttr) and id(attribute) not in seen:
                seen[id(attribute)] = attribute
                pending.extend(attribute.data if isinstance(attribute, ArrayAttr) else attribute.data.values())
