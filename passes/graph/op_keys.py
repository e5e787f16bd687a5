"""Hashable keys of ops and blocks: equal keys mean equal programs up to the names of values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import count

from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, DictionaryAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, ParametrizedAttribute, SSAValue

from xrelay.dialects.relay.structure.weights import WeightAttr

SAMPLES = 16
"""About how many elements of a weight its key holds."""


class OpKeys:
    """Keys of ops for one pass: equal attributes have one number, and only new objects are looked up by their value.

    Hashing a type or a property takes longer than all else that a key needs, and programs share them.
    """

    def __init__(self) -> None:
        self._of_value: dict[Hashable, int] = {}
        self._of_object: dict[int, tuple[int, Attribute]] = {}
        """By `id`; the attribute is kept, so that no other can have the same."""

    def of(self, op: Operation) -> Hashable:
        """What `op` does with its operands: its name, properties, attributes and result types."""
        return (self._does(op), id(op) if op.regions else None)

    def of_block(self, block: Block) -> Hashable:
        """A key that two blocks share exactly when they compute the same in the same way.

        Types, attributes and the order of ops count; names of values and source locations do not. Values from outside
        the block count by identity. An op with regions is equal to itself alone.
        """
        numbers: dict[SSAValue, int] = {}
        fresh = count()
        for argument in block.args:
            numbers[argument] = next(fresh)
        ops: list[Hashable] = []
        for op in block.ops:
            ops.append((self.of(op), tuple(numbers.get(operand, operand) for operand in op.operands)))
            for result in op.results:
                numbers[result] = next(fresh)
        return (tuple(self._number(argument.type) for argument in block.args), tuple(ops))

    def of_nest(self, block: Block) -> Hashable:
        """As `of_block`, but an op with regions counts by what is in them. There are no branches between blocks."""
        numbers: dict[SSAValue, int] = {argument: number for number, argument in enumerate(block.args)}
        parts: list[Hashable] = [tuple(self._number(argument.type) for argument in block.args)]
        for op in (inner for outer in block.ops for inner in outer.walk()):
            regions: list[Hashable] = []
            for region in op.regions:
                regions.append(len(region.blocks))
                for inside in region.blocks:
                    regions.append((len(inside.ops), tuple(self._number(type) for type in inside.arg_types)))
                    for argument in inside.args:
                        numbers[argument] = len(numbers)
            parts.append((self._does(op), tuple(numbers.get(operand, operand) for operand in op.operands), *regions))
            for result in op.results:
                numbers[result] = len(numbers)
        return tuple(parts)

    def of_attributes(self, attributes: Mapping[str, Attribute]) -> Hashable:
        """A key that equal attributes share, in whatever order they come."""
        return tuple(self._items(attributes))

    def _does(self, op: Operation) -> Hashable:
        types = [self._number(result.type) for result in op.results]
        return (op.name, *self._items(op.properties), None, *self._items(op.attributes), None, *types)

    def _items(self, attributes: Mapping[str, Attribute]) -> list[Hashable]:
        items: list[Hashable] = []
        for name in sorted(attributes) if len(attributes) > 1 else attributes:
            items += (name, self._number(attributes[name]))
        return items

    def _number(self, attribute: Attribute) -> int:
        known = self._of_object.get(id(attribute))
        return self._number_parts(attribute) if known is None else known[0]

    def _number_parts(self, attribute: Attribute) -> int:
        """Number what `attribute` consists of, then itself: parts that it shares are looked at once."""
        pending = [attribute]
        while pending:
            current = pending[-1]
            parts = _parts(current)
            missing = [part for part in parts if id(part) not in self._of_object]
            if missing:
                pending += missing
                continue
            pending.pop()
            numbers = [self._of_object[id(part)][0] for part in parts]
            number = self._of_value.setdefault(_value(current, numbers), len(self._of_value))
            self._of_object[id(current)] = number, current
        return self._of_object[id(attribute)][0]


def _parts(attribute: Attribute) -> Sequence[Attribute]:
    """The attributes in one that may share them; none for what is hashed as a whole."""
    if isinstance(attribute, ArrayAttr):
        return attribute.data
    if isinstance(attribute, DictionaryAttr):
        return list(attribute.data.values())
    if isinstance(attribute, ParametrizedAttribute) and not isinstance(
        attribute, TensorType | DenseIntOrFPElementsAttr
    ):
        return attribute.parameters
    return ()


def _value(attribute: Attribute, parts: Sequence[int]) -> Hashable:
    """What tells `attribute`, whose parts have these numbers, from all that are not equal to it."""
    if isinstance(attribute, WeightAttr):
        return attribute, _sample(attribute)
    if isinstance(attribute, DictionaryAttr):
        return DictionaryAttr, tuple(sorted(zip(attribute.data, parts, strict=True)))
    return (type(attribute), *parts) if parts else attribute


def _sample(weight: WeightAttr) -> bytes:
    """Some elements of a weight: many weights have one name and one shape, and comparing reads them whole."""
    if not weight.data.is_resolved:
        return b""
    array = weight.data.array
    return array.flat[:: max(array.size // SAMPLES, 1)].tobytes()
