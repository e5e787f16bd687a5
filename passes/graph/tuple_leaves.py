"""The leaves of tuples: tensors in nested tuples, as types and as values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.errors import PassError

MAX_LEAVES = 1_000_000
"""The maximum number of types that are visited for the leaves of a tuple."""


def leaf_types(types: Sequence[Attribute]) -> list[Attribute]:
    """Returns `types` with each tuple replaced by the types of its leaves.

    Raises `PassError` for more than a million visited types, which a small type with shared fields can have.
    """
    found: list[Attribute] = []
    pending, steps = list(reversed(types)), 0
    while pending:
        type, steps = pending.pop(), steps + 1
        if steps > MAX_LEAVES:
            raise _too_many()
        if isinstance(type, TupleType):
            pending.extend(reversed(type.types.data))
        else:
            found.append(type)
    return found


def _too_many() -> PassError:
    return PassError(f"a tuple has more than {MAX_LEAVES} nested fields")


class TupleLeaves:
    """The leaves of tuple values, which are recorded in program order."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, tuple[SSAValue, ...]] = {}
        self._ends: dict[SSAValue, list[int]] = {}

    def record(self, value: SSAValue, leaves: Sequence[SSAValue]) -> None:
        """Records the leaves of the tuple `value`."""
        self._known[value] = tuple(leaves)

    def of(self, value: SSAValue) -> tuple[SSAValue, ...]:
        """Returns the leaves of a tuple, or `value` itself for any other type.

        Raises `KeyError` for a tuple that is not recorded.
        """
        known = self._known.get(value)
        if known is not None:
            return known
        if not isinstance(value.type, TupleType):
            return (value,)
        raise KeyError(value)

    def record_op(self, op: Operation) -> bool:
        """Records the leaves of the result if `op` is a tuple op; returns whether it is."""
        if isinstance(op, TupleOp):
            fields = [self.of(field) for field in op.fields]
            if sum(len(leaves) for leaves in fields) > MAX_LEAVES:
                raise _too_many()
            self.record(op.result, [leaf for leaves in fields for leaf in leaves])
        elif isinstance(op, TupleGetItemOp) and isinstance(op.data.type, TupleType):
            if op.data not in self._ends:
                self._ends[op.data] = list(accumulate(len(leaf_types([field])) for field in op.data.type.types))
            ends, index = self._ends[op.data], op.index.value.data
            self.record(op.result, self.of(op.data)[ends[index - 1] if index else 0 : ends[index]])
        else:
            return False
        return True


def rebuild(type: Attribute, leaves: Iterator[SSAValue]) -> tuple[SSAValue, list[Operation]]:
    """Returns a value of `type` from the next `leaves`, and the `relay.tuple` ops that create it, in order."""
    if not isinstance(type, TupleType):
        return next(leaves), []
    fields: list[SSAValue] = []
    ops: list[Operation] = []
    for field in type.types:
        value, made = rebuild(field, leaves)
        fields.append(value)
        ops.extend(made)
    ops.append(TupleOp.create(operands=fields, result_types=[type]))
    return ops[-1].results[0], ops


def take_apart(value: SSAValue, block: Block | None = None) -> tuple[list[SSAValue], list[Operation]]:
    """Returns the leaves of `value`, and the `relay.tuple_get_item` ops that extract them, in order.

    The operands of a `relay.tuple` are used directly, with a `block` only if the op is in that block.
    """
    leaves: list[SSAValue] = []
    ops: list[Operation] = []
    pending = [value]
    while pending:
        current = pending.pop()
        if not isinstance(current.type, TupleType):
            leaves.append(current)
        elif isinstance(made := current.owner, TupleOp) and block in (None, made.parent):
            pending.extend(reversed(made.operands))
        else:
            items = [TupleGetItemOp.call(current, index=index) for index in range(len(current.type.types))]
            ops.extend(items)
            pending.extend(item.result for item in reversed(items))
    return leaves, ops
