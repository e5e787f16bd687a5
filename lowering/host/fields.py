"""The fields of the results of branches and loops, and the extents that branches and loops introduce."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.requirements import new_extents
from xrelay.dialects.shared.types import dims_in, shape_of
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import Dim, symbol
from xrelay.lowering.host.code import HostCode
from xrelay.lowering.host.signature import is_container, memref_of

Origins = Mapping[str, tuple[int, int]]
"""Maps names of extents to a field and an axis that has the name."""


def yielded_fields(block: Block, op: Operation) -> Sequence[SSAValue]:
    """Returns the values that a region of `op` yields; for a tuple, its fields."""
    value = block.last_op.operands[0] if block.last_op is not None else None
    if value is None or (isinstance(value.type, TupleType) and not isinstance(value.owner, TupleOp)):
        raise LoweringError(
            "a region yields a tuple that is defined outside of it",
            location=describe_location(op),
            help="run relay-outline-fused before",
        )
    return value.owner.operands if isinstance(value.owner, TupleOp) else [value]


def field_types(type: Attribute) -> Sequence[Attribute]:
    """Returns the types of the fields of a tuple; for another type, the type itself."""
    return type.types.data if isinstance(type, TupleType) else [type]


def new_names(op: Operation) -> frozenset[str]:
    """Returns the names of extents that `op` introduces."""
    return frozenset(extent.name for extent in new_extents(op))


def has_names(type: Attribute, names: frozenset[str]) -> bool:
    """Whether an extent of `type` contains one of `names`."""
    return any(not dim.names.isdisjoint(names) for dim in dims_in(type))


def origins_of(names: Iterable[str], types: Sequence[Attribute], op: Operation) -> Origins:
    """Maps each of `names` to a place in `types` at which the name alone is the extent.

    Raises `LoweringError` for a name that is only part of an expression.
    """
    found: dict[str, tuple[int, int]] = {}
    wanted = {symbol(name): name for name in names}
    for index, type in enumerate(types):
        for axis, dim in enumerate(() if is_container(type) else shape_of(type)):
            if dim in wanted:
                found.setdefault(wanted[dim], (index, axis))
    for name in {name for type in types for dim in dims_in(type) for name in dim.names} & set(names) - found.keys():
        raise LoweringError(
            f"no axis of the result has the extent {name} alone",
            location=describe_location(op),
            help="use a name for each varying extent in the types",
        )
    return found


def dims_at(origins: Origins, values: Sequence[SSAValue]) -> list[Dim]:
    """Returns the extents of `values` at these places."""
    return [shape_of(values[index].type)[axis] for index, axis in origins.values()]


def field_takes_destination(value: SSAValue, code: HostCode) -> bool:
    """Whether `value` is a field of a branch or loop whose size is known before."""
    maker = value.owner.data.owner if isinstance(value.owner, TupleGetItemOp) else value.owner
    return isinstance(maker, IfOp | LoopOp) and not has_names(value.type, new_names(maker))


def destination(op: IfOp | LoopOp, index: int, code: HostCode) -> SSAValue | None:
    """Returns the buffer that the field `index` of the result of `op` is assigned to, or None."""
    values = _field_values(op, index)
    return next((code.buffers[value] for value in values if value in code.buffers), None)


def field_buffer(op: IfOp | LoopOp, index: int, type: Attribute, code: HostCode) -> SSAValue:
    """Returns the destination of the field `index` of the result of `op`, or a new buffer."""
    assigned = destination(op, index, code)
    if assigned is not None:
        return assigned
    return code.allocate(type, next((value.name_hint for value in _field_values(op, index)), None))


def record_fields(op: IfOp | LoopOp, buffers: Sequence[SSAValue], code: HostCode) -> None:
    """Records the buffers of the fields of the result of `op`."""
    if isinstance(op.result.type, TupleType):
        code.fields[op.result] = buffers
    else:
        code.buffers[op.result] = buffers[0]


def cast_to_yielded(buffer: SSAValue, value: SSAValue, code: HostCode) -> SSAValue:
    """Returns a buffer of a field with the type of the yielded value, which may have a number instead of a name.

    An assertion before any write checks that both are equal.
    """
    cast = code.cast(buffer, memref_of(value.type, code.source))
    return cast if cast is buffer else code.with_dims(cast, list(dims_in(value.type)))


def _field_values(op: IfOp | LoopOp, index: int) -> list[SSAValue]:
    """Returns the values that are field `index` of the result of `op`."""
    if not isinstance(op.result.type, TupleType):
        return [op.result]
    users = [use.operation for use in op.result.uses]
    return [user.result for user in users if isinstance(user, TupleGetItemOp) and user.index.value.data == index]
