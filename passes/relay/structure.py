"""Equality of programs up to the names of values: a hashable key, made in one walk."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import count
from operator import itemgetter

from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.relay.constant import ConstantOp
from xrelay.dialects.relay.weights import WeightAttr

SAMPLES = 16
"""About how many elements of a weight its key holds."""


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
    distinct = id(op) if op.regions else _sample(op) if isinstance(op, ConstantOp) else None
    return (op.name, _items(op.properties), _items(op.attributes), op.result_types, distinct)


def _items(attributes: Mapping[str, Attribute]) -> tuple[tuple[str, Attribute], ...]:
    return tuple(sorted(attributes.items(), key=itemgetter(0))) if len(attributes) > 1 else tuple(attributes.items())


def _sample(constant: ConstantOp) -> bytes:
    """Some elements of a weight: many weights have one name and one shape, and comparing reads them whole."""
    if not isinstance(constant.value, WeightAttr) or not constant.value.data.is_resolved:
        return b""
    array = constant.value.data.array
    return array.flat[:: max(array.size // SAMPLES, 1)].tobytes()
