"""`convert-topi-to-loop`: functions on tensors become functions on buffers, computes become loop nests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ModuleOp, NoneAttr, TensorType, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from xrelay.dialects.loop.signature import output_arguments
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.extents import EXTENT_OPS
from xrelay.dialects.shared.attribute_names import EXTENTS, LOOP_DIMS, LOOP_KERNEL, PRIMITIVE
from xrelay.dialects.shared.dims_attr import DimsAttr
from xrelay.dialects.shared.op_lists import is_kind, ops_of
from xrelay.dialects.shared.types import dims_in, function_type
from xrelay.dialects.topi import BodyOp, ComputeOp, PositionsOp, ScanOp, ScatterOp, SortOp, SuppressOp
from xrelay.dialects.topi.build import Body, compute
from xrelay.dialects.topi.shapes import shape_of, shape_of_type, tensor_type
from xrelay.index_algebra.dims import Shape, symbol
from xrelay.lowering.host.code import HostModule
from xrelay.lowering.host.function import lower_graph_function
from xrelay.lowering.host.scalars import is_small
from xrelay.lowering.host.signature import FunctionRewriting, conversion_error, memref_of, weight_of
from xrelay.lowering.topi_to_loop.build_nest import KernelNests, build_nest, build_scan, build_scatter
from xrelay.lowering.topi_to_loop.build_rows import build_positions, build_sort, build_suppress
from xrelay.lowering.topi_to_loop.kernel_extents import KernelExtents, propagate_sizes
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.infra.xrelay_pass import REORDERS_SUMS, XRelayPass
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs

MADE_HERE = (BodyOp, PositionsOp, SortOp, SuppressOp)
"""The ops that become nests."""


@dataclass(frozen=True)
class ConvertTopiToLoopPass(XRelayPass):
    """Adds the buffers of the results to the arguments of every function, and turns computes and sorts into nests.

    Before → after, for a kernel:

    ```
    func.func private @k(%x: tensor<4x8xf32>)             func.func private @k(%x: memref<4x8xf32>, %r: memref<4xf32>)
        -> tensor<4xf32> attributes {relay.primitive} {       attributes {loop.kernel, loop.num_outputs = 1} {
      %r = topi.compute "sum" [%i : 4] reduce [%k : 8] …    loop.for "i" %i to 4 {
        …                                                     loop.for "k" %k to 8 {
      func.return %r                                            loop.block "sum" (…) reads(%x) writes(%r) init … {…}
    }                                                       …
    ```

    and for the graph, where `memref.alloc` allocates the buffers for calls, and constants become `loop.weight`s:

    ```
    %y = func.call @k(%x) : (…) -> tensor<4xf32>     →    %y = memref.alloc() : memref<4xf32>
                                                          func.call @k(%x, %y) : (…) -> ()
    ```

    If inputs have named dimensions, the graph takes the size of each name after its buffers, computes the extents of
    allocations and kernels at its beginning, and asserts the requirements of the kernels' ops:

    ```
    func.func @main(%x: tensor<?x8xf32,          →    func.func @main(%x: memref<?x8xf32> {loop.dims = #relay.dims<n>},
        #relay.dims<n>>) -> …                             …, %n: index {xrelay.dim = "n"}) {
      %y = func.call @k(%x) : …                         %y = memref.alloc(%n) : memref<?x8xf32>
                                                        func.call @k(%x, %y, %n) : (…, index) -> ()
    ```

    In such a graph, kernels on a few integers, such as those that compute extents, become scalar code
    (`lowering/host/scalars.py`).

    A result that is an input, a constant or another result is copied by a kernel. Computes with an empty index space
    are removed. Raises `LoweringError` for named ops (expand them first), unnamed extents, and ops that are not of the
    topi level.
    """

    name = "convert-topi-to-loop"
    numerics = REORDERS_SUMS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts the module in place."""
        functions = [inner for inner in op.ops if isinstance(inner, func.FuncOp)]
        named = {function.sym_name.data: function for function in functions}
        kernels = [function for function in functions if function.body.blocks and _is_kernel(function)]
        graphs = [function for function in functions if function.body.blocks and function not in kernels]
        small = {kernel.sym_name.data: kernel.clone() for kernel in kernels if is_small(kernel)}
        if not any(map(_has_named_extents, functions)):
            small = {}
        for kernel in kernels:
            _KernelLowering(kernel).run()
        copies = CopyKernels(set(named))
        types = {function.sym_name.data: function.function_type for function in graphs}
        callees = {name: function for name, function in named.items() if name not in types}
        host = HostModule(callees, types, small, copies.kernel)
        inlined = set[str]().union(*(lower_graph_function(function, host) for function in graphs))
        called = {call.callee.string_value() for graph in graphs for call in ops_of(graph, func.CallOp)}
        for name in inlined - called:
            op.body.block.erase_op(named[name])
            kernels.remove(named[name])
        propagate_sizes(graphs, {kernel.sym_name.data: kernel for kernel in kernels})
        op.body.block.add_ops(copies.made)


