"""`relay-to-cps`: converts functions to continuation passing style.

Each function gets a continuation as its last parameter. It calls the continuation with its former result and returns
the continuation's result, the *answer*. The ops after a call become the continuation of the call. The ops after a
branch become a closure that both branches call. Closures and parameters that are functions are converted too. Control
flow thus becomes calls of closures, which `relay-partial-eval` follows separately in each branch.

Before:

    func.func @main(%c: tensor<i1>, %x: T) -> T {
      %y = func.call @f(%x)
      %z = relay.if %c {relay.yield %x} else {relay.yield %y}
      %r = relay.negative(%z)
      func.return %r
    }

After:

    func.func @main(%c: tensor<i1>, %x: T, %k: (T) -> T) -> T {
      %k_1 = relay.fn(%y: T) -> T {
        %k_2 = relay.fn(%z: T) -> T {
          %r = relay.negative(%z)
          %0 = relay.invoke %k(%r)
          relay.yield %0
        }
        %1 = relay.if %c {
          %2 = relay.invoke %k_2(%x)
          relay.yield %2
        } else {…}
        relay.yield %1
      }
      %3 = func.call @f_cps(%x, %k_1)
      func.return %3
    }

In Relay the answer's type is a type variable. There are no type variables here: the answer of a function of the module
has the type of its former result. A function that is called gets a private copy `@f_cps` for each answer type of its
callers; if the function itself is private, it is erased. Calls of functions without a body, kernels, functions of lower
levels, and functions for external compilers do not change.

Functions are converted to basic block normal form first, so that the position of an op determines when it runs, and
remain in this form.

Raises `PassError` for a function of the module that returns a function, because its answer type would contain itself;
for calls, closures and branches with named dimensions; and for loops whose bodies contain calls or closures.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute

from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.dialects.shared.attribute_names import COMPILER, PRIMITIVE, SKIP_OPTIMIZATION
from xrelay.dialects.shared.locations import location_of
from xrelay.errors import PassError
from xrelay.passes.graph.effects import pure_functions
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.graph.scopes import is_graph
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.dead_code_elimination import PRIVATE
from xrelay.passes.relay.to_basic_block_normal_form import to_basic_block_normal_form
from xrelay.relay.passes.cps_types import has_functions, passed_type
from xrelay.relay.passes.cps_writer import CpsWriter


@dataclass(frozen=True)
class RelayToCpsPass(XRelayPass):
    """Converts functions to continuation passing style; see the module's docstring. Exact."""

    name = "relay-to-cps"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        to_cps(op)


def to_cps(module: ModuleOp, only: Collection[str] | None = None) -> list[str]:
    """Converts the functions of `module`, or those in `only`, and their callees to continuation passing style.

    Returns the names of the new functions.
    """
    converter = _Converter(module)
    wanted = [name for name in converter.functions if only is None or name in only]
    for name in wanted:
        if only is not None or name not in converter.private_callees:
            converter.convert(name)
    converter.convert_callees()
    converter.replace()
    return list(converter.made.values())


class _Converter:
    """Converts the functions of a module, and copies of their callees for the answer types of the callers."""

    def __init__(self, module: ModuleOp):
        self._module = module
        every = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
        self.functions = {op.sym_name.data: op for op in every if _has_style(op)}
        called = {callee_name(op) for function in every for op in walk_ops(function) if is_call(op)}
        self.private_callees = {
            name for name, op in self.functions.items() if name in called and op.sym_visibility == PRIVATE
        }
        self.made: dict[tuple[str, Attribute], str] = {}
        """Function name and answer type → the name of the copy that calls use."""
        self._taken = {op.sym_name.data for op in every}
        self._pure = pure_functions(module)
        self._converted: dict[str, FuncOp] = {}
        self._callees: list[FuncOp] = []

    def convert(self, name: str) -> None:
        """Converts the function `name`; the type of its answer is that of its result."""
        function = self.functions[name]
        answer = passed_type(function.function_type.outputs.data)
        if has_functions(answer):
            raise PassError(
                f"relay-to-cps: @{name} returns a function, so the type of its answer would contain itself",
                location=location_of(function),
                help="make it private, or return the result of that function",
            )
        self._converted[name] = self._written(function, name, answer)

    def convert_callees(self) -> None:
        """Converts the callees of converted functions, and their callees in turn."""
        written = 0
        while written < len(self.made):
            for (name, answer), new in list(self.made.items())[written:]:
                made = self._written(self.functions[name], new, answer)
                made.sym_visibility = PRIVATE
                self._callees.append(made)
                written += 1

    def _written(self, function: FuncOp, name: str, answer: Attribute) -> FuncOp:
        to_basic_block_normal_form(function, self._pure)

        def name_of(call: CallOp) -> str | None:
            callee = callee_name(call)
            if callee not in self.functions:
                return None
            if (callee, answer) not in self.made:
                self.made[callee, answer] = fresh_name(f"{callee}_cps", self._taken)
            return self.made[callee, answer]

        return CpsWriter(function, answer, name_of).write(name)

    def replace(self) -> None:
        """Replaces the functions by the converted ones, and appends the converted callees."""
        block = self._module.body.block
        for name, new in self._converted.items():
            old = self.functions[name]
            block.insert_op_before(new, old)
            erase_op(old)
        for name in self.private_callees - self._converted.keys():
            if any(made == name for made, _ in self.made):
                erase_op(self.functions[name])
        block.add_ops(self._callees)


def _has_style(function: FuncOp) -> bool:
    marks = {PRIMITIVE, COMPILER, SKIP_OPTIMIZATION}
    return is_graph(function) and not marks & function.attributes.keys()
