"""The graph function at the loop level: kernels are called with the buffers of their results, constants are weights.

Where its inputs have named dimensions, it takes the size of each name behind its buffers, and computes from them the
extents of its allocations and those that kernels take (`graph_sizes.py`). What names of the inputs do not tell the
extents of, it returns: a buffer that belongs to the caller then, and behind it its open extents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.loop.signature import kernel_dims
from xrelay.dialects.relay.structure.call import names_in
from xrelay.dialects.shared.attribute_names import CONTAINER, DIM, LOOP_DIMS, OUTPUT_PLACE
from xrelay.dialects.shared.dims_attr import DimsAttr
from xrelay.dialects.shared.recorded_requirements import requirements_of
from xrelay.dialects.shared.types import dims_in
from xrelay.lowering.topi_to_loop.function_lowering import Returned, is_container
from xrelay.lowering.topi_to_loop.graph_buffers import CopyKernel
from xrelay.lowering.topi_to_loop.graph_calls import follows_from, tell_names_apart
from xrelay.lowering.topi_to_loop.graph_list_parts import ListPartLowering
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs


class GraphLowering(ListPartLowering):
    """Lowers a function that calls kernels, which are lowered already.

    What it returns without having computed it, a kernel copies.
    """

    def __init__(
        self,
        function: func.FuncOp,
        copy_kernel: CopyKernel,
        kernels: Mapping[str, func.FuncOp],
        graphs: Mapping[str, FunctionType],
        small_kernels: Mapping[str, func.FuncOp],
    ):
        """Prepare the rewriting of `function`.

        `copy_kernel` gives the kernels that copy buffers, `kernels` are those of the module, and `graphs` the types of
        its graph functions, on tensors. `small_kernels` are those that may become code of the function, at the
        topi level.
        """
        super().__init__(function, copy_kernel, graphs)
        self._kernels, self._small_kernels = kernels, small_kernels
        self._names = names_in(function.function_type.inputs)
        self._containers = {n: type for n, type in enumerate(function.function_type.inputs) if is_container(type)}

    def run(self) -> None:
        """Rewrites the function."""
        super().run()
        self._sizes.finish()
        if self._names or self._containers:
            attrs = argument_attrs(self._function)
            for number, type in self._containers.items():
                attrs[number][CONTAINER] = type
            for attr, argument in zip(attrs, self._new.args, strict=True):
                if dims := self._dims.get(argument):
                    attr[LOOP_DIMS] = DimsAttr(tuple(dims))
            for attr, name in zip(attrs[len(attrs) - len(self._names) :], self._names, strict=True):
                attr[DIM] = StringAttr(name)
            set_argument_attrs(self._function, attrs)
        if self._function.sym_visibility is not None and self._function.sym_visibility.data == "private":
            tell_names_apart(self._function)

    def lower(self, op: Operation) -> None:
        """Adds the call of a kernel with the extents that it takes, or its code; else what an op becomes everywhere."""
        kernel = self._kernels.get(op.callee.string_value()) if isinstance(op, func.CallOp) else None
        if kernel is None or not isinstance(op, func.CallOp):
            super().lower(op)
            return
        self._demand(op)
        if self._inline(op):
            return
        arguments = [self._argument(number, op) for number in range(len(op.operands))]
        arguments += [self._buffer(value, op) for value in op.results]
        extents = self._sizes.extents(kernel_dims(kernel), op)
        self._add(func.CallOp(op.callee, [*arguments, *extents], []), op)

    def _is_written(self, value: SSAValue) -> bool:
        """Whether the names of the inputs tell how large a result is."""
        return follows_from(self._names, value.type)

    def _make_arguments(self, last: func.ReturnOp, written: Sequence[SSAValue]) -> list[SSAValue]:
        outputs = super()._make_arguments(last, written)
        for argument, value in zip(self._new.args, (*self._old.args, *written), strict=True):
            self._noted(argument, list(dims_in(value.type)))
        self._sizes.bind(self._names)
        if all(requirement.names <= set(self._names) for requirement in requirements_of(last)):
            self._demand(last)
        for output in outputs:
            self._sizes.extents(self._dims.get(output, ()), last)
        return outputs

    def _returned(self, last: func.ReturnOp) -> Sequence[Returned]:
        """The results that are not written: each a buffer that is the caller's then, and its open extents."""
        if any(not requirement.names <= set(self._names) for requirement in requirements_of(last)):
            self._demand(last)
        rest = {number: value for number, value in enumerate(last.operands) if not self._is_written(value)}
        buffers = self._hand_over(list(rest.values()), [value.type for value in rest.values()], last)
        found: list[Returned] = []
        for (number, value), buffer in zip(rest.items(), buffers, strict=True):
            dims = list(dims_in(value.type))
            attributes: dict[str, Attribute] = (
                {CONTAINER: value.type} if is_container(value.type) else {LOOP_DIMS: DimsAttr(tuple(dims))}
            )
            attributes[OUTPUT_PLACE] = IntegerAttr(number, i64)
            found.append(Returned(number, [buffer, *self._sizes.extents(dims, last)], attributes))
        return found
