"""The values that a loop of a graph function carries from one iteration to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.relay.structure.constant import ConstantOp, elements_of_constant
from xrelay.dialects.relay.structure.loop import LoopOp, own_names
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.types import element_type_of, shape_of, tensor_type
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import Dim, Selection, Symbol, names_of, single_atom
from xrelay.lowering.host.fields import Origins, field_types, has_names, made_names, origins_of, yielded_fields
from xrelay.lowering.host.holder_types import holder_of, is_container, memref_of


@dataclass(frozen=True)
class LoopState:
    """The values that the `scf.while` carries."""

    number: SSAValue
    """The number of the iteration."""
    buffers: Sequence[SSAValue]
    """The carried values whose extents vary, and lists."""
    stacks: Sequence[SSAValue]
    """The stacks whose size only the loop determines."""
    sizes: Sequence[SSAValue]
    """The extents that the names of the arguments stand for."""
    rows: Sequence[SSAValue]
    """The extents of the rows of stacks that only the first iteration determines."""
    capacity: Sequence[SSAValue]
    """The number of rows that the stacks have memory for; empty without stacks."""

    @property
    def values(self) -> list[SSAValue]:
        """All values, in order."""
        return [self.number, *self.buffers, *self.stacks, *self.sizes, *self.rows, *self.capacity]


@dataclass(frozen=True)
class LoopPlan:
    """How a loop carries its values and stacks, which are numbered as the fields of its result."""

    op: LoopOp
    types: Sequence[Attribute]
    """The types of the fields."""
    varying: Sequence[int]
    """The carried values that are lists, or have a buffer of their own in each iteration."""
    growing: Sequence[int]
    """The stacks whose size only the loop determines."""
    names: Origins
    """Where the arguments have the names of the arguments."""
    made: Origins
    """Where the result has the names that the loop introduces, except names of rows only."""
    rows: Mapping[Dim, tuple[int, int]]
    """The fields and axes of the extents of rows that only the first iteration determines."""

    @staticmethod
    def of(op: LoopOp) -> LoopPlan:
        """Returns the plan for `op`.

        Raises `LoweringError` for rows with an extent that is neither a name nor a broadcast of names.
        """
        arguments = [argument.type for argument in op.carried]
        own, made = own_names(arguments, [value.type for value in op.initial]), made_names(op)
        types, count = field_types(op.result.type), len(arguments)
        varying = [index for index, type in enumerate(arguments) if has_names(type, own) or is_container(type)]
        growing = [index for index in range(count, len(types)) if has_names(types[index], made)]
        rows: dict[Dim, tuple[int, int]] = {}
        for index in growing:
            for axis, dim in enumerate(shape_of(types[index])):
                if axis and not names_of(dim).isdisjoint(made):
                    rows.setdefault(dim, (index, axis))
        if any(row_names(dim) is None for dim in rows):
            raise LoweringError(
                "the extents of stacked rows are only known within an iteration",
                location=describe_location(op),
                help="interpret the program",
            )
        # The extents of rows are in `rows`.
        outer = [type if index < count else _numbers_of_rows(type) for index, type in enumerate(types)]
        names, origins = origins_of(sorted(own), arguments, op), origins_of(sorted(made), outer, op)
        return LoopPlan(op, types, varying, growing, names, origins, rows)

    @property
    def fixed(self) -> list[int]:
        """The fields whose size is known before the loop."""
        return [index for index in range(len(self.types)) if index not in (*self.varying, *self.growing)]

    @property
    def may_not_run(self) -> bool:
        """Whether the loop may have no iteration, so that an error in its body is no error of the loop."""
        count = None if self.op.trip_count is None else self.op.trip_count.owner
        known = elements_of_constant(count) if isinstance(count, ConstantOp) else None
        least = None if known is None else known[0]
        return self.op.condition is not None or not isinstance(least, int) or least < 1

    @property
    def stacked(self) -> list[Attribute]:
        """The types of the stacks that grow."""
        return [self.types[index] for index in self.growing]

    @property
    def state_types(self) -> list[Attribute]:
        """The types of the values that the `scf.while` carries."""
        buffers = [holder_of(self.op.carried[index].type, self.op) for index in self.varying]
        stacks = [stack_type(type, self.op) for type in self.stacked]
        sizes = len(self.names) + len(self.rows) + bool(stacks)
        return [IndexType(), *buffers, *stacks, *[IndexType()] * sizes]

    def state(self, values: Sequence[SSAValue]) -> LoopState:
        """Returns the values that the `scf.while` carries by their meaning."""
        ends = [1]
        for group in (self.varying, self.growing, self.names, self.rows):
            ends.append(ends[-1] + len(group))
        buffers, stacks, sizes, rows = (values[begin:end] for begin, end in pairwise(ends))
        return LoopState(values[0], buffers, stacks, sizes, rows, values[ends[-1] :])


def next_values(op: LoopOp) -> Sequence[SSAValue]:
    """Returns the values that the body yields for the carried values and stacks."""
    return yielded_fields(op.body.block, op)[int(op.condition is not None) :]


def row_names(dim: Dim) -> Sequence[str] | None:
    """Returns the name that an extent of rows is, or the names that it broadcasts; None for another extent."""
    atom = single_atom(dim)
    if isinstance(atom, Selection) and atom.kind == "broadcast":
        parts = [single_atom(part) for part in atom.parts]
    else:
        parts = [atom]
    names = [part.name for part in parts if isinstance(part, Symbol)]
    return names if len(names) == len(parts) else None


def stack_type(type: Attribute, op: Operation) -> MemRefType:
    """Returns the type of the buffer of a stack of `type` while it grows."""
    full = memref_of(type, op)
    return MemRefType(full.element_type, [DYNAMIC_INDEX, *full.get_shape()[1:]])


def _numbers_of_rows(type: Attribute) -> Attribute:
    """Returns the type of a stack of scalars with as many rows as a stack of `type`."""
    return tensor_type(shape_of(type)[:1], element_type_of(type))
