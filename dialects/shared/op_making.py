"""Makes ops from what they consist of, and copies them: what xDSL's constructors do, without their questions.

A compilation makes some ten thousand ops, and `Operation.create` takes twice as long as to set the fields of one: it
looks for uses of operands that a new op cannot have, for successors and regions that few have, and for defaults in the
definition of the op, which are the same for all of its class. The result is the op that xDSL makes, to the order of
uses.
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
"""The location of what has none."""
_NOTHING: Final[Mapping[str, Attribute]] = {}


def make(
    kind: type[OpT],
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] = _NOTHING,
    successors: Sequence[Block] = (),
    location: LocationAttr = UNKNOWN,
) -> OpT:
    """An op without regions, as `kind.create` makes it."""
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
    """The properties that an op of this class has where nobody says otherwise."""
    definitions = kind.get_irdl_definition().properties if issubclass(kind, IRDLOperation) else {}
    return tuple(
        (name, each.default_value)
        for name, each in definitions.items()
        if each.default_value is not None and not isinstance(each, OptionalDef)
    )


def copy(op: OpT, values: dict[SSAValue, SSAValue] | None = None) -> OpT:
    """A copy of `op`; see `copies`."""
    return cast("OpT", copies([op], {} if values is None else values)[0])


def copies(ops: Sequence[Operation], values: dict[SSAValue, SSAValue]) -> list[Operation]:
    """Copies of `ops` with all that is inside, as `Operation.clone` makes them.

    What reads a key of `values` reads its value; the results and block arguments of the copies are added. Blocks do not
    branch out of `ops`, nor values of a copy go to one that stands before it.
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
    """A copy of an op that reads nothing yet, noted in `pairs` before what is inside."""
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
            new.add_op(_copied(op, values, blocks, pairs))
    return Region([new for _, new in made])


class _Fields(Operation):
    """Sets the fields of new ops, which are theirs alone to set; there is no such op."""

    @staticmethod
    def fill(
        op: Operation,
        result_types: Sequence[Attribute],
        properties: dict[str, Attribute],
        attributes: dict[str, Attribute],
        location: LocationAttr,
    ) -> None:
        """All but what `op` reads, where it branches to, and what is in it."""
        op.results = SSAValues([OpResult(type, op, number) for number, type in enumerate(result_types)])
        op.properties, op.attributes, op.location = properties, attributes, location

    @staticmethod
    def read(op: Operation, operands: SSAValues[SSAValue]) -> None:
        """Lets a new op read `operands`."""
        op._operands = operands
        op._operand_uses = uses = tuple([Use(op, number) for number in range(len(operands))])
        for operand, use in zip(operands, uses, strict=True):
            operand.add_use(use)

    @staticmethod
    def read_alike(op: Operation, old: Operation, values: Mapping[SSAValue, SSAValue]) -> None:
        """Lets a new op read what `values` say of the operands of `old`."""
        if old._operands:
            _Fields.read(op, SSAValues([values.get(operand, operand) for operand in old._operands]))
