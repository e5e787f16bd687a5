"""`relay-to-cps`: functions in continuation passing style.

What: a function gets a continuation as its last parameter, gives it what it gave before, and gives what the
continuation gives: the answer. What follows a call is the continuation of the call, what follows a branch is a closure
that both branches call, and closures and functions in parameters become so too. Why: control flow becomes calls of
closures, which `relay-partial-eval` follows into each branch by itself.

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

In Relay the answer is a type variable. Types here have none: a function of the module answers with what it gave, and
one that is called is written once more as `@f_cps`, privately, for each type of answer that its callers have; a private
function that is called has no other form afterwards. Functions without a body, kernels, functions of lower levels, and
those for compilers from outside are called as before.

Functions are brought to basic block normal form before, so that position says what runs when, and are in it afterwards.

Refuses (`PassError`): a function of the module that gives a function, whose answer would be of a type that contains
itself; calls, closures and branches where dimensions have names; loops whose bodies make calls or closures.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.dialects.shared.attribute_names import COMPILER, PRIMITIVE, SKIP_OPTIMIZATION
from xrelay.dialects.shared.locations import location_of
from xrelay.errors import PassError
from xrelay.passes.graph.effects import pure_functions
from xrelay.passes.graph.functions import is_graph
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.relay.cps_types import given_type, has_functions
from xrelay.passes.relay.cps_writer import CpsWriter
from xrelay.passes.relay.dead_code_elimination import PRIVATE
from xrelay.passes.relay.to_basic_block_normal_form import to_basic_block_normal_form


@dataclass(frozen=True)
class RelayToCpsPass(ModulePass):
    """Write functions in continuation passing style; see the module's docstring. Exact."""

    name = "relay-to-cps"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        to_cps(op)


def to_cps(module: ModuleOp, only: Collection[str] | None = None) -> list[str]:
    """Write the functions of `module`, or those named `only`, in continuation passing style, and those that they call.

    Gives the names of the functions that are new.
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
    """Writes the functions of a module, and those that they call for the answers of their callers."""

    def __init__(self, module: ModuleOp):
        self._module = module
        every = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
        self.functions = {op.sym_name.data: op for op in every if _has_style(op)}
        called = {callee_name(op) for function in every for op in walk_ops(function) if is_call(op)}
        self.private_callees = {
            name for name, op in self.functions.items() if name in called and op.sym_visibility == PRIVATE
        }
        self.made: dict[tuple[str, Attribute], str] = {}
        """Function and answer → the name of the function that stands for it in calls."""
        self._taken = {op.sym_name.data for op in every}
        self._pure = pure_functions(module)
        self._converted: dict[str, FuncOp] = {}
        self._callees: list[FuncOp] = []

    def convert(self, name: str) -> None:
        """Write the function `name`, which answers with what it gives."""
        function = self.functions[name]
        answer = given_type(function.function_type.outputs.data)
        if has_functions(answer):
            raise PassError(
                f"relay-to-cps: @{name} gives a function, and would have to answer with what contains its answer",
                location=location_of(function),
                help="let it be private, or give what the function gives",
            )
        self._converted[name] = self._written(function, name, answer)

    def convert_callees(self) -> None:
        """Write the functions that those that are written call, and those that they call."""
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
        """Put what was written in the place of what was read, and the functions that are called behind all."""
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
