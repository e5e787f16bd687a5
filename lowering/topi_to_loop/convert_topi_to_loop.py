"""`convert-topi-to-loop`: functions on tensors become functions on buffers, computes become loop nests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod

from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import FunctionType, IntegerAttr, MemRefType, ModuleOp, StringAttr, TensorType, UnitAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from xrelay.dialects.attribute_names import LOOP_KERNEL, NUM_OUTPUTS, PRIMITIVE
from xrelay.dialects.loop import LOCAL, WeightOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.topi import BodyOp, ComputeOp, NamedOp, PositionsOp, ScanOp, ScatterOp, SortOp
from xrelay.dialects.topi.build import Body, compute
from xrelay.dialects.topi.shapes import bit_width, shape_of, tensor_type
from xrelay.errors import LoweringError
from xrelay.lowering.topi_to_loop.build_nest import NestNames, build_nest
from xrelay.lowering.topi_to_loop.build_positions import build_positions
from xrelay.lowering.topi_to_loop.build_scan import build_scan
from xrelay.lowering.topi_to_loop.build_scatter import build_scatter
from xrelay.lowering.topi_to_loop.build_sort import build_sort
from xrelay.passes.infra.conversion import describe_place
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs

MADE_HERE = (BodyOp, PositionsOp, SortOp)
"""The ops that become nests."""
MAX_BYTES = (1 << 63) - 1
"""The size of the largest buffer: distances between its elements are computed in signed numbers of 64 bits."""


@dataclass(frozen=True)
class ConvertTopiToLoopPass(ModulePass):
    """Every function gets the buffers of its results as additional arguments, computes and sorts become nests.

    Before → after, for a kernel:

    ```
    func.func private @k(%x: tensor<4x8xf32>)             func.func private @k(%x: memref<4x8xf32>, %r: memref<4xf32>)
        -> tensor<4xf32> attributes {relay.primitive} {       attributes {loop.kernel, loop.num_outputs = 1} {
      %r = topi.compute "sum" [%i : 4] reduce [%k : 8] …    loop.for "i" %i to 4 {
        …                                                     loop.for "k" %k to 8 {
      func.return %r                                            loop.block "sum" (…) reads(%x) writes(%r) init … {…}
    }                                                       …
    ```

    and for the graph, where calls get buffers made by `memref.alloc`, constants become `loop.weight`s:

    ```
    %y = func.call @k(%x) : (…) -> tensor<4xf32>     →    %y = memref.alloc() : memref<4xf32>
                                                          func.call @k(%x, %y) : (…) -> ()
    ```

    A value that is returned twice, or that is an input or a constant, is copied by a kernel of its own. Computes with
    an empty index space vanish. Refuses (`LoweringError`) named ops (expand them before), dynamic shapes, and ops
    that the topi level does not know.
    """

    name = "convert-topi-to-loop"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts the module in place."""
        functions = [inner for inner in op.ops if isinstance(inner, func.FuncOp)]
        copies = CopyKernels({function.sym_name.data for function in functions})
        for function in functions:
            if function.body.blocks:
                _FunctionLowering(function, copies).run()
        op.body.block.add_ops(copies.made)


def memref_of(type: Attribute, place: Operation) -> MemRefType:
    """The type of the buffer that holds a tensor; `LoweringError` for an open shape, or more bytes than addresses."""
    if not isa(type, TensorType) or any(extent < 0 for extent in type.get_shape()):
        raise LoweringError(f"{type} has no buffer: the loop level needs tensors of static shape",
                            location=describe_place(place), help="give the model static shapes")  # fmt: skip
    size = prod(type.get_shape()) * ceil(bit_width(type.element_type) / 8)
    if size > MAX_BYTES:
        raise LoweringError(f"{type} takes {size} bytes, a buffer can have {MAX_BYTES}",
                            location=describe_place(place), help="give the model smaller shapes")  # fmt: skip
    return MemRefType(type.element_type, type.get_shape())


class CopyKernels:
    """Kernels that copy a buffer, made once for each type."""

    def __init__(self, taken: set[str]):
        self._taken = taken
        self._names: dict[Attribute, str] = {}
        self.made: list[func.FuncOp] = []

    def name(self, type: MemRefType) -> str:
        """The kernel that copies a buffer of `type`."""
        if type not in self._names:
            name, n = "copy", 0
            while name in self._taken:
                n += 1
                name = f"copy_{n}"
            self._taken.add(name)
            self._names[type] = name
            self.made.append(self._build(name, type))
        return self._names[type]

    def _build(self, name: str, type: MemRefType) -> func.FuncOp:
        tensor = TensorType(type.element_type, type.get_shape())
        block = Block(arg_types=[tensor])
        copy = _copy_of(block.args[0])
        block.add_ops([copy, func.ReturnOp(*copy.results)])
        function = func.FuncOp(name, ([tensor], [tensor]), Region(block), visibility="private")
        _FunctionLowering(function, self).run()
        return function


def _copy_of(tensor: SSAValue) -> ComputeOp:
    def body(b: Body) -> list[SSAValue]:
        return [b.read(tensor, *b.spatial)]

    extents = {f"i{axis}": extent for axis, extent in enumerate(shape_of(tensor))}
    return compute("copy", extents, [tensor_type(tensor).element_type], body)


