"""`relay-lift-closures`: replaces functions that are values by functions of the module, and data.

Native code has only calls of known functions. Each `relay.fn` that `relay-inline` leaves becomes a private function,
with the captured values as its first parameters. A `relay.invoke` of a known `relay.fn` becomes a call of this
function. If a closure is passed on (through a branch or loop, to or from a function), its value becomes a
`!relay.closure`: the number of the function and the captured values. A call of such a value branches on the number to
one of the functions that the value may be. Then tail recursions with a single call become loops, and
functions that are not recursive are inlined, unless this makes a function too large. The option `keep` keeps all
functions, as Relay's `LambdaLift` does.

Before:

    %f = relay.fn(%a : T) -> T {
      %s = relay.add(%a, %x)
      relay.yield %s : T
    }
    %r = relay.loop(%i, %g = %f : (T) -> T, %v = %x : T) to %n -> tuple<(T) -> T, T> {
      %w = relay.invoke %g(%v)
      %h = relay.fn(%a : T) -> T {
        %m = relay.multiply(%a, %w)
        relay.yield %m : T
      }
      …

After:

    %f = relay.closure_construct(%x) {number = 0}
    %r = relay.loop(%i, %g = %f : !relay.closure, %v = %x : T) to %n -> tuple<!relay.closure, T> {
      %k = relay.closure_number(%g)
      %c = relay.less(%k, %one)
      %w = relay.if %c {
        %x_1 = relay.closure_captured(%g) {index = 0, of = T}
        %s = relay.add(%v, %x_1)
        relay.yield %s
      } else {…}
      %h = relay.closure_construct(%w) {number = 1}
      …

The captured values are computed before the closure, as in basic block normal form.

The closures of `relay.callers` flow to the functions that call them, and to the parameters of `relay.takes` that they
fit.

Raises `PassError` for a call of a function that is not a `relay.fn` of the program, such as an argument of `@main`, and
for a closure whose body names an extent that no value outside of it determines. Raises `TypeInferenceError` for values
of incomplete type in a program with closures, because such a value may contain a closure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, TupleType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.core.attribute_values import int_attribute
from xrelay.dialects.relay.ops.tensor.compare import LessOp
from xrelay.dialects.relay.structure.call import NamedCallOp, names_in
from xrelay.dialects.relay.structure.closures import ClosureCapturedOp, ClosureConstructOp, ClosureNumberOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.loop import COUNT
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.yields import YieldOp, yielded
from xrelay.dialects.shared.attribute_names import BINDS, CALLERS, FORM
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import defined_values, ops_of
from xrelay.dialects.shared.types import ClosureType, IncompleteType, dims_in, tuple_type, with_dims
from xrelay.errors import PassError
from xrelay.index_algebra.dims import ANY
from xrelay.passes.functions.add_callers import closures_of_parameters
from xrelay.passes.functions.closure_analysis import Captures, ClosureFlow, captures_of, function_of
from xrelay.passes.functions.inline import inline_calls
from xrelay.passes.functions.recursion_to_loop import turn_recursions_into_loops
from xrelay.passes.graph.calls import callees_first, calls_in, functions_of
from xrelay.passes.graph.replacements import erase_op, retype
from xrelay.passes.graph.tuple_leaves import leaf_types, rebuild, take_apart
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.dead_code_elimination import eliminate_dead_code
from xrelay.passes.types.check_types import check_types
from xrelay.passes.types.infer_type import infer_types
from xrelay.passes.types.type_solver import function_around

MAX_OPS = 20_000
"""The maximum number of ops in a function after inlining the calls of its closures."""


@dataclass(frozen=True)
class RelayLiftClosuresPass(XRelayPass):
    """Replaces functions that are values by functions of the module, and data; see the module's docstring. Exact."""

    name = "relay-lift-closures"
    numerics = EXACT

    keep: bool = field(default=False, metadata={"help": "neither inline the functions nor turn them into loops"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        lift_closures(op, keep=self.keep)


def lift_closures(module: ModuleOp, *, keep: bool = False) -> None:
    """Lifts the closures of `module`; unless `keep` is set, turns the new functions into loops or inlines them."""
    if not ops_of(module, FnOp, InvokeOp):
        return
    # No closures flow to the parameters of functions that are never called.
    eliminate_dead_code(module)
    if not any(CALLERS in op.attributes for op in module.body.block.ops):
        check_types(module)  # relay-add-callers checks types, and the calls that it adds are not typed yet
    calls = ops_of(module, FnOp, InvokeOp)
    if not calls:
        return
    _leave_out_lets(module)
    flow = ClosureFlow(module)
    for parameter, closures in closures_of_parameters(module).items():
        for closure in closures:
            flow.join(closure, parameter)
    lifter = _Lifter(module, [op for op in calls if isinstance(op, FnOp)], flow)
    lifter.run([op for op in calls if isinstance(op, InvokeOp)])
    _let_closures_be_data(module)
    if any(function.has_names for function in lifter.lifted.values()):
        infer_types(module)
    if not keep:
        turn_recursions_into_loops(module)
        _inline(module)


def _inline(module: ModuleOp) -> None:
    """Inlines functions that are not recursive, unless a function would grow too large."""
    functions = functions_of(module)
    calls = {name: calls_in(function, functions) for name, function in functions.items()}
    sizes: dict[str, int] = {}
    for name in callees_first(calls):
        own = sum(1 for _ in walk_ops(functions[name]))
        sizes[name] = own + sum(count * sizes.get(callee, 0) for callee, count in calls[name].items())
    if max(sizes.values()) <= MAX_OPS:
        inline_calls(module)


def _leave_out_lets(module: ModuleOp) -> None:
    """Removes lets of closures, so that calls use the closures directly."""
    for op in list(walk_ops(module)):
        if isinstance(op, LetOp) and isinstance(op.result.type, FunctionType):
            op.result.replace_all_uses_with(op.value)
            erase_op(op)


class _Lifter:
    """Lifts the closures of a module."""

    def __init__(self, module: ModuleOp, functions: list[FnOp], flow: ClosureFlow):
        self._module, self._functions, self._flow = module, functions, flow
        self._captures: Captures = captures_of(functions)
        self._results: dict[SSAValue, SSAValue] = {}
        """Results of replaced calls → the new results."""
        names = set(functions_of(module))
        self.lifted: Mapping[FnOp, _LiftedFunction] = {
            function: self._described(number, function, names) for number, function in enumerate(functions)
        }

    def _described(self, number: int, function: FnOp, names: set[str]) -> _LiftedFunction:
        captured = [value.type for value in self._captures[function]]
        own = [parameter.type for parameter in function.parameters]
        has_names = bool(names_in([*captured, *own, yielded(function.body).type]))
        stem = f"{function_around(function).sym_name.data}_{function.result.name_hint or 'fn'}"
        return _LiftedFunction(number, fresh_name(stem, names), captured, has_names)

    def run(self, calls: list[InvokeOp]) -> None:
        """Replaces calls and closures, and moves the bodies to functions."""
        # Looked up first, because the rewrite erases values between a closure and its call.
        chosen = {call: self._flow.functions(call.callee) for call in calls if function_of(call.callee) is None}
        for call in calls:
            known = function_of(call.callee)
            if known is None:
                self._call_chosen(call, chosen[call])
            else:
                self._call_known(call, known)
        # Inner functions come first: they capture values in the bodies of outer ones.
        for function in reversed(self._functions):
            self._lift(function)

    def _call_known(self, call: InvokeOp, function: FnOp) -> None:
        new = self.lifted[function].call([*self._captured(function), *call.arguments], call)
        Rewriter.replace_op(call, new)
        self._results[call.result] = new.results[0]

    def _captured(self, function: FnOp) -> list[SSAValue]:
        return [self._results.get(value, value) for value in self._captures[function]]

    def _call_chosen(self, call: InvokeOp, functions: list[FnOp]) -> None:
        found = sorted((self.lifted[function] for function in functions), key=lambda each: each.number)
        if not found:
            raise PassError(
                "relay-lift-closures: the callee is not a function of the program",
                location=location_of(call),
                help="compiled code can only call functions that the program creates; use an interpreter",
            )
        self._results[call.result] = _call_any_of(found, call)

    def _lift(self, function: FnOp) -> None:
        """Moves the body of `function` to a function of the module, and replaces its value by a `!relay.closure`."""
        lifted, captured = self.lifted[function], self._captured(function)
        if function.result.first_use is not None:
            function.result.replace_all_uses_with(_closure_over(lifted, captured, function))
        block = Block(arg_types=[value.type for value in (*captured, *function.parameters)])
        values: dict[SSAValue, SSAValue] = dict(zip([*captured, *function.parameters], block.args, strict=True))
        for old, new in values.items():
            new.name_hint = old.name_hint
        enclosing = function_around(function)
        ops = list(function.body.block.ops)
        for op in ops:
            op.detach()
        block.add_ops(ops)
        end = ops[-1]
        itself = function.self_argument
        if itself is not None and itself.first_use is not None:
            arguments = block.args[: len(captured)]
            values[itself] = _closure_over(lifted, arguments, block.first_op or end)
        _replace_values(block, values)
        returned = ReturnOp(end.operands[0])
        returned.location = end.location
        Rewriter.replace_op(end, returned, [])
        new = FuncOp(lifted.name, (list(block.arg_types), [returned.operands[0].type]), Region(block), "private")
        new.location = function.location
        if FORM in enclosing.attributes:
            new.attributes[FORM] = enclosing.attributes[FORM]
        self._module.body.block.add_op(new)
        erase_op(function)


def _replace_values(block: Block, values: dict[SSAValue, SSAValue]) -> None:
    """Replaces operands in `block` as in `values`, and constants from outside of it by copies."""
    inside = {value for op in block.ops for inner in walk_ops(op) for value in inner.results}
    copies: list[Operation] = []
    for op in [inner for outer in block.ops for inner in walk_ops(outer)]:
        for value in op.operands:
            if isinstance(value.owner, ConstantOp) and value not in inside and value not in values:
                copies.append(value.owner.clone())
                values[value] = copies[-1].results[0]
        if any(value in values for value in op.operands):
            op.operands = [values.get(value, value) for value in op.operands]
    first = block.first_op
    if copies and first is not None:
        Rewriter.insert_op(copies, InsertPoint.before(first))


@dataclass(frozen=True)
class _LiftedFunction:
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


def _closure_over(function: _LiftedFunction, captured: Sequence[SSAValue], anchor: Operation) -> SSAValue:
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


def _call_any_of(functions: Sequence[_LiftedFunction], call: InvokeOp) -> SSAValue:
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
    functions: Sequence[_LiftedFunction], number: SSAValue | None, call: InvokeOp, point: InsertPoint
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


def _call_at(function: _LiftedFunction, call: InvokeOp, point: InsertPoint, *, is_choice: bool) -> SSAValue:
    """Emits a call of `function` at `point`, with the captured values of the closure of `call`; returns the result."""
    taken: list[Operation] = []
    for index, type in enumerate(map(_data_type, leaf_types(function.captured))):
        # Inference assigns the names of the extents here.
        result = IncompleteType() if dims_in(type) else type
        of = with_dims(type, lambda _: ANY)
        properties: dict[str, Attribute] = {"index": int_attribute(index), "of": of}
        taken.append(ClosureCapturedOp.create(operands=[call.callee], result_types=[result], properties=properties))
    leaves = iter([op.results[0] for op in taken])
    captured: list[SSAValue] = []
    for type in function.captured:
        value, ops = rebuild(with_dims(_data_type(type), lambda _: ANY), leaves)
        captured.append(value)
        taken += ops
    taken.append(function.call([*captured, *call.arguments], call, is_choice=is_choice))
    for op in taken:
        op.location = call.location
    Rewriter.insert_op(taken, point)
    return taken[-1].results[0]


def _data_type(type: Attribute) -> Attribute:
    """Returns `type` with `!relay.closure` for functions; recursive to the depth of nested tuples."""
    if isinstance(type, FunctionType):
        return ClosureType()
    if isinstance(type, TupleType):
        fields = [_data_type(field) for field in type.types]
        if any(new is not old for new, old in zip(fields, type.types, strict=True)):
            return tuple_type(fields)
    return type


def _let_closures_be_data(module: ModuleOp) -> None:
    """Replaces function types in the types of all values of `module` and in signatures."""
    known: dict[int, tuple[Attribute, Attribute]] = {}
    changed: dict[SSAValue, Attribute] = {}
    for op in walk_ops(module):
        for value in defined_values(op):
            old = value.type
            if id(old) not in known:
                known[id(old)] = old, _data_type(old)
            if (new := known[id(old)][1]) is not old:
                changed[value] = new
    retype(changed)
    for function in module.body.block.ops:
        if isinstance(function, FuncOp) and function.body.blocks:
            function.update_function_type()
