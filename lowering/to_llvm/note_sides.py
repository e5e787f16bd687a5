"""Stores the two extents that a failing check compares, if the run computes one of them, for the error message.

    cf.assert %holds, "k == m" {relay.requires = #relay.requirements<k == m>}        with `%holds` = `icmp eq %k, %m`

fails through a block that stores `%k` and `%m` in the context. So does an assertion whose message has placeholders for
the values, such as `"the place is {lhs}"`. Extents that follow from named dimensions are not stored: the caller of the
model has their sizes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from xdsl.dialects import cf, llvm
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import BlockInsertPoint, Rewriter

from xrelay.dialects.shared.attribute_names import REQUIRES
from xrelay.dialects.shared.requirements_attr import RequirementsAttr
from xrelay.index_algebra.requirement import LHS, RHS, AtLeast, Broadcasts, Equal, Requirement
from xrelay.lowering.to_llvm.constants import constant
from xrelay.lowering.to_llvm.note_index import MARK

SIDES: Final = 3
"""The mark of two extents (`Noted` in `runtime/abi.py`)."""
_PREDICATES: Final[Mapping[type[Requirement], llvm.ICmpPredicateFlag]] = {
    AtLeast: llvm.ICmpPredicateFlag.SGE,
    Broadcasts: llvm.ICmpPredicateFlag.EQ,
    Equal: llvm.ICmpPredicateFlag.EQ,
}


def made_sides(op: cf.AssertOp, names: Collection[str]) -> tuple[SSAValue, SSAValue] | None:
    """Returns the compared values if the message has placeholders, or the requirement has names not in `names`."""
    requires, comparison = op.attributes.get(REQUIRES), _first_comparison(op.arg)
    if not isinstance(comparison, llvm.ICmpOp) or comparison.lhs.type != i64:
        return None
    if LHS in op.msg.data or RHS in op.msg.data:
        return comparison.lhs, comparison.rhs
    if not isinstance(requires, RequirementsAttr) or len(requires.data) != 1:
        return None
    (requirement,) = requires.data
    if requirement.names <= set(names):
        return None
    wanted = _PREDICATES.get(type(requirement))
    found = llvm.ICmpPredicateFlag.from_int(comparison.predicate.value.data)
    return (comparison.lhs, comparison.rhs) if found is wanted else None


def _first_comparison(value: SSAValue) -> Operation | Block:
    """Returns the definition of `value`, or of the first operand of an `or`: broadcast extents are equal, or 1."""
    owner = value.owner
    while isinstance(owner, llvm.OrOp):
        owner = owner.lhs.owner
    return owner


def note_sides(context: SSAValue, sides: tuple[SSAValue, SSAValue], exit: Block) -> Block:
    """Returns a block before `exit` that stores the values and passes the status on."""
    block = Block(arg_types=[i32])
    block.args[0].name_hint = "status"
    mark = constant(SIDES, i64)
    ops: list[Operation] = [mark]
    for place, value in ((MARK, mark.result), (MARK + 2, sides[0]), (MARK + 3, sides[1])):
        pointer = llvm.GEPOp(context, [place], i64, inbounds=True)
        ops += [pointer, llvm.StoreOp(value, pointer.result)]
    block.add_ops([*ops, llvm.BrOp(exit, block.args[0])])
    Rewriter.insert_block(block, BlockInsertPoint.before(exit))
    return block
