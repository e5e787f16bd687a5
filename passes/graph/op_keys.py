"""Hashable keys of ops and blocks: equal keys mean programs that are equal up to the names of values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cache

from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, DictionaryAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, ParametrizedAttribute, SSAValue

from xrelay.dialects.relay.structure.weights import WeightAttr
from xrelay.dialects.shared.op_lists import ops_in

SAMPLES = 16
"""The approximate number of elements of a weight that are in its key."""


class OpKeys:
    """Keys of ops for one run of a pass. Equal attributes have one number, and each attribute object is hashed once.

    Hashing a type or property takes longer than the rest of a key, and ops share them.
    """

    def __init__(self) -> None:
        self._of_value: dict[Hashable, int] = {}
        self._of_object: dict[int, tuple[int, Attribute]] = {}
        """Numbers by `id`. The attribute is kept alive, so that no other object gets its id."""

    def of(self, op: Operation) -> Hashable:
        """Returns a key of the computation of `op` on its operands: its name, properties, attributes and result types.

        An op with regions has a key of its own.
        """
        return (self._does(op), id(op) if op.regions else None)

    def of_block(self, block: Block) -> Hashable:
        """Returns a key that two blocks share exactly if they perform the same computation in the same order.

        Types, attributes and the order of ops count, also in regions, which have no branches between blocks; names of
        values and source locations do not. Values from outside of the block count by identity.
        """
        numbers: dict[SSAValue, int] = {argument: number for number, argument in enumerate(block.args)}
        parts: list[Hashable] = [tuple(self._number(argument.type) for argument in block.args)]
        for op in ops_in(block):
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
        """Returns a key that equal attributes share in any order."""
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
        """Numbers the parts of `attribute`, then itself. Shared parts are visited once."""
        pending = [attribute]
        while pending:
            current = pending[-1]
            parts = _shared_parts(current)
            missing = [part for part in parts if id(part) not in self._of_object]
            if missing:
                pending += missing
                continue
            pending.pop()
            numbers = [self._of_object[id(part)][0] for part in parts]
            number = self._of_value.setdefault(_value(current, numbers), len(self._of_value))
            self._of_object[id(current)] = number, current
        return self._of_object[id(attribute)][0]


def _shared_parts(attribute: Attribute) -> Sequence[Attribute]:
    """Returns the parts of an attribute that other attributes may share; empty if it is hashed as a whole."""
    if _is_hashed(type(attribute)):
        return ()
    if isinstance(attribute, ArrayAttr):
        return attribute.data
    if isinstance(attribute, DictionaryAttr):
        return list(attribute.data.values())
    return attribute.parameters if isinstance(attribute, ParametrizedAttribute) else ()


@cache
def _is_hashed(kind: type[Attribute]) -> bool:
    """Whether attributes of a class are hashed as a whole."""
    shares = issubclass(kind, ArrayAttr | DictionaryAttr | ParametrizedAttribute)
    return not shares or issubclass(kind, TensorType | DenseIntOrFPElementsAttr)


def _value(attribute: Attribute, parts: Sequence[int]) -> Hashable:
    """Returns a key by which `attribute`, whose parts have these numbers, differs from all unequal attributes."""
    if isinstance(attribute, WeightAttr):
        return attribute, _sample(attribute)
    if isinstance(attribute, DictionaryAttr):
        return DictionaryAttr, tuple(sorted(zip(attribute.data, parts, strict=True)))
    return (type(attribute), *parts) if parts else attribute


def _sample(weight: WeightAttr) -> bytes:
    """Returns some elements of a weight. Many weights share name and shape, and a comparison reads all elements."""
    if not weight.data.is_resolved:
        return b""
    array = weight.data.array
    return array.flat[:: max(array.size // SAMPLES, 1)].tobytes()
