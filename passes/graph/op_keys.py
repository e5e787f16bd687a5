"""Hashable keys of ops and blocks: equal keys mean programs that are equal up to the names of values."""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from enum import Enum, auto
from functools import cache
from typing import Final, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    MemRefType,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, ParametrizedAttribute, SSAValue

from xrelay.dialects.relay.structure.weights import WeightAttr
from xrelay.dialects.shared.op_lists import ops_in

SAMPLES = 16
"""The approximate number of elements of a weight that are in its key."""
_NO_PARTS: Final[Sequence[Attribute]] = ()


class OpKeys:
    """Keys of ops for one run of a pass. Equal attributes have one number, and each attribute object is hashed once.

    Hashing a type or property takes longer than the rest of a key, and ops share them.
    """

    def __init__(self) -> None:
        self._of_value: dict[Hashable, int] = {}
        self._of_object: dict[int, tuple[int, Attribute]] = {}
        """Numbers by `id`. The attribute is kept alive, so that no other object gets its id."""
        self._opened: dict[int, tuple[int, Attribute]] = {}

    def of(self, op: Operation) -> Hashable:
        """Returns a key of the computation of `op` on its operands: its name, properties, attributes and result types.

        An op with regions has a key of its own.
        """
        return (self._does(op), id(op) if op.regions else None)

    def of_block(self, block: Block, opened: Container[Operation] = ()) -> Hashable:
        """Returns a key that two blocks share exactly if they perform the same computation in the same order.

        Types, attributes and the order of ops count, also in regions, which have no branches between blocks; names of
        values and source locations do not. Values from outside of the block count by identity. Of the ops in `opened`,
        only the names and types count.
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
            does = (op.name, self._types(op)) if op in opened else self._does(op)
            parts.append((does, tuple(numbers.get(operand, operand) for operand in op.operands), *regions))
            for result in op.results:
                numbers[result] = len(numbers)
        return tuple(parts)

    def of_opened(self, type: Attribute) -> int:
        """Returns a key that buffers share if their types differ in constant extents alone."""
        known = self._opened.get(id(type))
        if known is None:
            key: Hashable = self._number(type)
            if isinstance(type, MemRefType):
                fixed = (type.element_type, type.layout, type.memory_space)
                key = (*map(self._number, fixed), *(size == DYNAMIC_INDEX for size in type.get_shape()))
            known = self._opened[id(type)] = self._of_value.setdefault((key, "opened"), len(self._of_value)), type
        return known[0]

    def of_attributes(self, attributes: Mapping[str, Attribute]) -> Hashable:
        """Returns a key that equal attributes share in any order."""
        return tuple(self._items(attributes)) if attributes else ()

    def _does(self, op: Operation) -> Hashable:
        return (op.name, *self._items(op.properties), None, *self._items(op.attributes), None, *self._types(op))

    def _types(self, op: Operation) -> tuple[int, ...]:
        return tuple([self._number(result.type) for result in op.results])

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
        known, pending = self._of_object, [attribute]
        while pending:
            current = pending[-1]
            form = _form(type(current))
            parts = _NO_PARTS if form is _Form.WHOLE else _shared_parts(current, form)
            missing = [part for part in parts if id(part) not in known] if parts else _NO_PARTS
            if missing:
                pending += missing
                continue
            pending.pop()
            value = _value(current, form, [known[id(part)][0] for part in parts])
            known[id(current)] = self._of_value.setdefault(value, len(self._of_value)), current
        return known[id(attribute)][0]


class _Form(Enum):
    """How attributes of a class are hashed: as a whole, or by the numbers of the parts that others may share."""

    WHOLE = auto()
    WEIGHT = auto()
    ARRAY = auto()
    DICTIONARY = auto()
    PARAMETERS = auto()


@cache
def _form(kind: type[Attribute]) -> _Form:
    """Returns the form of a class of attributes. To find it takes longer than the rest of a key."""
    if issubclass(kind, WeightAttr):
        return _Form.WEIGHT
    if issubclass(kind, TensorType | DenseIntOrFPElementsAttr) or not issubclass(
        kind, ArrayAttr | DictionaryAttr | ParametrizedAttribute
    ):
        return _Form.WHOLE
    if issubclass(kind, ArrayAttr):
        return _Form.ARRAY
    return _Form.DICTIONARY if issubclass(kind, DictionaryAttr) else _Form.PARAMETERS


def _shared_parts(attribute: Attribute, form: _Form) -> Sequence[Attribute]:
    """Returns the parts of an attribute that other attributes may share."""
    if form is _Form.PARAMETERS:
        return cast("ParametrizedAttribute", attribute).parameters
    if form is _Form.ARRAY:
        return cast("ArrayAttr[Attribute]", attribute).data
    return list(cast("DictionaryAttr", attribute).data.values()) if form is _Form.DICTIONARY else _NO_PARTS


def _value(attribute: Attribute, form: _Form, parts: Sequence[int]) -> Hashable:
    """Returns a key by which `attribute`, whose parts have these numbers, differs from all unequal attributes."""
    if form is _Form.WEIGHT:
        return attribute, _sample(cast("WeightAttr", attribute))
    if form is _Form.DICTIONARY:
        return DictionaryAttr, tuple(sorted(zip(cast("DictionaryAttr", attribute).data, parts, strict=True)))
    return (type(attribute), *parts) if parts else attribute


def _sample(weight: WeightAttr) -> bytes:
    """Returns some elements of a weight. Many weights share name and shape, and a comparison reads all elements."""
    if not weight.data.is_resolved:
        return b""
    array = weight.data.array
    return array.flat[:: max(array.size // SAMPLES, 1)].tobytes()
