"""Calls of graph functions: the callee gets buffers, the sizes of its names, and gives what only it knows how large.

```
%y:2 = relay.call @f<n = 2 * m, k = j>(%x)       →    %b = memref.alloc(%0) : memref<?xf32>
    {relay.binds = #relay.bounds<j>} : (…)            %c, %j = func.call @f(%x, %b, %0) : (…) -> (memref<?xf32>, index)
    -> (tensor<?xf32, …<2 * m>>, tensor<?xf32, …<j>>)
```

A result whose extents follow from the names of the callee's parameters is written to a buffer of the caller, for one
that has extents which the callee makes the callee returns a buffer, and behind it its open extents.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from xdsl.dialects import arith, cf, func
from xdsl.dialects.builtin import FunctionType, IndexType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from xrelay.dialects.relay.structure.call import AnyCall, NamedCallOp, callee_name, is_call, names_in
from xrelay.dialects.shared.attribute_names import REQUIRES
from xrelay.dialects.shared.locations import describe_place
from xrelay.dialects.shared.recorded_requirements import requirements_of
from xrelay.dialects.shared.requirements_attr import RequirementsAttr
from xrelay.dialects.shared.types import dims_in, shape_of
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import Dim, names_of, symbol
from xrelay.index_algebra.requirement import Equal, Requirement
from xrelay.lowering.topi_to_loop.function_lowering import holder_of, is_container, memref_of
from xrelay.lowering.topi_to_loop.graph_buffers import CopyKernel
from xrelay.lowering.topi_to_loop.graph_extents import ExtentLowering
from xrelay.lowering.topi_to_loop.graph_regions import made_names
from xrelay.lowering.topi_to_loop.graph_sizes import told_requirements
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.types.dim_names import single_name


class CallLowering(ExtentLowering):
    """Lowers calls of functions that are no kernels."""

    def __init__(self, function: func.FuncOp, copy_kernel: CopyKernel, graphs: Mapping[str, FunctionType]):
        """Prepare the rewriting of `function`; `graphs` are the types of the graph functions, on tensors."""
        super().__init__(function, copy_kernel)
        self._graphs = graphs

    def lower(self, op: Operation) -> None:
        """Adds what an op becomes."""
        if is_call(op) and callee_name(op) in self._graphs:
            self._call(op, self._graphs[callee_name(op)])
        elif isinstance(op, NamedCallOp):
            raise LoweringError(f"@{callee_name(op)} has named dimensions and no body", location=describe_place(op))
        else:
            super().lower(op)

    def _is_made_here(self, value: SSAValue) -> bool:
        """What the callee returns lies where it does."""
        if isinstance(value, OpResult) and is_call(value.op) and callee_name(value.op) in self._graphs:
            return is_written(self._graphs[callee_name(value.op)], value.index)
        return super()._is_made_here(value)

    def _demand(self, op: Operation) -> None:
        """Asserts what `op` requires; a name that nothing has made yet is what it is required to equal.

        That is how the type of a branch's result names an extent before the branch is over.
        """
        for requirement in (each for _, told, _ in told_requirements(op) for each in told):
            if isinstance(requirement, Equal):
                self._learn(requirement.lhs, requirement.rhs, op)
                self._learn(requirement.rhs, requirement.lhs, op)
        super()._demand(op)

    def _learn(self, dim: Dim, other: Dim, op: Operation) -> None:
        """Let `dim`, where it is a name that is not known, be `other`, where that is."""
        name = single_name(dim)
        if name is not None and not self._sizes.knows(name) and all(map(self._sizes.knows, names_of(other))):
            (size,) = self._sizes.sizes([other], op)
            value = self._constant(size, op) if isinstance(size, int) else size
            place = self._new.last_op or self._add(arith.ConstantOp.from_int_and_width(0, IndexType()), op)
            self._sizes.bind_behind(place, {name: value})

    def _call(self, op: AnyCall, type: FunctionType) -> None:
        made, requirements = made_names(op), requirements_of(op)
        self._demand_each(op, [each for each in requirements if each.names.isdisjoint(made)])
        names = names_in(type.inputs)
        # The types of a func.call are those of its callee, names and all.
        bindings = op.names if isinstance(op, NamedCallOp) else {name: symbol(name) for name in names}
        pairs = list(enumerate(zip(op.results, type.outputs, strict=True)))
        written = [(value, each) for number, (value, each) in pairs if is_written(type, number)]
        returned = [(value, each) for number, (value, each) in pairs if not is_written(type, number)]
        given = [(self._buffers[operand], each) for operand, each in zip(op.operands, type.inputs, strict=True)]
        given += [(self._buffer(value, op), each) for value, each in written]
        arguments = [self._held_as(each, buffer, op) for buffer, each in given]
        # That they are extents the call demands, where it runs.
        found = self._sizes.sizes([bindings[name] for name in names], op)
        sizes = [self._constant(size, op) if isinstance(size, int) else size for size in found]
        results: list[Attribute] = []
        for _, each in returned:
            results += [holder_of(each, op), *(IndexType() for _ in dims_in(each))]
        new = self._add(func.CallOp(callee_name(op), [*arguments, *sizes], results), op)
        self._take(op, new, returned, bindings)
        self._demand_each(op, [each for each in requirements if not each.names.isdisjoint(made)])

    def _held_as(self, type: Attribute, buffer: SSAValue, op: AnyCall) -> SSAValue:
        """A buffer as one for a tensor of `type`; a list is itself."""
        return buffer if is_container(type) else self._cast(buffer, memref_of(type, op), op)

    def _demand_each(self, op: AnyCall, requirements: Sequence[Requirement]) -> None:
        """Asserts these of the requirements of a call: those of what it makes can only be asserted behind it."""
        if requirements:
            op.attributes[REQUIRES] = RequirementsAttr(tuple(requirements))
            self._demand(op)

    def _take(
        self, op: AnyCall, new: Operation, returned: Sequence[tuple[SSAValue, Attribute]], bindings: Mapping[str, Dim]
    ) -> None:
        """The buffers that a call returns stand for its results from now on, and the extents for names."""
        rest, buffers = iter(new.results), list[SSAValue]()
        extents: dict[str, SSAValue] = {}
        for value, type in returned:
            buffers.append(next(rest))
            shapes = ((), ()) if is_container(type) else (shape_of(type), shape_of(value.type))
            for inside, around in zip(*shapes, strict=True):
                if not isinstance(inside, int):
                    extent = next(rest)
                    # A result may have the name that a branch around the call gives it, before the branch is over.
                    for name in {single_name(inside.substitute(bindings)), single_name(around)} - {None}:
                        extents.setdefault(str(name), extent)
        wanted = {name for value, _ in returned for dim in dims_in(value.type) for name in dim.names} | made_names(op)
        unknown = {name for name in wanted if not self._sizes.knows(name)}
        for name in unknown - extents.keys():
            raise LoweringError(f"the extent {name} of a result of @{callee_name(op)} is no extent by itself",
                                location=describe_place(op),
                                help="write the types with a name for each extent that varies")  # fmt: skip
        if unknown:
            self._sizes.bind_behind(new, {name: extents[name] for name in sorted(unknown)})
        for buffer, (value, _) in zip(buffers, returned, strict=True):
            buffer.name_hint = value.name_hint
            cast = self._held_as(value.type, buffer, op)
            self._buffers[value] = self._noted(cast, list(dims_in(value.type)))


def is_written(type: FunctionType, number: int) -> bool:
    """Whether the names of a function's parameters tell how large its result `number` is."""
    return follows_from(names_in(type.inputs), type.outputs.data[number])


def follows_from(names: Collection[str], type: Attribute) -> bool:
    """Whether `names` tell how large a value of `type` is, which of a sequence or optional nothing does."""
    return not is_container(type) and all(dim.names <= set(names) for dim in dims_in(type))


def tell_names_apart(function: func.FuncOp) -> None:
    """Let the names in what a private function requires not be those of `@main`, whose sizes a caller knows.

    Of `@f`, `n == 3` becomes `n_of_f == 3` in `relay.requires` of assertions; their messages stay.
    """
    for op in walk_ops(function):
        requires = op.attributes.get(REQUIRES)
        if isinstance(op, cf.AssertOp) and isinstance(requires, RequirementsAttr):
            names = {name for requirement in requires.data for name in requirement.names}
            own = {name: symbol(f"{name}_of_{function.sym_name.data}") for name in names}
            op.attributes[REQUIRES] = RequirementsAttr(tuple(each.substitute(own) for each in requires.data))
