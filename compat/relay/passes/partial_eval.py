"""`relay-partial-eval`: evaluates a program as far as it is known at compile time.

The pass executes each function as the interpreter does, with unknown parameters, and emits ops for unknown values:

- The interpreter evaluates an operator on known values.
- A field of a known `relay.tuple` is its operand, and a `relay.let` is its value.
- A `relay.if` on a known condition becomes the branch that runs.
- A call of a known closure, or of a function of the module, becomes the body on its arguments.

Closures, tuples and branches that only structure the program disappear; operators remain, which can be fused.

Before:

    %f = relay.fn rec(%self)(%n: tensor<i32>, %a: T) -> T {
      %c = relay.equal(%n, %zero)
      %r = relay.if %c {
        relay.yield %a : T
      } else {
        %m = relay.subtract(%n, %one)
        %b = relay.multiply(%a, %x)
        %s = relay.invoke %self(%m, %b)
        relay.yield %s : T
      }
      relay.yield %r : T
    }
    %y = relay.invoke %f(%two, %x)

After:

    %b = relay.multiply(%x, %x)
    %y = relay.multiply(%b, %x)

Calls are followed as in Relay, as long as an argument makes progress: it is a nonnegative integer that is less than in
all enclosing calls of the same function, or its value was created before theirs. Other calls are emitted, so that the
evaluation ends. It also stops following calls after `max-ops` ops in called bodies, because functions that call each
other twice double the size at each level, and if calls of 4000 different functions and closures are nested.

An op whose evaluation fails is emitted: it reports its error at run time, if its value is used.

The results of an unknown branch, of a loop and of an emitted call are unknown, and so are the values that a loop
carries. A closure that such an op uses is emitted with unknown parameters. Unused ops are not emitted.

Functions are converted to basic block normal form first. Functions that were in dataflow form return to it; others are
converted to basic block normal form again. The pass evaluates public functions, then the functions that they still
call. Private functions without calls are left for `relay-dead-code-elimination`. Types are inferred first if some are
incomplete.

The pass does not evaluate functions with named dimensions, kernels, functions of lower levels or without a body, and
functions for external compilers, nor does it follow calls of them. It does not evaluate ops whose results are more than
a mebibyte larger than their operands, operators on quantised numbers, and other ops that `relay-fold-constant` does not
evaluate.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Region

from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.dialects.shared.attribute_names import COMPILER, FORM, PRIMITIVE, SKIP_OPTIMIZATION
from xrelay.passes.graph.calls import functions_of
from xrelay.passes.graph.dim_substitution import dim_names_in
from xrelay.passes.graph.effects import pure_functions
from xrelay.passes.graph.scopes import is_graph
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.dead_code_elimination import PRIVATE
from xrelay.passes.relay.to_basic_block_normal_form import to_basic_block_normal_form
from xrelay.passes.types.infer_type import infer_types
from xrelay.passes.types.type_upkeep import has_incomplete_types
from xrelay.relay.passes.partial_evaluator import Evaluator

MAX_OPS = 100_000
"""The default limit for the number of ops evaluated in called bodies."""


@dataclass(frozen=True)
class RelayPartialEvalPass(XRelayPass):
    """Evaluates a program as far as it is known at compile time; see the module's docstring. Exact."""

    name = "relay-partial-eval"
    numerics = EXACT

    max_ops: int = field(
        default=MAX_OPS, metadata={"help": "the number of ops in called bodies after which calls are not followed"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        partially_evaluate(op, max_ops=self.max_ops)


def partially_evaluate(module: ModuleOp, *, max_ops: int = MAX_OPS) -> None:
    """Evaluates the functions of `module` as far as they are known."""
    functions = {name: op for name, op in functions_of(module).items() if _is_open(op)}
    if has_incomplete_types(functions.values()):
        infer_types(module)
    pure_calls = pure_functions(module)
    forms = {name: function.attributes.get(FORM) for name, function in functions.items()}
    for function in functions.values():
        to_basic_block_normal_form(function, pure_calls)
    evaluator = Evaluator(functions, max_ops)
    public = [name for name, function in functions.items() if function.sym_visibility != PRIVATE]
    bodies: dict[str, Block] = {}
    # Only functions that are still called are evaluated, as each function of a chain would follow the rest of it.
    pending = public if public else list(functions)
    for name in pending:
        if name not in bodies:
            bodies[name] = evaluator.run(functions[name])
            pending += [callee for callee in _called_names(bodies[name]) if callee in functions]
    for name, body in bodies.items():
        function = functions[name]
        function.detach_region(function.body)
        function.add_region(Region(body))
        del function.attributes[FORM]
        if forms[name] not in (None, StringAttr("dataflow")):
            to_basic_block_normal_form(function, pure_calls)


def _called_names(body: Block) -> dict[str, None]:
    """The names of the functions that a body calls."""
    return {callee_name(op): None for outer in body.ops for op in walk_ops(outer) if is_call(op)}


def _is_open(function: FuncOp) -> bool:
    """Whether the pass may evaluate a function."""
    marks = {PRIMITIVE, COMPILER, SKIP_OPTIMIZATION}
    return is_graph(function) and not marks & function.attributes.keys() and not dim_names_in(function)
