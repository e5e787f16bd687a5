"""Results whose length the data decides: a buffer with room for the most there can be, and a count beside it.

    func.func private @k(%x: T) -> tensor<?x2xi32>     func.func private @k(%x: T) -> (tensor<20x2xi32>, tensor<i64>)
    func.func @main(%x: T) -> tensor<?x2xi32> {     →  func.func @main(%x: T) -> (tensor<20x2xi32> {xrelay.counted =
      %r = func.call @k(%x)                                array<i64: 0, 1>}, tensor<i64>) {
      func.return %r                                     %r, %n = func.call @k(%x)

An implementation says by `TopiEmitter.counted` that a buffer has a count. Here signatures, calls and `@main` follow.
What reads such a result gets the buffer: that is right for kernels in which each element of the result comes from one
place of the operand (transposes, casts), whose result has the same count. All others are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    StringAttr,
    TensorType,
    UnrealizedConversionCastOp,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.attribute_names import COUNTED, PRIMITIVE, VALUE_NAME
from xrelay.dialects.counted import counted_attribute
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.types import dims_in, shape_of
from xrelay.dialects.relay.ops.tensor_elementwise import CastOp
from xrelay.dialects.relay.ops.tensor_transform import TransposeOp
from xrelay.dialects.relay.structure.extents import EXTENT_OPS
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import ANY, DimExpr
from xrelay.passes.infra.conversion import describe_place
from xrelay.passes.infra.verify import walk_ops

PLACE_BY_PLACE = (CastOp, TransposeOp)
"""Operators whose result has at each place what the operand has at one."""

Convert = Callable[[FuncOp], None]


@dataclass(frozen=True)
class Counted:
    """A buffer of which, along `axis`, as many elements are in use as `count` says."""

    buffer: SSAValue
    count: SSAValue
    axis: int


@dataclass(frozen=True)
class OpenExtents:
    """Tells the extents that the data decides from those whose names the graph binds."""

    bound: frozenset[str] | None
    """The names that the graph binds; `None` where there is no graph, so that all are taken to be."""

    @staticmethod
    def of(graphs: Sequence[FuncOp]) -> OpenExtents:
        """What the graph functions of a module bind, by their inputs and by `relay.extents` and `relay.cut`."""
        if not graphs:
            return OpenExtents(None)
        inputs = [type for graph in graphs for type in graph.function_type.inputs.data]
        made = {name for graph in graphs for op in walk_ops(graph) if isinstance(op, EXTENT_OPS) for name in op.names}
        return OpenExtents(frozenset(made).union(*(dim.names for type in inputs for dim in dims_in(type))))

    def axes(self, type: Attribute) -> list[int]:
        """The axes of open extent of a tensor type."""
        if not isinstance(type, TensorType):
            return []
        return [axis for axis, dim in enumerate(shape_of(type)) if isinstance(dim, DimExpr) and self._is_open(dim)]

    def _is_open(self, dim: DimExpr) -> bool:
        return dim == ANY or (self.bound is not None and not dim.names <= self.bound)

    def is_open(self, type: Attribute) -> bool:
        """Whether a tensor type has an extent that is not known before the data is."""
        return bool(self.axes(type))

    def axis(self, type: Attribute, place: Operation) -> int:
        """The one axis of open extent."""
        axes = self.axes(type)
        if len(axes) != 1:
            raise LoweringError(
                f"{type} has {len(axes)} extents that the data decides; native code has one at most",
                location=describe_place(place),
            )
        return axes[0]


def split_results(kernel: FuncOp, extents: OpenExtents) -> dict[int, int]:
    """Lets a converted kernel return buffers and counts; gives the axis of each result that has a count."""
    last = kernel.body.block.last_op
    if not isinstance(last, ReturnOp):
        return {}
    counted: dict[SSAValue, Counted] = {}
    casts: list[Operation] = []
    for value in last.operands:
        owner = value.owner
        if extents.is_open(value.type) and isinstance(owner, UnrealizedConversionCastOp) and len(owner.inputs) == 2:
            counted[value] = Counted(owner.inputs[0], owner.inputs[1], extents.axis(value.type, last))
            casts.append(owner)
    axes = {number: counted[value].axis for number, value in enumerate(last.operands) if value in counted}
    if axes:
        return_counted(kernel, last, counted)
    for cast in casts:
        if not any(result.uses for result in cast.results):
            Rewriter.erase_op(cast)
    return axes


def return_counted(function: FuncOp, last: ReturnOp, counted: Mapping[SSAValue, Counted]) -> None:
    """Lets a function return buffer and count in place of each value that is counted, and say which is which."""
    given = function.res_attrs.data if function.res_attrs is not None else [DictionaryAttr({})] * len(last.operands)
    results: list[SSAValue] = []
    attributes: list[dict[str, Attribute]] = []
    for number, (value, own) in enumerate(zip(last.operands, given, strict=True)):
        found = counted.get(value)
        results.append(value if found is None else found.buffer)
        attributes.append(dict(own.data))
        # What has no name is called by its number, which counts would shift.
        name = own.data.get(VALUE_NAME)
        if name is None and PRIMITIVE not in function.attributes:
            name = attributes[-1][VALUE_NAME] = StringAttr(f"output{number}")
        if found is not None:
            attributes[-1][COUNTED] = counted_attribute(found.axis, len(results))
            results.append(found.count)
            attributes.append({VALUE_NAME: StringAttr(f"{name.data}_count")} if isinstance(name, StringAttr) else {})
    Rewriter.replace_op(last, ReturnOp(*results))
    function.res_attrs = ArrayAttr([DictionaryAttr(each) for each in attributes])
    function.function_type = FunctionType.from_lists(
        [argument.type for argument in function.body.block.args], [value.type for value in results]
    )


class CountedGraph:
    """Lets a function of calls pass buffers and counts on.

    `axes` has what `split_results` gave for each kernel; kernels with operands of open shape are not yet converted.
    """

    def __init__(
        self,
        graph: FuncOp,
        kernels: dict[str, FuncOp],
        axes: dict[str, dict[int, int]],
        convert: Convert,
        extents: OpenExtents,
    ):
        self._graph, self._kernels, self._axes, self._convert = graph, kernels, axes, convert
        self._extents = extents
        self._counted: dict[SSAValue, Counted] = {}
        self._bounded: dict[tuple[str, tuple[Attribute, ...]], str] = {}

    def run(self) -> None:
        """Rewrites calls in order, then what the function returns."""
        replaced: list[CallOp] = []
        for op in list(self._graph.body.block.ops):
            if isinstance(op, CallOp) and self._call(op):
                replaced.append(op)
            elif isinstance(op, ReturnOp) and any(value in self._counted for value in op.operands):
                return_counted(self._graph, op, self._counted)
        for op in reversed(replaced):
            Rewriter.erase_op(op)

    def _call(self, op: CallOp) -> bool:
        """Replaces a call of, or on, counted values; False where there are none."""
        name = op.callee.string_value()
        given = [self._counted.get(argument) for argument in op.arguments]
        known = [value for value in given if value is not None]
        axes = self._axes.get(name, {})
        if not known and not axes:
            return False
        arguments = [old if found is None else found.buffer for old, found in zip(op.arguments, given, strict=True)]
        if known:
            name, axes = self._bound_kernel(op, [argument.type for argument in arguments], known)
        new = CallOp(name, arguments, list(self._kernels[name].function_type.outputs.data))
        new.attributes |= op.attributes
        new.location = op.location
        Rewriter.insert_op(new, InsertPoint.before(op))
        results = iter(new.results)
        for number, old in enumerate(op.results):
            buffer = next(results)
            buffer.name_hint = old.name_hint
            if number in axes:
                count = known[0].count if known else next(results)
                self._counted[old] = Counted(buffer, count, axes[number])
            else:
                old.replace_all_uses_with(buffer)
        return True

    def _bound_kernel(
        self, call: CallOp, types: Sequence[Attribute], given: Sequence[Counted]
    ) -> tuple[str, dict[int, int]]:
        """A copy of a kernel for buffers of these types, converted, and the axes of its results that are counted."""
        source = self._kernels[call.callee.string_value()]
        _check_place_by_place(source, given, self._extents)
        opened = enumerate(source.function_type.outputs.data)
        axes = {number: self._extents.axis(type, source) for number, type in opened if self._extents.is_open(type)}
        key = source.sym_name.data, tuple(types)
        if key not in self._bounded:
            copy = source.clone()
            name = f"{source.sym_name.data}_bounded"
            while name in self._kernels:
                name += "_"
            copy.sym_name = StringAttr(name)
            _retype(copy, types)
            Rewriter.insert_op(copy, InsertPoint.after(source))
            self._convert(copy)
            self._kernels[name], self._bounded[key] = copy, name
        return self._bounded[key], axes


def _check_place_by_place(kernel: FuncOp, given: Sequence[Counted], extents: OpenExtents) -> None:
    """Refuses a kernel that would look at what lies behind the count."""
    for op in kernel.body.block.ops:
        if isinstance(op, RelayOp) and (not isinstance(op, PLACE_BY_PLACE) or len({each.count for each in given}) > 1):
            operand = next((value.type for value in op.operands if extents.is_open(value.type)), op.operands[0].type)
            raise LoweringError(
                f"{op.name} reads {operand}, whose extent {extents.axis(operand, op)} the data decides; native code "
                "for that is not there yet",
                location=describe_place(op),
                help="run it by the interpreter: xrelay run --interpret",
            )


def _retype(kernel: FuncOp, types: Sequence[Attribute]) -> None:
    """Gives the arguments of a kernel other types, and everything that follows from them."""
    for argument, type in zip(list(kernel.body.block.args), types, strict=True):
        Rewriter.replace_value_with_new_type(argument, type)
    for op in list(kernel.body.block.ops):
        if isinstance(op, RelayOp):
            Rewriter.replace_value_with_new_type(op.results[0], op.inferred_type([value.type for value in op.operands]))
    last = kernel.body.block.last_op
    results = [value.type for value in last.operands] if last is not None else []
    kernel.function_type = FunctionType.from_lists([argument.type for argument in kernel.body.block.args], results)
