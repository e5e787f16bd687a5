"""Creates closures as data and calls of them, for `relay-lift-closures`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.core.attribute_values import int_attribute
from xrelay.dialects.relay.ops.tensor.compare import LessOp
from xrelay.dialects.relay.structure.call import NamedCallOp
from xrelay.dialects.relay.structure.closures import ClosureCapturedOp, ClosureConstructOp, ClosureNumberOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import InvokeOp
from xrelay.dialects.relay.structure.loop import COUNT
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.attribute_names import BINDS
from xrelay.dialects.shared.container_types import ClosureType
from xrelay.dialects.shared.types import IncompleteType, dims_in, with_dims
from xrelay.index_algebra.dims import ANY
from xrelay.passes.functions.closure_types import data_type
from xrelay.passes.graph.tuple_leaves import leaf_types, rebuild, take_apart


@dataclass(frozen=True)
class LiftedFunction:
    """A function of the module that replaces a `relay.fn`. The captured values are parameters before its own."""

    number: int
    name: str
    captured: Sequence[Attribute]
    """The types of the captured values."""
    has_names: bool
    """Whether its parameters or its result have named dimensions."""

    def call(self, arguments: Sequence[SSAValue], of: InvokeOp, *, is_choice: bool = False) -> Operation:
        """Returns a call of it that replaces `of`.

        If the closure may be one of several functions (`is_choice`), the call leaves dynamic result types to inference.
        """
        is_open = is_choice and bool(dims_in(of.result.type))
        types = [IncompleteType() if is_open else of.result.type]
        call = NamedCallOp(self.name, None, arguments, types) if self.has_names else CallOp(self.name, arguments, types)
        call.attributes |= {name: value for name, value in of.attributes.items() if not (is_open and name == BINDS)}
        call.location, call.results[0].name_hint = of.location, of.result.name_hint
        return call


def closure_over(function: LiftedFunction, captured: Sequence[SSAValue], anchor: Operation) -> SSAValue:
    """Creates the closure of `function` over the captured values before `anchor`; returns it."""
    # A tuple from outside of the block is captured itself, so its fields are extracted here.
    parts = [take_apart(value, anchor.parent) for value in captured]
    new = ClosureConstructOp.create(
        operands=[leaf for leaves, _ in parts for leaf in leaves],
        result_types=[ClosureType()],
        properties={"number": int_attribute(function.number)},
    )
    for op in (*(op for _, ops in parts for op in ops), new):
        op.location = anchor.location
        Rewriter.insert_op(op, InsertPoint.before(anchor))
    return new.results[0]


def call_any_of(functions: Sequence[LiftedFunction], call: InvokeOp) -> SSAValue:
    """Replaces `call` by calls of the functions that its closure may be; returns the new result.

    The number of the closure selects the call:

        %y = relay.invoke %f(%x) : (T) -> T

    becomes, for the functions 0 and 1,

        %n = relay.closure_number(%f)
        %c = relay.less(%n, %one)
        %y = relay.if %c : tensor<i1> -> T {
          %a = relay.closure_captured(%f) {index = 0, of = T}
          %r = func.call @main_f(%a, %x)
          relay.yield %r
        } else {…}
    """
    point = InsertPoint.before(call)
    number = None
    if len(functions) > 1:
        number = ClosureNumberOp.create(operands=[call.callee], result_types=[COUNT])
        number.location = call.location
        Rewriter.insert_op(number, point)
    result = _choice(functions, None if number is None else number.results[0], call, point)
    Rewriter.replace_op(call, [], [result])
    return result


def _choice(
    functions: Sequence[LiftedFunction], number: SSAValue | None, call: InvokeOp, point: InsertPoint
) -> SSAValue:
    """Emits a binary search for the function `number` at `point`; returns the call's result. Recursive to its depth."""
    if len(functions) == 1 or number is None:
        return _call_at(functions[0], call, point, is_choice=number is not None)
    middle = len(functions) // 2
    first = ConstantOp.of(np.array(functions[middle].number, np.int64))
    test = LessOp.call(number, first.result)
    regions = [Region(Block()), Region(Block())]
    for region, half in zip(regions, (functions[:middle], functions[middle:]), strict=True):
        end = YieldOp(_choice(half, number, call, InsertPoint.at_end(region.block)))
        end.location = call.location
        region.block.add_op(end)
    new = IfOp(test.result, call.result.type, *regions)
    new.attributes |= call.attributes
    for op in (first, test, new):
        op.location = call.location
    new.result.name_hint = call.result.name_hint
    Rewriter.insert_op([first, test, new], point)
    return new.result


def _call_at(function: LiftedFunction, call: InvokeOp, point: InsertPoint, *, is_choice: bool) -> SSAValue:
    """Emits a call of `function` at `point`, with the captured values of the closure of `call`; returns the result."""
    taken: list[Operation] = []
    for index, type in enumerate(map(data_type, leaf_types(function.captured))):
        # Inference assigns the names of the extents here.
        result = IncompleteType() if dims_in(type) else type
        of = with_dims(type, lambda _: ANY)
        properties: dict[str, Attribute] = {"index": int_attribute(index), "of": of}
        taken.append(ClosureCapturedOp.create(operands=[call.callee], result_types=[result], properties=properties))
    leaves = iter([op.results[0] for op in taken])
    captured: list[SSAValue] = []
    for type in function.captured:
        value, ops = rebuild(with_dims(data_type(type), lambda _: ANY), leaves)
        captured.append(value)
        taken += ops
    taken.append(function.call([*captured, *call.arguments], call, is_choice=is_choice))
    for op in taken:
        op.location = call.location
    Rewriter.insert_op(taken, point)
    return taken[-1].results[0]
