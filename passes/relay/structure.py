"""Equality of programs up to the names of values: a hashable key, made in one walk."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import count

from xdsl.ir import Attribute, Block, Operation, SSAValue


def structure_key(block: Block) -> Hashable:
    """A key that two blocks share exactly when they compute the same in the same way.

    Types, attributes and the order of ops count; names of values and source locations do not. Values from outside the
    block count by identity. An op with regions is equal to itself alone.
    """
    numbers: dict[SSAValue, int] = {}
    fresh = count()
    for argument in block.args:
        numbers[argument] = next(fresh)
    ops: list[Hashable] = []
    for op in block.ops:
        ops.append((op_key(op), tuple(numbers.get(operand, operand) for operand in op.operands)))
        for result in op.results:
            numbers[result] = next(fresh)
    return (tuple(argument.type for argument in block.args), tuple(ops))


def op_key(op: Operation) -> Hashable:
    """What an op does with its operands: its name, properties, attributes and result types."""
    identity = id(op) if op.regions else None
    return (op.name, _items(op.properties.items()), _items(op.attributes.items()), tuple(op.result_types), identity)


def _items(attributes: Iterable[tuple[str, Attribute]]) -> tuple[tuple[str, Attribute], ...]:
    return tuple(sorted(attributes, key=lambda item: item[0]))
