"""Fast construction and copies of ops: equal to xDSL's constructors, without their checks.

A compilation makes about ten thousand ops, and `Operation.create` takes twice as long as setting the fields: it
searches for uses of operands that a new op cannot have, for successors and regions that few ops have, and for the
defaults in the op's definition, which are equal for all ops of a class. The result equals the op that xDSL makes,
including the order of uses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, TypeVar, cast

from xdsl.dialects.builtin import LocationAttr, UnknownLoc
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, SSAValues, Use
from xdsl.irdl import IRDLOperation, OptionalDef

OpT = TypeVar("OpT", bound=Operation)

UNKNOWN: Final = UnknownLoc()
"""The location of ops without a source location."""
_NOTHING: Final[Mapping[str, Attribute]] = {}


def make(
    kind: type[OpT],
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] = _NOTHING,
    successors: Sequence[Block] = (),
    location: LocationAttr = UNKNOWN,
) -> OpT:
    """Makes an op without regions, like `kind.create`."""
    op, content = kind.__new__(kind), dict(properties)
    for name, value in _defaults(kind):
        content.setdefault(name, value)
    _Fields.fill(op, result_types, content, {}, location)
    if operands:
        _Fields.read(op, SSAValues(operands))
    if successors:
        op.successors = successors
    return op


@cache
def _defaults(kind: type[Operation]) -> tuple[tuple[str, Attribute], ...]:
    """The default properties of ops of a class."""
    definitions = kind.get_irdl_definition().properties if issubclass(kind, IRDLOperation) else {}
    return tuple(
        (name, each.default_value)
        for name, each in definitions.items()
        if each.default_value is not None and not isinstance(each, OptionalDef)
    )


def append(block: Block, op: Operation) -> None:
    """Adds a detached op to the end of a block, like `Block.add_op`."""
    if op.regions or op.parent is not None:
        block.add_op(op)  # with all checks
    else:
        _Ends.append(block, op)


def copy(op: OpT, values: dict[SSAValue, SSAValue] | None = None) -> OpT:
    """A copy of `op`; see `copies`."""
    return cast("OpT", copies([op], {} if values is None else values)[0])


def copies(ops: Sequence[Operation], values: dict[SSAValue, SSAValue]) -> list[Operation]:
    """Copies `ops` with everything inside, like `Operation.clone`.

    Operands that are keys of `values` are replaced by its values; the results and block arguments of the copies are
    added to it. Blocks must not branch out of `ops`, and no copied op may use a value of a later one.
    """
    pairs: list[tuple[Operation, Operation]] = []
    found = [_copied(op, values, {}, pairs) for op in ops]
    for old, new in pairs:
        _Fields.read_alike(new, old, values)
    return found


def _copied(
    op: Operation,
    values: dict[SSAValue, SSAValue],
    blocks: dict[Block, Block],
    pairs: list[tuple[Operation, Operation]],
) -> Operation:
    """Copies an op without operands, and appends it to `pairs` before the ops inside."""
    new = type(op).__new__(type(op))
    types = [result.type for result in op.results]
    _Fields.fill(new, types, op.properties.copy(), op.attributes.copy(), op.location)
    for old_result, result in zip(op.results, new.results, strict=True):
        values[old_result] = result
        if old_result.name_hint is not None:
            result.name_hint = old_result.name_hint
    if op.successors:
        new.successors = [blocks.get(successor, successor) for successor in op.successors]
    pairs.append((op, new))
    for region in op.regions:
        new.add_region(_copied_region(region, values, blocks, pairs))
    return new


def _copied_region(
    region: Region,
    values: dict[SSAValue, SSAValue],
    blocks: dict[Block, Block],
    pairs: list[tuple[Operation, Operation]],
) -> Region:
    made: list[tuple[Block, Block]] = []
    for block in region.blocks:
        new = Block(arg_types=block.arg_types)
        for old_argument, argument in zip(block.args, new.args, strict=True):
            values[old_argument] = argument
            argument.location = old_argument.location
            if old_argument.name_hint is not None:
                argument.name_hint = old_argument.name_hint
        blocks[block] = new
        made.append((block, new))
    for block, new in made:
        for op in block.ops:
            append(new, _copied(op, values, blocks, pairs))
    return Region([new for _, new in made])


class _Ends(Block):
    """Sets private fields of blocks; never instantiated."""

    @staticmethod
    def append(block: Block, op: Operation) -> None:
        """Adds an op without a parent."""
        last = block._last_op
        _Fields.link(last, op)
        op.parent, block._last_op = block, op
        if last is None:
            block._first_op = op


class _Fields(Operation):
    """Sets private fields of new ops; never instantiated."""

    @staticmethod
    def fill(
        op: Operation,
        result_types: Sequence[Attribute],
        properties: dict[str, Attribute],
        attributes: dict[str, Attribute],
        location: LocationAttr,
    ) -> None:
        """Sets all fields except operands, successors and regions."""
        op.results = SSAValues([OpResult(type, op, number) for number, type in enumerate(result_types)])
        op.properties, op.attributes, op.location = properties, attributes, location

    @staticmethod
    def link(last: Operation | None, op: Operation) -> None:
        """Sets the links of an op after the last one of a block."""
        op._prev_op = last
        if last is not None:
            last._next_op = op

    @staticmethod
    def read(op: Operation, operands: SSAValues[SSAValue]) -> None:
        """Sets the operands of a new op."""
        op._operands = operands
        op._operand_uses = uses = tuple([Use(op, number) for number in range(len(operands))])
        for operand, use in zip(operands, uses, strict=True):
            operand.add_use(use)

    @staticmethod
    def read_alike(op: Operation, old: Operation, values: Mapping[SSAValue, SSAValue]) -> None:
        """Sets the operands of a new op to those of `old`, replaced by `values`."""
        if old._operands:
            _Fields.read(op, SSAValues([values.get(operand, operand) for operand in old._operands]))
