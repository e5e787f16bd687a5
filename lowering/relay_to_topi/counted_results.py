"""Results whose size depends on the data: a kernel returns a buffer of the maximum size and a count.

    func.func private @k(%x: T)                        func.func private @k(%x: T) -> (tensor<20x2xi32>, tensor<i64>)
        -> tensor<?x2xi32, #relay.dims<k>>             func.func @main(%x: T) -> tensor<?x2xi32, #relay.dims<k>> {
    func.func @main(%x: T)                         →     %b:2 = func.call @k(%x)
        -> tensor<?x2xi32, #relay.dims<k>> {             %r = relay.cut(%b#0, %b#1) {relay.binds =
      %r = func.call @k(%x)                                  #relay.bounds<k <= 20>}
      func.return %r                                     func.return %r

An implementation marks such a buffer with `TopiBuilder.counted`. This module adapts the signatures of such kernels and
their calls. Kernels that read the result do not change, since their operands have named extents anyway.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType, TensorType, UnrealizedConversionCastOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.core.attribute_values import int_attribute
from xrelay.dialects.relay.structure.extents import CutOp
from xrelay.dialects.shared.attribute_names import BINDS
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.requirements import BoundsAttr, NewExtent
from xrelay.dialects.shared.types import shape_of
from xrelay.errors import LoweringError
from xrelay.index_algebra.dims import Symbol, single_atom
from xrelay.passes.infra.verify import walk_ops

Counts: TypeAlias = frozenset[int]
"""The counted results of a kernel, as indices into the results without counts."""


def split_results(kernel: FuncOp) -> Counts:
    """Replaces each counted result of a converted kernel by a buffer and a count; returns the counted results."""
    last = kernel.body.block.last_op
    if not isinstance(last, ReturnOp):
        return frozenset()
    casts = {
        number: value.owner
        for number, value in enumerate(last.operands)
        if isinstance(value.owner, UnrealizedConversionCastOp) and isinstance(value.type, TensorType)
    }
    if not casts:
        return frozenset()
    results: list[SSAValue] = []
    for number, value in enumerate(last.operands):
        results += casts[number].inputs if number in casts else [value]
    Rewriter.replace_op(last, ReturnOp(*results))
    for cast in dict.fromkeys(casts.values()):
        Rewriter.erase_op(cast)
    kernel.function_type = FunctionType.from_lists(
        [argument.type for argument in kernel.body.block.args], [value.type for value in results]
    )
    return frozenset(casts)


def cut_results(graph: FuncOp, kernels: Mapping[str, FuncOp], counts: Mapping[str, Counts]) -> None:
    """Adapts the calls of kernels with counted results, and inserts a `relay.cut` of each buffer after the call.

    `counts` has the results of `split_results` for `kernels`.
    """
    for op in list(walk_ops(graph)):
        if isinstance(op, CallOp) and (counted := counts.get(op.callee.string_value())):
            _cut_call(op, kernels[op.callee.string_value()], counted)


def _cut_call(op: CallOp, kernel: FuncOp, counted: Counts) -> None:
    """`%r = func.call @k(%x)` → `%b, %n = func.call @k(%x)` and `%r = relay.cut(%b, %n)`."""
    new = CallOp(op.callee, op.arguments, kernel.function_type.outputs.data)
    new.attributes |= op.attributes
    results = iter(new.results)
    added: list[Operation] = [new]
    values: list[SSAValue] = []
    for number, old in enumerate(op.results):
        value: SSAValue = next(results)
        if number in counted:
            added.append(cut := _cut(value, next(results), old))
            value = cut.result
        value.name_hint = old.name_hint
        values.append(value)
    for each in added:
        each.location = op.location
    Rewriter.replace_op(op, added, values)


def _cut(buffer: SSAValue, count: SSAValue, result: SSAValue) -> CutOp:
    """Returns the used part of a buffer as a value of the type of `result`."""
    room, shape = shape_of(buffer.type), shape_of(result.type)
    axes: Sequence[int] = [axis for axis, (most, extent) in enumerate(zip(room, shape, strict=True)) if most != extent]
    name = single_atom(shape[axes[0]]) if len(axes) == 1 else None
    if not isinstance(name, Symbol):
        raise LoweringError(
            f"{result.type} must have a name for its data-dependent extent, and no other data-dependent extent",
            location=describe_location(result.owner) if isinstance(result.owner, Operation) else None,
            help="run relay-infer-type, which names extents",
        )
    bounds = BoundsAttr((NewExtent(name.name, room[axes[0]]),))
    return CutOp.create(
        operands=[buffer, count],
        result_types=[result.type],
        properties={"axis": int_attribute(axes[0])},
        attributes={BINDS: bounds},
    )
