"""Branches: `relay.if` becomes `scf.if` around calls.

The result of a branch is in buffers that are allocated before it. The call that computes the result writes to this
buffer, or the result is copied. If the size of a result is not known before the branch, the branch allocates the
buffer, and the `scf.if` returns the buffers and then their extents:

```
%y = relay.if %c : tensor<i1>          →    %y, %k = scf.if %0 -> (memref<?xf32>, index) {
    -> tensor<?xf32, #relay.dims<k>>          …
    attributes {relay.binds =                 scf.yield %a, %n : memref<?xf32>, index
        #relay.bounds<k>} {                 } else {
  …                                           …
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue

from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.types import dims_in
from xrelay.lowering.host.code import HostCode, lowers
from xrelay.lowering.host.fields import (
    Origins,
    cast_to_yielded,
    dims_at,
    field_buffer,
    field_takes_destination,
    field_types,
    has_names,
    new_names,
    origins_of,
    record_fields,
    yielded_fields,
)
from xrelay.lowering.host.signature import holder_of, is_container


@lowers(IfOp, takes_destination=field_takes_destination)
def lower_if(op: IfOp, code: HostCode) -> None:
    """`relay.if` → `scf.if`, with the buffers of its results before it or returned by it."""
    code.require()
    condition = code.load(code.buffers[op.condition])
    types, made = field_types(op.result.type), new_names(op)
    returned = [index for index, type in enumerate(types) if has_names(type, made) or is_container(type)]
    origins = origins_of(made, types, op)
    buffers = {index: field_buffer(op, index, type, code) for index, type in enumerate(types) if index not in returned}
    then, otherwise = (_branch(op, region.block, buffers, returned, origins, code) for region in op.regions)
    result_types = [*(holder_of(types[index], op) for index in returned), *[IndexType()] * len(origins)]
    new = code.add(scf.IfOp(condition, result_types, then, otherwise))
    code.bind(new, dict(zip(origins, new.results[len(returned) :], strict=True)))
    for index, buffer in zip(returned, new.results, strict=False):
        buffers[index] = code.with_dims(buffer, list(dims_in(types[index])))
    record_fields(op, [buffers[index] for index in range(len(types))], code)


@lowers(TupleGetItemOp, takes_destination=field_takes_destination)
def lower_tuple_get_item(op: TupleGetItemOp, code: HostCode) -> None:
    """`relay.tuple_get_item` of the result of a branch or loop → the buffer of the field."""
    code.buffers[op.result] = code.fields[op.data][op.index.value.data]


@lowers(TupleOp)
def lower_tuple(op: TupleOp, code: HostCode) -> None:
    """`relay.tuple` that a region yields → no op: the region yields the fields."""


@lowers(YieldOp)
def lower_yield(op: YieldOp, code: HostCode) -> None:
    """`relay.yield` → assertions of its requirements. The pattern of the op around it adds the `scf.yield`."""
    code.require()


def _branch(
    op: IfOp,
    block: Block,
    buffers: Mapping[int, SSAValue],
    returned: Sequence[int],
    origins: Origins,
    code: HostCode,
) -> Region:
    """Returns the region for the branch `block`, which writes to `buffers`.

    It yields the buffers of the fields `returned`, then the extents `origins`.
    """
    types = field_types(op.result.type)
    with code.inside(Block(), is_branch=True) as new:
        values = yielded_fields(block, op)
        copied: list[tuple[SSAValue, SSAValue]] = []
        for index, buffer in buffers.items():
            value = values[index]
            if value.owner.parent is block and value not in code.buffers and code.takes_destination(value):
                code.buffers[value] = cast_to_yielded(buffer, value, code)
            else:
                copied.append((value, buffer))
        for inner in block.ops:
            code.lower(inner)
        for value, buffer in copied:
            code.move(code.buffers[value], buffer)
        passed = code.pass_outward([values[index] for index in returned], [types[index] for index in returned])
        code.add(scf.YieldOp(*passed, *code.extents(dims_at(origins, values))))
    return Region(new)
