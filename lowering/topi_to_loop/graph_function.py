"""The graph function at the loop level: kernels are called with the buffers of their results, constants are weights.

Where its inputs have named dimensions, it takes the size of each name behind its buffers, and computes from them the
extents of its allocations and those that kernels take (`graph_sizes.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.attribute_names import DIM, LOOP_DIMS, LOOP_KERNEL
from xrelay.dialects.loop.signature import kernel_dims
from xrelay.dialects.relay.core.dims_attr import DimsAttr
from xrelay.dialects.relay.core.types import dims_in
from xrelay.dialects.relay.structure.call import names_in
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import DimExpr
from xrelay.lowering.topi_to_loop.function_lowering import memref_of
from xrelay.lowering.topi_to_loop.graph_regions import RegionLowering
from xrelay.lowering.topi_to_loop.graph_sizes import GraphSizes
from xrelay.passes.infra.conversion import describe_place
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs


class GraphLowering(RegionLowering):
    """Lowers a function that calls kernels, which are lowered already.

    What it returns without having computed it, a kernel copies.
    """

    def __init__(
        self,
        function: func.FuncOp,
        copy_kernel: Callable[[MemRefType], func.FuncOp],
        functions: Mapping[str, func.FuncOp],
    ):
        """Prepare the rewriting of `function`.

        `copy_kernel` gives the kernel that copies a buffer of a type, `functions` are those of the module.
        """
        super().__init__(function)
        self._copy_kernel, self._functions = copy_kernel, functions
        self._names = names_in(function.function_type.inputs)
        self._sizes = GraphSizes()
        self._dims: dict[SSAValue, Sequence[DimExpr]] = {}
        """The open extents of each buffer."""

    def run(self) -> None:
        """Rewrites the function."""
        super().run()
        self._sizes.finish(self._new)
        if self._names:
            attrs = argument_attrs(self._function)
            for attr, argument in zip(attrs, self._new.args, strict=True):
                if dims := self._dims.get(argument):
                    attr[LOOP_DIMS] = DimsAttr(tuple(dims))
            for attr, name in zip(attrs[len(attrs) - len(self._names) :], self._names, strict=True):
                attr[DIM] = StringAttr(name)
            set_argument_attrs(self._function, attrs)

    def lower(self, op: Operation) -> None:
        """Adds the call of a kernel with the extents that it takes, or what an op becomes in every function."""
        if not isinstance(op, func.CallOp):
            super().lower(op)
            return
        demanded = self._sizes.demand(op, at_once=op.parent is self._old)
        for assertion in demanded:
            self._add(assertion, op)
        arguments = [self._buffers[operand] for operand in op.operands]
        arguments += [self._buffer(value, op) for value in op.results]
        callee = self._callee(op)
        extents = self._sizes.extents(kernel_dims(callee), op)
        self._add(func.CallOp(op.callee, [*arguments, *extents], []), op)

    def copy_buffer(self, source: SSAValue, target: SSAValue, place: Operation) -> None:
        """Adds the call of a kernel that copies one buffer to another."""
        kernel = self._copy_kernel(SSAValue.get(target, type=MemRefType).type)
        extents = self._sizes.extents(self._dims.get(source, ()), place)
        self._add(func.CallOp(kernel.sym_name.data, [source, target, *extents], []), place)

    def buffer_like(self, buffer: SSAValue, place: Operation) -> SSAValue:
        """Adds the allocation of a buffer of the type and the extents of another."""
        dims = self._dims.get(buffer, ())
        alloc = memref.AllocOp(self._sizes.extents(dims, place), [], buffer.type)
        return self._noted(self._add(alloc, place).results[0], dims)

    def _callee(self, op: func.CallOp) -> func.FuncOp:
        """What a call calls: a kernel, or a function without named dimensions."""
        callee = self._functions[op.callee.string_value()]
        if LOOP_KERNEL not in callee.attributes and any(dims_in(value.type) for value in (*op.operands, *op.results)):
            raise LoweringError(f"@{callee.sym_name.data} has named dimensions and is no kernel",
                                location=describe_place(op), help="run relay-inline before")  # fmt: skip
        return callee

    def _make_arguments(self, last: func.ReturnOp) -> list[SSAValue]:
        outputs = super()._make_arguments(last)
        for argument, value in zip(self._new.args, (*self._old.args, *last.operands), strict=True):
            self._noted(argument, list(dims_in(value.type)))
        self._sizes.bind(self._names, self._new)
        self._sizes.demand(last, at_once=True)
        for output in outputs:
            self._sizes.extents(self._dims.get(output, ()), last)
        return outputs

    def _new_buffer(self, type: Attribute, op: Operation) -> memref.AllocOp:
        dims = list(dims_in(type))
        alloc = memref.AllocOp(self._sizes.extents(dims, op), [], memref_of(type, op))
        self._noted(alloc.memref, dims)
        return alloc

    def _alloc(self, value: SSAValue, op: Operation) -> memref.AllocOp:
        return self._new_buffer(value.type, op)

    def _noted(self, buffer: SSAValue, dims: Sequence[DimExpr]) -> SSAValue:
        if dims:
            self._dims[buffer] = dims
        return buffer