def _has_named_extents(function: func.FuncOp) -> bool:
    """Whether a function has named dimensions, in its inputs or in values that it computes."""
    types = (*function.function_type.inputs, *function.function_type.outputs)
    return any(map(dims_in, types)) or bool(ops_of(function, *EXTENT_OPS))


def _is_kernel(function: func.FuncOp) -> bool:
    return PRIMITIVE in function.attributes or any(is_kind(type(op), MADE_HERE) for op in function.body.block.ops)


class CopyKernels:
    """Kernels that copy a buffer or its first elements, created once for each pair of types."""

    def __init__(self, taken: set[str]):
        self._taken = taken
        self._kernels: dict[tuple[Attribute, Attribute | None], func.FuncOp] = {}

    @property
    def made(self) -> list[func.FuncOp]:
        """The kernels, in the order of their first use."""
        return list(self._kernels.values())

    def kernel(self, type: MemRefType, source: MemRefType | None = None) -> func.FuncOp:
        """Returns the kernel that fills a buffer of `type` with the first elements of a buffer of type `source`.

        It takes each dynamic extent of `source`, in order, and then those of `type`. Without `source`, both buffers
        have the same extents, which it takes once. `type` may have the layout of a view of another buffer.
        """
        if (type, source) not in self._kernels:
            name = fresh_name("copy" if source is None else "cut", self._taken)
            self._kernels[type, source] = self._build(name, type, source)
        return self._kernels[type, source]

    def _build(self, name: str, type: MemRefType, source: MemRefType | None) -> func.FuncOp:
        result = _tensor_with_names(type, "n")
        tensor = result if source is None else _tensor_with_names(source, "m")
        block = Block(arg_types=[tensor])
        copy = _copy_of(block.args[0], shape_of_type(result))
        block.add_ops([copy, func.ReturnOp(*copy.results)])
        function = func.FuncOp(name, ([tensor], [result]), Region(block), visibility="private")
        _KernelLowering(function).run()
        # Tensor types do not specify the layout of a view of a buffer.
        Rewriter.replace_value_with_new_type(output_arguments(function)[0], type)
        function.function_type = function_type(list(function.body.block.arg_types), [])
        return function


def _tensor_with_names(type: MemRefType, stem: str) -> TensorType[Attribute]:
    """Returns the tensor type of a buffer of `type`, with a name for each dynamic extent."""
    names = [symbol(f"{stem}{axis}") for axis, extent in enumerate(type.get_shape()) if extent == DYNAMIC_INDEX]
    return TensorType(type.element_type, type.get_shape(), DimsAttr(tuple(names)) if names else NoneAttr())


def _copy_of(tensor: SSAValue, shape: Shape | None = None) -> ComputeOp:
    """Copies the first elements of a tensor: those of `shape`, by default all."""

    def body(b: Body) -> list[SSAValue]:
        return [b.read(tensor, *b.spatial)]

    extents = {f"i{axis}": extent for axis, extent in enumerate(shape_of(tensor) if shape is None else shape)}
    return compute("copy", extents, [tensor_type(tensor).element_type], body)