class _FunctionLowering:
    """Rewrites one function in place: a new block is filled from the old one, op by op."""

    def __init__(self, function: func.FuncOp, copies: CopyKernels):
        self._function = function
        self._copies = copies
        self._old, self._new = function.body.block, Block()
        self._buffers: dict[SSAValue, SSAValue] = {}
        computes = [op for op in self._old.ops if isinstance(op, MADE_HERE)]
        self._is_kernel = bool(computes) or PRIMITIVE in function.attributes
        # A scatter is two nests: its updates come after a copy.
        several = len(computes) > 1 or any(isinstance(op, ScatterOp) for op in computes)
        self._names = NestNames(several=several)

    def run(self) -> None:
        """Rewrites the function."""
        last = self._old.last_op
        if not isinstance(last, func.ReturnOp):
            raise LoweringError("a function does not end in func.return", location=describe_place(self._function))
        outputs = self._make_arguments(last)
        copied = self._assign_destinations(last, outputs)
        for op in self._old.ops:
            if op is not last:
                self._lower(op)
        for value, output in copied:
            self._copy(value, output, last)
        self._finish(len(outputs))

    def _make_arguments(self, last: func.ReturnOp) -> list[SSAValue]:
        """Buffers for the inputs, and for the results behind them; gives the latter."""
        inputs = list(self._old.args)
        for value in (*inputs, *last.operands):
            argument = self._new.insert_arg(memref_of(value.type, last), len(self._new.args))
            argument.name_hint = value.name_hint
        self._buffers.update(zip(inputs, self._new.args, strict=False))
        return list(self._new.args[len(inputs) :])

    def _assign_destinations(self, last: func.ReturnOp, outputs: Sequence[SSAValue]) -> list[tuple[SSAValue, SSAValue]]:
        """Results that are computed here are computed in place; the others are copied: `(value, output)`."""
        copied: list[tuple[SSAValue, SSAValue]] = []
        for value, output in zip(last.operands, outputs, strict=True):
            made_here = isinstance(value.owner, (*MADE_HERE, func.CallOp))
            if made_here and value not in self._buffers:
                self._buffers[value] = output
            else:
                copied.append((value, output))
        return copied

    def _lower(self, op: Operation) -> None:
        match op:
            case ComputeOp():
                results = [self._buffer(value, op) for value in op.results]
                self._add_nest(build_nest(op, self._buffers, results, self._names))
            case SortOp():
                results = [self._buffer(value, op) for value in op.results]
                self._new.add_ops(build_sort(op, self._buffers[op.data], results, self._names))
            case ScanOp():
                used = [self._buffer(value, op) if value.uses else None for value in op.results]
                self._new.add_ops(build_scan(op, self._buffers, used, self._names))
            case PositionsOp():
                results = [self._buffer(value, op) for value in op.results]
                self._new.add_ops(build_positions(op, self._buffers, results, self._names))
            case ScatterOp():
                result = self._buffer(op.result, op)
                self._copy_within(op.into, result)
                self._add_nest(build_scatter(op, self._buffers, result, self._names))
            case func.CallOp():
                arguments = [self._buffers[operand] for operand in op.operands]
                arguments += [self._buffer(value, op) for value in op.results]
                self._add(func.CallOp(op.callee, arguments, []), op)
            case ConstantOp():
                weight = WeightOp(op.value, memref_of(op.result.type, op))
                weight.result.name_hint = op.result.name_hint
                self._buffers[op.result] = self._add(weight, op).results[0]
            case NamedOp():
                raise LoweringError(f"'{op.name}' is still named", location=describe_place(op),
                                    help="run topi-expand-named before")  # fmt: skip
            case _:
                raise LoweringError(f"failed to convert {op.name} to loop", location=describe_place(op))

    def _buffer(self, value: SSAValue, op: Operation) -> SSAValue:
        """The destination of a result: an output of the function, or a buffer allocated for it.

        An accumulator that nobody reads afterwards needs no memory beyond its fold: it is local.
        """
        if value not in self._buffers:
            type = memref_of(value.type, op)
            if not value.uses and isinstance(op, ComputeOp):
                type = MemRefType(type.element_type, type.get_shape(), type.layout, StringAttr(LOCAL))
            alloc = memref.AllocOp([], [], type)
            alloc.memref.name_hint = value.name_hint
            self._buffers[value] = self._add(alloc, op).results[0]
        return self._buffers[value]

    def _add(self, new: Operation, source: Operation) -> Operation:
        new.location = source.location
        self._new.add_op(new)
        return new

    def _add_nest(self, nest: Operation | None) -> None:
        if nest is not None:
            self._new.add_op(nest)

    def _copy(self, value: SSAValue, output: SSAValue, place: Operation) -> None:
        buffer = self._buffers[value]
        if not self._is_kernel:
            self._add(func.CallOp(self._copies.name(memref_of(value.type, place)), [buffer, output], []), place)
            return
        self._copy_within(value, output)

    def _copy_within(self, value: SSAValue, output: SSAValue) -> None:
        """Copies a tensor into a buffer by a nest of this kernel."""
        copy = _copy_of(value)
        self._add_nest(build_nest(copy, self._buffers, [output], self._names))
        copy.drop_all_references()

    def _finish(self, num_outputs: int) -> None:
        function = self._function
        self._new.add_op(func.ReturnOp())
        function.body.detach_block(self._old)
        function.body.add_block(self._new)
        self._old.erase()
        function.function_type = FunctionType.from_lists(list(self._new.arg_types), [])
        # What results say of themselves, their names, the buffers that hold them say now.
        named = [dict(each.data) for each in function.res_attrs] if function.res_attrs is not None else []
        inputs = argument_attrs(function)[: len(self._new.args) - num_outputs]
        set_argument_attrs(function, [*inputs, *(named or [{} for _ in range(num_outputs)])])
        function.res_attrs = None
        function.attributes.pop(PRIMITIVE, None)
        function.attributes[NUM_OUTPUTS] = IntegerAttr(num_outputs, i64)
        if self._is_kernel:
            function.attributes[LOOP_KERNEL] = UnitAttr()
