"""Calls of kernels and of graph functions, and constants.

A kernel receives the buffers of its operands and results, then the extents that it uses. A graph function receives
buffers and the sizes of its names:

```
%y:2 = relay.call @f<n = 2 * m, k = j>(%x)       →    %b = memref.alloc(%0) : memref<?xf32>
    {relay.binds = #relay.bounds<j>} : (…)            %c, %j = func.call @f(%x, %b, %0) : (…) -> (memref<?xf32>, index)
    -> (tensor<?xf32, …<2 * m>>, tensor<?xf32, …<j>>)
```

It writes a result to a buffer of the caller if the extents follow from the names of its parameters. For any other
result it returns a buffer, and after all buffers their dynamic extents.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, IndexType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.signature import kernel_dims
from xrelay.dialects.relay.structure.call import AnyCall, NamedCallOp, callee_name, is_call, names_in
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.attribute_names import REQUIRES
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.requirements import RequirementsAttr, requirements_of
from xrelay.dialects.shared.types import dims_in, shape_of
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import Dim, substitute, symbol
from xrelay.index_algebra.requirement import Requirement
from xrelay.lowering.host.code import HostCode, lowers
from xrelay.lowering.host.fields import new_names
from xrelay.lowering.host.scalars import argument_of_call, inline_call
from xrelay.lowering.host.signature import holder_of, is_container, weight_of
from xrelay.passes.types.dim_names import single_name


@lowers(ConstantOp)
def lower_constant(op: ConstantOp, code: HostCode) -> None:
    """`relay.constant` → `loop.weight`."""
    code.buffers[op.result] = code.value(weight_of(op))


def _takes_destination(result: SSAValue, code: HostCode) -> bool:
    """Whether the callee writes the result to a buffer of the caller."""
    if not isinstance(result, OpResult):
        return False
    type = code.module.graphs.get(_callee(result.op))
    return is_call(result.op) if type is None else is_written(type, result.index)


@lowers(func.CallOp, NamedCallOp, takes_destination=_takes_destination)
def lower_call(op: AnyCall, code: HostCode) -> None:
    """A call on tensors → a call on buffers and extents, or the scalar code of a small kernel.

    Raises `LoweringError` for a callee with named dimensions and without a body.
    """
    type = code.module.graphs.get(callee_name(op))
    if type is not None:
        _call_graph(op, type, code)
    elif isinstance(op, NamedCallOp) and not _has_body(op, code):
        raise LoweringError(f"@{callee_name(op)} has named dimensions and no body", location=describe_location(op))
    else:
        _call_kernel(op, code)


def _has_body(op: AnyCall, code: HostCode) -> bool:
    """Whether the callee is a kernel with a body."""
    kernel = code.module.kernels.get(callee_name(op))
    return kernel is not None and bool(kernel.body.blocks)


def is_written(type: FunctionType, number: int) -> bool:
    """Whether the size of result `number` follows from the names of a function's parameters."""
    return follows_from(names_in(type.inputs), type.outputs.data[number])


def follows_from(names: Collection[str], type: Attribute) -> bool:
    """Whether the size of a value of `type` follows from `names`; it never does for a list."""
    return not is_container(type) and all(dim.names <= set(names) for dim in dims_in(type))


def _callee(op: Operation) -> str:
    return callee_name(op) if isinstance(op, func.CallOp | NamedCallOp) else ""


def _call_kernel(op: AnyCall, code: HostCode) -> None:
    """Adds the call of a kernel with its extents, or its scalar code; or the call of a declared function."""
    kernel = code.module.kernels.get(callee_name(op))
    if kernel is None:
        arguments = [code.buffers[operand] for operand in op.operands]
        code.add(func.CallOp(op.callee, [*arguments, *map(code.buffer, op.results)], []))
        return
    code.require()
    if inline_call(op, code):
        return
    arguments = [argument_of_call(op, number, code) for number in range(len(op.operands))]
    arguments += map(code.buffer, op.results)
    dims: Sequence[Dim] = kernel_dims(kernel)
    if isinstance(op, NamedCallOp):
        dims = substitute(dims, op.names)
        types = [memref_type(each) for each in kernel.body.block.args[: len(arguments)]]
        arguments = [code.cast(each, type) for each, type in zip(arguments, types, strict=True)]
    code.add(func.CallOp(op.callee, [*arguments, *code.extents(dims)], []))


