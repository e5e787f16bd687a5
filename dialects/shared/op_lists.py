"""The ops of a program as lists for read-only traversals, which are faster than walks, and the values that ops define.

A walk resumes a generator for every op. `isinstance` with a class of ops is slow because all these classes are abstract
in Python: it is ten times slower than a lookup of the class.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, TypeVar, cast

from xdsl.dialects.func import CallOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue

OpT = TypeVar("OpT", bound=Operation)


def all_ops(top: Operation) -> list[Operation]:
    """`top` and every op below it in program order, as a snapshot; use `walk_ops` if the traversal changes ops."""
    return _collect(first_ops(top), [top])


def ops_in(parent: Region | Block) -> list[Operation]:
    """Every op in a region or block, in the order of `all_ops`."""
    blocks = reversed(parent.blocks) if isinstance(parent, Region) else (parent,)
    return _collect([block.first_op for block in blocks], [])


def ops_at(block: Block) -> list[Operation]:
    """The ops of a block without those below them, as a snapshot."""
    return _Links.following(block.first_op)


def ops_of(top: Operation | Region | Block, *kinds: type[OpT]) -> list[OpT]:
    """The ops of these classes, or of derived classes, among `top` and all below it, in program order."""
    inside = ops_in(top) if isinstance(top, Region | Block) else all_ops(top)
    wanted = [kind for kind in set(map(type, inside)) if is_kind(kind, kinds)]
    return cast("list[OpT]", [op for op in inside if type(op) in wanted] if wanted else [])


def calls_by_callee(top: Operation) -> defaultdict[str, list[CallOp]]:
    """Returns the calls of each function in program order, by its symbol."""
    calls: defaultdict[str, list[CallOp]] = defaultdict(list)
    for call in ops_of(top, CallOp):
        calls[call.callee.string_value()].append(call)
    return calls


@cache
def is_kind(kind: type[Operation], kinds: tuple[type[Operation], ...]) -> bool:
    """Whether `kind` is one of `kinds` or derived from one.

    For a negative answer, `issubclass` of an abstract class queries and caches every derived class, which is slow for
    hundreds of op classes.
    """
    return any(each in kind.__mro__ for each in kinds)


def block_of(value: SSAValue) -> Block | None:
    """The block of the op that defines the value, or the block whose argument it is."""
    return value.owner.parent if isinstance(value.owner, Operation) else value.owner


def region_arguments(op: Operation) -> list[BlockArgument]:
    """Returns the arguments of all blocks of `op`'s regions."""
    return [argument for region in op.regions for block in region.blocks for argument in block.args]


def defined_values(op: Operation) -> Sequence[SSAValue]:
    """Returns the results of `op`, then the arguments of all blocks of its regions."""
    return [*op.results, *region_arguments(op)] if op.regions else op.results


def captures_in(top: Operation) -> Mapping[Operation, Sequence[SSAValue]]:
    """The values defined outside of an op that its regions use, for `top` and each op with regions in it.

    They are in the order of first use. Each op is visited once, inner ops first.
    """
    holders = [top]
    for op in holders:
        blocks = (block for region in op.regions for block in region.blocks)
        holders += [inner for block in blocks for inner in block.ops if inner.regions]
    found: dict[Operation, Sequence[SSAValue]] = {}
    for op in reversed(holders):
        own = {block: None for region in op.regions for block in region.blocks}
        inside = (inner for block in own for inner in block.ops)
        used = (value for inner in inside for value in (*inner.operands, *found.get(inner, ())))
        found[op] = [value for value in dict.fromkeys(used) if block_of(value) not in own]
    return found


def dependencies(op: Operation) -> list[Operation]:
    """The ops that `op` depends on: the owners of its operands, then the terminators of its regions."""
    owners = [value.op for value in op.operands if isinstance(value, OpResult)]
    ends = (block.last_op for region in op.regions for block in region.blocks)
    return [*owners, *(end for end in ends if end is not None)]


def first_ops(op: Operation) -> list[Operation | None]:
    """The first op of each block of an op's regions, last block first."""
    if len(op.regions) == 1 and (block := op.regions[0].first_block) is not None and block.next_block is None:
        return [block.first_op]
    return [block.first_op for region in reversed(op.regions) for block in reversed(region.blocks)]


class _Links(Operation):
    """Reads private fields of ops, since a property takes longer than the rest of a visit; never instantiated."""

    @staticmethod
    def collect(pending: list[Operation | None], found: list[Operation]) -> list[Operation]:
        """Appends to `found` the ops at and after those in `pending`, last entry first, with all ops below them."""
        while pending:
            op = pending.pop()
            while op is not None:
                found.append(op)
                following = op._next_op
                if op.regions:
                    pending.append(following)
                    pending += first_ops(op)
                    break
                op = following
        return found

    @staticmethod
    def following(op: Operation | None) -> list[Operation]:
        """Returns `op` and the ops after it in its block."""
        found: list[Operation] = []
        while op is not None:
            found.append(op)
            op = op._next_op
        return found


_collect: Final = _Links.collect
