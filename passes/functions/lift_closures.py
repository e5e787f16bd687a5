"""`relay-lift-closures`: replaces functions that are values by functions of the module, and data.

Native code has only calls of known functions. Each `relay.fn` that `relay-inline` leaves becomes a private function,
with the captured values as its first parameters. A `relay.invoke` of a known `relay.fn` becomes a call of this
function. If a closure is passed on (through a branch or loop, to or from a function), its value becomes a
`!relay.closure`: the number of the function and the captured values. A call of such a value branches on the number to
one of the functions that the value may be. Then recursive functions with a single call of themselves become loops, and
functions that are not recursive are inlined. The option `keep` keeps all functions, as Relay's `LambdaLift` does.

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

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.structure.call import names_in
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.relay.structure.yields import yielded
from xrelay.dialects.shared.attribute_names import CALLERS, FORM, INLINE
from xrelay.dialects.shared.locations import location_of
from xrelay.errors import PassError
from xrelay.passes.functions.captured_extents import name_captured_extents
from xrelay.passes.functions.closure_callers import closures_of_parameters
from xrelay.passes.functions.closure_calls import LiftedFunction, call_any_of, closure_over
from xrelay.passes.functions.closure_captures import Captures, captures_of, function_of
from xrelay.passes.functions.closure_flow import ClosureFlow
from xrelay.passes.functions.closure_types import let_closures_be_data
from xrelay.passes.functions.inline import inline_calls
from xrelay.passes.functions.recursion_to_loop import turn_recursions_into_loops
from xrelay.passes.graph.calls import callees_first, calls_in
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.dead_code_elimination import eliminate_dead_code
from xrelay.passes.types.check_types import check_types
from xrelay.passes.types.infer_type import infer_types

MOST_OPS = 20_000
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
    if not any(isinstance(op, FnOp | InvokeOp) for op in walk_ops(module)):
        return
    # No closures flow to the parameters of functions that are never called.
    eliminate_dead_code(module)
    if not any(CALLERS in op.attributes for op in module.body.block.ops):
        check_types(module)  # relay-add-callers checks types, and the calls that it adds are not typed yet
    calls = [op for op in walk_ops(module) if isinstance(op, FnOp | InvokeOp)]
    if not calls:
        return
    _leave_out_lets(module)
    name_captured_extents(module, [op for op in calls if isinstance(op, FnOp)])
    flow = ClosureFlow(module)
    for parameter, closures in closures_of_parameters(module).items():
        for closure in closures:
            flow.join(closure, parameter)
    lifter = _Lifter(module, [op for op in calls if isinstance(op, FnOp)], flow)
    lifter.run([op for op in calls if isinstance(op, InvokeOp)])
    let_closures_be_data(module)
    if any(function.has_names for function in lifter.lifted.values()):
        infer_types(module)
    if not keep:
        turn_recursions_into_loops(module)
        _inline(module)


def _inline(module: ModuleOp) -> None:
    """Inlines functions that are not recursive; only those with a single call if a function would grow too large."""
    functions = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp)}
    calls = {name: calls_in(function, functions) for name, function in functions.items()}
    sizes: dict[str, int] = {}
    for name in callees_first(calls):
        own = sum(1 for _ in walk_ops(functions[name]))
        sizes[name] = own + sum(count * sizes.get(callee, 0) for callee, count in calls[name].items())
    if max(sizes.values()) <= MOST_OPS:
        inline_calls(module)
        return
    called = sum(calls.values(), Counter[str]())
    once = [function for name, function in functions.items() if called[name] == 1 and INLINE not in function.attributes]
    for function in once:
        function.attributes[INLINE] = UnitAttr()
    inline_calls(module, marked=True)
    names = {function.sym_name for function in once}
    for function in module.body.block.ops:
        # If types contradict each other, inlining restores copies of the functions, so they are looked up by name.
        if isinstance(function, FuncOp) and function.sym_name in names:
            function.attributes.pop(INLINE, None)


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
        names = _Symbols(module)
        self.lifted: Mapping[FnOp, LiftedFunction] = {
            function: self._described(number, function, names) for number, function in enumerate(functions)
        }

    def _described(self, number: int, function: FnOp, names: _Symbols) -> LiftedFunction:
        captured = [value.type for value in self._captures[function]]
        own = [parameter.type for parameter in function.parameters]
        has_names = bool(names_in([*captured, *own, yielded(function.body).type]))
        return LiftedFunction(number, names.of(function), captured, has_names)

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
        self._results[call.result] = call_any_of(found, call)

    def _lift(self, function: FnOp) -> None:
        """Moves the body of `function` to a function of the module, and replaces its value by a `!relay.closure`."""
        lifted, captured = self.lifted[function], self._captured(function)
        if function.result.first_use is not None:
            function.result.replace_all_uses_with(closure_over(lifted, captured, function))
        block = Block(arg_types=[value.type for value in (*captured, *function.parameters)])
        values: dict[SSAValue, SSAValue] = dict(zip([*captured, *function.parameters], block.args, strict=True))
        for old, new in values.items():
            new.name_hint = old.name_hint
        enclosing = _enclosing_function(function)
        ops = list(function.body.block.ops)
        for op in ops:
            op.detach()
        block.add_ops(ops)
        end = ops[-1]
        itself = function.self_argument
        if itself is not None and itself.first_use is not None:
            arguments = block.args[: len(captured)]
            values[itself] = closure_over(lifted, arguments, block.first_op or end)
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


def _enclosing_function(op: Operation) -> FuncOp:
    """The function of the module that contains `op`."""
    around = op.parent_op()
    while around is not None and not isinstance(around, FuncOp):
        around = around.parent_op()
    if around is None:
        raise PassError("relay-lift-closures: a relay.fn is not in a function", location=location_of(op))
    return around


class _Symbols:
    """Generates names for functions that are unused in the module."""

    def __init__(self, module: ModuleOp):
        self._taken = {op.sym_name.data for op in module.body.block.ops if isinstance(op, FuncOp)}

    def of(self, function: FnOp) -> str:
        """A new name, from those of the enclosing function and of `function`."""
        hint = function.result.name_hint or "fn"
        return fresh_name(f"{_enclosing_function(function).sym_name.data}_{hint}", self._taken)