def _call_graph(op: AnyCall, type: FunctionType, code: HostCode) -> None:
    """Adds the call of a graph function of `type`, and assertions of its requirements.

    Those on new extents are after the call.
    """
    made, requirements = new_names(op), requirements_of(op)
    _require_each(op, [each for each in requirements if each.names.isdisjoint(made)], code)
    names = names_in(type.inputs)
    # The types of a func.call are those of its callee, including the names.
    bindings = op.names if isinstance(op, NamedCallOp) else {name: symbol(name) for name in names}
    pairs = list(enumerate(zip(op.results, type.outputs, strict=True)))
    written = [(value, each) for number, (value, each) in pairs if is_written(type, number)]
    returned = [(value, each) for number, (value, each) in pairs if not is_written(type, number)]
    buffers = [(code.buffers[operand], each) for operand, each in zip(op.operands, type.inputs, strict=True)]
    buffers += [(code.buffer(value), each) for value, each in written]
    arguments = [code.cast_to_hold(buffer, each) for buffer, each in buffers]
    # The requirements of the call check that the sizes are extents.
    found = code.sizes.sizes([bindings[name] for name in names], op)
    sizes = [code.index_of(size) for size in found]
    results: list[Attribute] = []
    for _, each in returned:
        results += [holder_of(each, op), *(IndexType() for _ in dims_in(each))]
    new = code.add(func.CallOp(callee_name(op), [*arguments, *sizes], results))
    _record_returned(op, new, returned, bindings, code)
    _require_each(op, [each for each in requirements if not each.names.isdisjoint(made)], code)


def _require_each(op: AnyCall, requirements: Sequence[Requirement], code: HostCode) -> None:
    """Asserts some of the requirements of a call."""
    if requirements:
        op.attributes[REQUIRES] = RequirementsAttr(tuple(requirements))
        code.require()


def _record_returned(
    op: AnyCall,
    new: Operation,
    returned: Sequence[tuple[SSAValue, Attribute]],
    bindings: Mapping[str, Dim],
    code: HostCode,
) -> None:
    """Records the buffers that a call returns, and binds names to the extents that it returns."""
    rest, buffers = iter(new.results), list[SSAValue]()
    extents: dict[str, SSAValue] = {}
    for value, type in returned:
        buffers.append(next(rest))
        shapes = ((), ()) if is_container(type) else (shape_of(type), shape_of(value.type))
        for inside, around in zip(*shapes, strict=True):
            if not isinstance(inside, int):
                extent = next(rest)
                # A result may have the name that a branch around the call introduces, before the branch ends.
                for name in {single_name(inside.substitute(bindings)), single_name(around)} - {None}:
                    extents.setdefault(str(name), extent)
    wanted = {name for value, _ in returned for dim in dims_in(value.type) for name in dim.names} | new_names(op)
    unknown = {name for name in wanted if not code.sizes.is_known(name)}
    for name in unknown - extents.keys():
        raise LoweringError(
            f"no axis of a result of @{callee_name(op)} has the extent {name} alone",
            location=describe_location(op),
            help="use a name for each varying extent in the types",
        )
    if unknown:
        code.bind(new, {name: extents[name] for name in sorted(unknown)})
    for buffer, (value, _) in zip(buffers, returned, strict=True):
        buffer.name_hint = value.name_hint
        code.buffers[value] = code.with_dims(code.cast_to_hold(buffer, value.type), list(dims_in(value.type)))