class _KernelLowering:
    """Lowers a function of computes to nests."""

    def __init__(self, function: func.FuncOp):
        self._rewriting = FunctionRewriting(function)
        self._buffers, self._new = self._rewriting.buffers, self._rewriting.block
        computes = [op for op in self._rewriting.ops if isinstance(op, MADE_HERE)]
        # A scatter is two nests: its updates follow a copy.
        several = len(computes) > 1 or any(isinstance(op, ScatterOp) for op in computes)
        self._extents = KernelExtents(self._new)
        self._nests = KernelNests(self._buffers, self._extents, several=several)

    def run(self) -> None:
        """Rewrites the function, and marks it as a kernel."""
        rewriting, results = self._rewriting, self._rewriting.last.operands
        outputs = rewriting.add_arguments(results)
        shapes = [shape_of(value) for value in (*rewriting.inputs, *results)]
        for shape in shapes:
            self._extents.numbers(shape)
        copied = rewriting.assign_destinations(results, outputs, _takes_destination)
        for op in rewriting.ops:
            self._lower(op)
        for value, output in copied:
            self._copy_within(value, output)
        rewriting.finish(len(outputs))
        rewriting.function.attributes[LOOP_KERNEL] = UnitAttr()
        self._record_extents(shapes)

    def _record_extents(self, shapes: Sequence[Shape]) -> None:
        """Records the extents of each buffer by argument number, and the dimensions of the arguments."""
        if self._extents.dims:
            function = self._rewriting.function
            attrs = argument_attrs(function)
            for attr, shape in zip(attrs, shapes, strict=False):
                if (numbers := self._extents.numbers(shape)) is not None:
                    attr[EXTENTS] = numbers
            set_argument_attrs(function, attrs)
            function.attributes[LOOP_DIMS] = DimsAttr(self._extents.dims)

    def _lower(self, op: Operation) -> None:
        """Adds the nests of an op. Raises `LoweringError` for an op without a form at the loop level."""
        match op:
            case ComputeOp():
                self._new.add_ops(build_nest(op, self._results(op), self._nests))
            case SortOp():
                self._new.add_ops(build_sort(op, self._results(op), self._nests))
            case PositionsOp():
                self._new.add_ops(build_positions(op, self._results(op), self._nests))
            case SuppressOp():
                self._new.add_ops(build_suppress(op, self._buffer(op.kept, op), self._nests))
            case ScanOp():
                used = [self._buffer(value, op) if value.uses else None for value in op.results]
                self._new.add_ops(build_scan(op, used, self._nests))
            case ScatterOp():
                result = self._buffer(op.result, op)
                self._copy_within(op.into, result)
                self._new.add_ops(build_scatter(op, result, self._nests))
            case func.CallOp():
                arguments = [self._buffers[operand] for operand in op.operands]
                arguments += self._results(op)
                self._add(func.CallOp(op.callee, arguments, []), op)
            case ConstantOp():
                self._buffers[op.result] = self._add(weight_of(op), op).results[0]
            case _:
                raise conversion_error(op)

    def _results(self, op: Operation) -> list[SSAValue]:
        return [self._buffer(value, op) for value in op.results]

    def _buffer(self, value: SSAValue, op: Operation) -> SSAValue:
        """Returns the destination of a result of `op`: an output of the kernel, or a new buffer.

        An accumulator that is not read after its fold is local.
        """
        if value not in self._buffers:
            shape = shape_of(value)
            local = not value.uses and isinstance(op, ComputeOp) and all(isinstance(dim, int) for dim in shape)
            memref_of(value.type, op)
            alloc = self._extents.alloc(tensor_type(value).element_type, shape, local=local)
            alloc.memref.name_hint = value.name_hint
            self._buffers[value] = self._add(alloc, op).results[0]
        return self._buffers[value]

    def _add(self, new: Operation, source: Operation) -> Operation:
        new.location = source.location
        self._new.add_op(new)
        return new

    def _copy_within(self, value: SSAValue, output: SSAValue) -> None:
        """Copies a tensor into a buffer by a nest of this kernel."""
        copy = _copy_of(value)
        self._new.add_ops(build_nest(copy, [output], self._nests))
        copy.drop_all_references()


def _takes_destination(value: SSAValue) -> bool:
    """Whether a nest can write `value` to any buffer."""
    return isinstance(value.owner, (*MADE_HERE, func.CallOp))
