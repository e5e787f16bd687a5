"""`relay-partial-eval`: does what is known of a program when compiling.

What: goes through each function as the interpreter does, with parameters that are not known. An operator on known
values is computed by the interpreter; a field of a tuple that is made here is what was put in; a `relay.if` on a known
condition is the branch that it takes; a call of a known closure, or of a function of the module, is the body on these
arguments; a `relay.let` is its value. The rest is written. Why: closures, tuples and branches that serve the
structure of a program go, and what remains is operators, which fuse.

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

Calls are followed as in Relay, while that makes progress: an argument is a whole number, 0 or more, that is less than
in all calls of the function around this one, or a value that was made before theirs. A call that makes none stays, so
following them ends. It ends as well after `max-ops` ops in bodies that are followed: functions that call one another
twice double at every level.

An op that fails when it is computed here is left as it is: it reports its error when it runs, if its value is used.

The results of an unknown branch, of a loop and of a call that stays are unknown, and so are the values that a loop
carries. A closure that one of them uses is written, with unknown parameters. Ops without uses are not written.
Functions are read in basic block normal form; those in dataflow form stay in it, others are brought to basic block
normal form again. Public functions come first, then the functions that they still call; private functions without calls
stay as they are, for `relay-dead-code-elimination`. Types are inferred first if some are incomplete.

Refuses: to follow calls of functions with named dimensions, kernels, functions of lower levels or without a body, or
those for compilers from outside; to compute results more than a mebibyte larger than their operands, operators on
quantised numbers, and other ops that `relay-fold-constant` does not evaluate.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Region
from xdsl.passes import ModulePass

from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.dialects.shared.attribute_names import COMPILER, FORM, PRIMITIVE, SKIP_OPTIMIZATION
from xrelay.passes.graph.effects import pure_functions
from xrelay.passes.graph.functions import is_graph
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.relay.dead_code_elimination import PRIVATE
from xrelay.passes.relay.fold_constant import MAX_GROWTH
from xrelay.passes.relay.partial_evaluator import Budget, Evaluator, Program
from xrelay.passes.relay.to_basic_block_normal_form import to_basic_block_normal_form
from xrelay.passes.types.infer_type import infer_types
from xrelay.passes.types.type_upkeep import has_incomplete_types, renew_requirements

MAX_OPS = 100_000
"""How many ops are gone through in bodies of calls unless told otherwise."""


@dataclass(frozen=True)
class RelayPartialEvalPass(ModulePass):
    """Do what is known of a program when compiling; see the module's docstring. Exact."""

    name = "relay-partial-eval"

    max_ops: int = field(
        default=MAX_OPS, metadata={"help": "ops in the bodies of calls after which no more calls are followed"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        partially_evaluate(op, max_ops=self.max_ops)


def partially_evaluate(module: ModuleOp, *, max_ops: int = MAX_OPS) -> None:
    """Evaluate the functions of `module` as far as they are known."""
    functions = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp) and _is_open(op)}
    if has_incomplete_types(functions.values()):
        infer_types(module)
    pure_calls = pure_functions(module)
    forms = {name: function.attributes.get(FORM) for name, function in functions.items()}
    for function in functions.values():
        to_basic_block_normal_form(function, pure_calls)
    program, budget = Program(functions), Budget(max_ops)
    public = [name for name, function in functions.items() if function.sym_visibility != PRIVATE]
    bodies: dict[str, Block] = {}
    # What nothing calls any more is not asked for: a chain of functions would be followed from each of them.
    pending = public if public else list(functions)
    for name in pending:
        if name not in bodies:
            bodies[name] = Evaluator(program, budget, MAX_GROWTH).run(functions[name])
            pending += [callee for callee in _called(bodies[name]) if callee in functions]
    for name, body in bodies.items():
        function = functions[name]
        function.detach_region(function.body)
        function.add_region(Region(body))
        del function.attributes[FORM]
        if forms[name] not in (None, StringAttr("dataflow")):
            to_basic_block_normal_form(function, pure_calls)
    renew_requirements(module)


def _called(body: Block) -> dict[str, None]:
    """The functions that a body calls."""
    return {callee_name(op): None for outer in body.ops for op in walk_ops(outer) if is_call(op)}


def _is_open(function: FuncOp) -> bool:
    """Whether the pass may look into a function."""
    marks = {PRIMITIVE, COMPILER, SKIP_OPTIMIZATION}
    return is_graph(function) and not marks & function.attributes.keys()
