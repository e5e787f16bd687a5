"""Branches of the graph function: `relay.if` becomes `scf.if` around calls.

What a branch gives lies in buffers that are made before it, and a branch writes its result there, by the call that
computes it where that is possible, else by a copy. Where only the branch tells how large its result is, it allocates a
buffer, which the `scf.if` gives, and behind all buffers the extents:

```
%y = relay.if %c : tensor<i1>          →    %y, %k = scf.if %0 -> (memref<?xf32>, index) {
    -> tensor<?xf32, #relay.dims<k>>          …
    attributes {relay.binds =                 scf.yield %a, %n : memref<?xf32>, index
        #relay.bounds<k>} {                 } else {
  …                                           …
```
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import IndexType, TupleType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.locations import describe_place
from xrelay.dialects.shared.recorded_requirements import made_extents
from xrelay.dialects.shared.types import dims_in, shape_of
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import Dim, symbol
from xrelay.lowering.topi_to_loop.function_lowering import holder_of, is_container, memref_of
from xrelay.lowering.topi_to_loop.graph_buffers import CopyKernel
from xrelay.lowering.topi_to_loop.graph_scalars import ScalarLowering

Origins = Mapping[str, tuple[int, int]]
"""For each name of an extent: the field and the axis that have it."""


class RegionLowering(ScalarLowering):
    """Lowers branches between kernels, and the tuples that they give."""

    def __init__(self, function: func.FuncOp, copy_kernel: CopyKernel):
        """Prepare the rewriting of `function`."""
        super().__init__(function, copy_kernel)
        self._fields: dict[SSAValue, Sequence[SSAValue]] = {}
        """For the tuples that branches and loops give: the buffers of their fields."""

    def lower(self, op: Operation) -> None:
        """Adds what an op becomes; tuples are taken apart by those who use them."""
        match op:
            case IfOp():
                self._if(op)
            case TupleGetItemOp():
                self._buffers[op.results[0]] = self._fields[op.data][op.index.value.data]
            case TupleOp():
                pass
            case YieldOp():
                self._demand(op)
            case _:
                super().lower(op)

    def _is_made_here(self, value: SSAValue) -> bool:
        """What branches and loops give they can put where it is wanted, unless only they tell how large it is."""
        maker = value.owner.data.owner if isinstance(value.owner, TupleGetItemOp) else value.owner
        if isinstance(maker, IfOp | LoopOp):
            return not has_names(value.type, made_names(maker))
        return super()._is_made_here(value)

    def _if(self, op: IfOp) -> None:
        self._demand(op)
        condition = self._load(self._buffers[op.condition], (), op)
        types, made = field_types(op.result.type), made_names(op)
        boxes = [index for index, type in enumerate(types) if has_names(type, made) or is_container(type)]
        origins = origins_of(made, types, op)
        written = {index: self._result(op, index, type) for index, type in enumerate(types) if index not in boxes}
        then, otherwise = (self._branch(region.block, written, boxes, origins, op) for region in op.regions)
        given = [*(holder_of(types[index], op) for index in boxes), *[IndexType()] * len(origins)]
        new = self._add(scf.IfOp(condition, given, then, otherwise), op)
        self._sizes.bind_behind(new, dict(zip(origins, new.results[len(boxes) :], strict=True)))
        for index, buffer in zip(boxes, new.results, strict=False):
            written[index] = self._noted(buffer, list(dims_in(types[index])))
        self._give(op, [written[index] for index in range(len(types))])

    def _branch(
        self, block: Block, written: Mapping[int, SSAValue], boxes: Sequence[int], origins: Origins, op: IfOp
    ) -> Region:
        """The branch `block`, which puts what it yields into `written`, or gives it, and the extents `origins`."""
        types = field_types(op.result.type)
        with self._inside(Block(), is_branch=True) as new:
            values = yielded_fields(block, op)
            copied: list[tuple[SSAValue, SSAValue]] = []
            for index, result in written.items():
                value = values[index]
                if value.owner.parent is block and value not in self._buffers and self._is_made_here(value):
                    self._buffers[value] = self._as_yielded(result, value, op)
                else:
                    copied.append((value, result))
            for inner in block.ops:
                self.lower(inner)
            for value, result in copied:
                self._move(self._buffers[value], result, op)
            given = self._hand_over([values[index] for index in boxes], [types[index] for index in boxes], op)
            self._add(scf.YieldOp(*given, *self._sizes.extents(dims_at(origins, values), op)), op)
        return Region(new)

    def _as_yielded(self, result: SSAValue, value: SSAValue, op: IfOp | LoopOp) -> SSAValue:
        """`result` as a buffer for `value`, which may have a number for an extent that `op` has a name for.

        That both are the same is asserted before anything is written.
        """
        buffer = self._cast(result, memref_of(value.type, op), op)
        return buffer if buffer is result else self._noted(buffer, list(dims_in(value.type)))

    def _result(self, op: IfOp | LoopOp, index: int, type: Attribute) -> SSAValue:
        """Where the field `index` of what `op` gives is wanted, or a buffer allocated for it."""
        wanted = self._wanted(op, index)
        hint = next((value.name_hint for value in _names(op, index)), None)
        return self._allocate(type, op, hint) if wanted is None else wanted

    def _wanted(self, op: IfOp | LoopOp, index: int) -> SSAValue | None:
        """Where the field `index` of what `op` gives is wanted; `None` where anywhere will do."""
        return next((self._buffers[value] for value in _names(op, index) if value in self._buffers), None)

    def _give(self, op: IfOp | LoopOp, results: Sequence[SSAValue]) -> None:
        if isinstance(op.result.type, TupleType):
            self._fields[op.result] = results
        else:
            self._buffers[op.result] = results[0]


def yielded_fields(block: Block, op: Operation) -> Sequence[SSAValue]:
    """What a region of `op` yields, the fields of a tuple one by one."""
    value = block.last_op.operands[0] if block.last_op is not None else None
    if value is None or (isinstance(value.type, TupleType) and not isinstance(value.owner, TupleOp)):
        raise LoweringError("a region yields a tuple that is not made in it", location=describe_place(op),
                            help="run relay-outline-fused before")  # fmt: skip
    return value.owner.operands if isinstance(value.owner, TupleOp) else [value]


def field_types(type: Attribute) -> Sequence[Attribute]:
    """The types of the fields of a tuple; of another value its own."""
    return type.types.data if isinstance(type, TupleType) else [type]


def made_names(op: Operation) -> frozenset[str]:
    """The names of extents that `op` makes."""
    return frozenset(extent.name for extent in made_extents(op))


def has_names(type: Attribute, names: frozenset[str]) -> bool:
    """Whether one of `names` stands in the extents of `type`."""
    return any(not dim.names.isdisjoint(names) for dim in dims_in(type))


def origins_of(names: Iterable[str], types: Sequence[Attribute], op: Operation) -> Origins:
    """Where in `types` each of `names` that stands there is an extent by itself."""
    found: dict[str, tuple[int, int]] = {}
    wanted = {symbol(name): name for name in names}
    for index, type in enumerate(types):
        for axis, dim in enumerate(() if is_container(type) else shape_of(type)):
            if dim in wanted:
                found.setdefault(wanted[dim], (index, axis))
    for name in {name for type in types for dim in dims_in(type) for name in dim.names} & set(names) - found.keys():
        raise LoweringError(f"the extent {name} of the result is no extent by itself", location=describe_place(op),
                            help="write the types with a name for each extent that varies")  # fmt: skip
    return found


def dims_at(origins: Origins, values: Sequence[SSAValue]) -> list[Dim]:
    """The extents of `values` at these places."""
    return [shape_of(values[index].type)[axis] for index, axis in origins.values()]


def _names(op: IfOp | LoopOp, index: int) -> list[SSAValue]:
    """The values that are field `index` of what `op` gives."""
    if not isinstance(op.result.type, TupleType):
        return [op.result]
    users = [use.operation for use in op.result.uses]
    return [user.result for user in users if isinstance(user, TupleGetItemOp) and user.index.value.data == index]
