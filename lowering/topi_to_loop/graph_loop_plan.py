"""What a loop of the graph function carries from one iteration to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.structure.constant import ConstantOp, elements_of_constant
from xrelay.dialects.relay.structure.loop import LoopOp, own_names
from xrelay.dialects.shared.locations import describe_place
from xrelay.dialects.shared.types import element_type_of, shape_of, tensor_type
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import Dim, Selection, Symbol, names_of, single_atom
from xrelay.lowering.topi_to_loop.function_lowering import holder_of, is_container, memref_of
from xrelay.lowering.topi_to_loop.graph_regions import Origins, field_types, has_names, made_names, origins_of


@dataclass(frozen=True)
class LoopState:
    """What the `scf.while` carries."""

    number: SSAValue
    buffers: Sequence[SSAValue]
    """Of the carried values that vary."""
    stacks: Sequence[SSAValue]
    """Of which only the loop tells how large they are."""
    sizes: Sequence[SSAValue]
    """Of the names of the arguments."""
    rows: Sequence[SSAValue]
    """The extents of the rows of stacks that only the first iteration tells."""
    room: Sequence[SSAValue]
    """How many rows the stacks have room for; nothing where there are none."""

    @property
    def values(self) -> list[SSAValue]:
        """All of it, in order."""
        return [self.number, *self.buffers, *self.stacks, *self.sizes, *self.rows, *self.room]


@dataclass(frozen=True)
class LoopPlan:
    """How a loop carries its values and stacks, which it numbers together: the fields of its result."""

    op: LoopOp
    types: Sequence[Attribute]
    """Of the fields."""
    varying: Sequence[int]
    """The carried values that are lists, or buffers of their own in each iteration."""
    growing: Sequence[int]
    """The stacks of which only the loop tells how large they are."""
    names: Origins
    """Where the names of the arguments are in the arguments."""
    made: Origins
    """Where the names that the loop makes are in the result, but for those that only rows have."""
    rows: Mapping[Dim, tuple[int, int]]
    """Where the extents are, by fields and axes, of rows of which only the first iteration tells how large they are."""

    @staticmethod
    def of(op: LoopOp) -> LoopPlan:
        """The plan for `op`; `LoweringError` for rows whose extents are no names, and not what names broadcast to."""
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
            raise LoweringError("rows are stacked whose extents only an iteration tells",
                                location=describe_place(op), help="interpret the program")  # fmt: skip
        # A stack without its rows: how many there are.
        outer = [type if index < count else leading(type) for index, type in enumerate(types)]
        names, origins = origins_of(sorted(own), arguments, op), origins_of(sorted(made), outer, op)
        return LoopPlan(op, types, varying, growing, names, origins, rows)

    @property
    def may_not_run(self) -> bool:
        """Whether the loop may have no iteration: then what is wrong in its body is no error."""
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
        """The types of what the `scf.while` carries."""
        buffers = [holder_of(self.op.carried[index].type, self.op) for index in self.varying]
        stacks = [stack_type(type, self.op) for type in self.stacked]
        sizes = len(self.names) + len(self.rows) + bool(stacks)
        return [IndexType(), *buffers, *stacks, *[IndexType()] * sizes]

    def state(self, values: Sequence[SSAValue]) -> LoopState:
        """What the values that the `scf.while` carries are."""
        ends = [1]
        for part in (self.varying, self.growing, self.names, self.rows):
            ends.append(ends[-1] + len(part))
        buffers, stacks, sizes, rows = (values[begin:end] for begin, end in pairwise(ends))
        return LoopState(values[0], buffers, stacks, sizes, rows, values[ends[-1] :])


def row_names(dim: Dim) -> Sequence[str] | None:
    """The names of which an extent of rows is one, or what they broadcast to; `None` for another extent."""
    atom = single_atom(dim)
    if isinstance(atom, Selection) and atom.kind == "broadcast":
        parts = [single_atom(part) for part in atom.parts]
    else:
        parts = [atom]
    names = [part.name for part in parts if isinstance(part, Symbol)]
    return names if len(names) == len(parts) else None


def leading(type: Attribute) -> Attribute:
    """A stack of numbers, as many as there are rows in a stack of `type`."""
    return tensor_type(shape_of(type)[:1], element_type_of(type))


def stack_type(type: Attribute, op: LoopOp) -> MemRefType:
    """The type of the buffer of a stack of `type` while it grows."""
    full = memref_of(type, op)
    return MemRefType(full.element_type, [DYNAMIC_INDEX, *full.get_shape()[1:]])
