"""The evaluator of whole graphs: demand-driven and iterative.

A value is computed on demand, once in each environment; environments mirror the nesting of blocks. The value of a
`relay.let` is computed when its block runs, unless it has no uses. In functions in basic block or A-normal form, all
ops of a block run in program order. Pending ops are on an explicit stack, so the depth of graphs and recursive
functions is not limited by Python's stack. Calls are by value, and so are captures, which are computed when the closure
is created. Only the taken branch of a `relay.if` is evaluated. The body of a `relay.loop` runs in a new environment for
each iteration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from types import MappingProxyType
from typing import TypeAlias, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from xrelay.dialects.relay.structure.call import AnyCall, NamedCallOp, callee_name, is_call
from xrelay.dialects.relay.structure.call_limit import too_many_calls
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.relay.structure.yields import yielded
from xrelay.dialects.shared.attribute_names import FORM, PRIMITIVE
from xrelay.dialects.shared.locations import location_of
from xrelay.environment import call_limit
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.captures import block_of, captures_in
from xrelay.interpreters.relay.dim_bindings import (
    bind_dims,
    check_requirements,
    note_made_sizes,
    sizes_of_callee,
)
from xrelay.interpreters.relay.extent_makers import extent_makers
from xrelay.interpreters.relay.extents import note_extents
from xrelay.interpreters.relay.loop_run import LoopRun
from xrelay.interpreters.relay.registry import Value, describe, evaluate_op
from xrelay.interpreters.size_promises import check_promises


@dataclass(eq=False)
class Environment:
    """The values of one execution of a block, and the enclosing environment."""

    block: Block
    outer: Environment | None
    depth: int
    """The number of active calls."""
    values: dict[SSAValue, RuntimeValue]
    sizes: dict[str, int]
    """The sizes of named dimensions, shared by the environments of one call."""
    in_order: bool = False
    """Whether all ops of the block run in program order."""
    started: set[Operation] = field(default_factory=set[Operation])

    def owner(self, value: SSAValue) -> Environment:
        """Returns the environment of the block that defines `value`."""
        block = block_of(value)
        environment: Environment | None = self
        while environment is not None and environment.block is not block:
            environment = environment.outer
        if environment is None:
            raise InterpreterError(f"a value of type {value.type} is used outside the region that defines it")
        return environment


@dataclass(frozen=True, eq=False)
class Closure:
    """A function value: the op and the environment in which it was evaluated."""

    op: FnOp
    environment: Environment


RuntimeValue: TypeAlias = "Array | tuple[Value, ...] | Closure"
"""A value in the machine."""


@dataclass(eq=False)
class Task:
    """An op to evaluate in an environment; `inner` is the environment of its region or callee after entry.

    A loop enters its body once for each iteration; `loop` is its state.
    """

    op: Operation
    environment: Environment
    started: bool = False
    inner: Environment | None = None
    targets: Sequence[SSAValue] = ()
    loop: LoopRun | None = None


class Machine:
    """Evaluates values of a module's functions."""

    def __init__(self, functions: dict[str, FuncOp], timeout: float | None = None):
        """Creates a machine for `functions`. A call of more than `timeout` seconds raises `InterpreterError`."""
        self.functions = functions
        self._timeout = timeout
        self._stack: list[Task] = []
        self._captured: dict[Operation, Sequence[SSAValue]] = {}
        self._makers = extent_makers(functions.values())
        self._lets: dict[Block, Sequence[SSAValue]] = {}
        self._call_limit = call_limit()

    def call(self, func: FuncOp, arguments: Sequence[RuntimeValue]) -> list[RuntimeValue]:
        """Returns the results of `func`."""
        return self._run(_enter(func.body, None, arguments, 0, func), _returned(func))

    def invoke(self, closure: Closure, arguments: Sequence[RuntimeValue]) -> RuntimeValue:
        """Returns the result of `closure`."""
        itself = [closure] if closure.op.is_recursive else []
        inner = _enter(closure.op.body, closure.environment, [*itself, *arguments], 1, closure.op)
        return self._run(inner, [yielded(closure.op.body)])[0]

    def _run(self, environment: Environment, targets: Sequence[SSAValue]) -> list[RuntimeValue]:
        """Computes `targets`, values of a block, in `environment`."""
        self._begin(targets, environment)
        end = None if self._timeout is None else monotonic() + self._timeout
        try:
            while self._stack:
                task = self._stack[-1]
                if end is not None and monotonic() > end:
                    text = f"the run took longer than {self._timeout:g} s"
                    raise InterpreterError(text, location=location_of(task.op))
                if self._step(task):
                    self._stack.pop()
        finally:
            # After an error, a captured function may be called again and may need the ops that failed.
            for task in self._stack:
                task.environment.started.discard(task.op)
        last = environment.block.last_op
        if last is not None:
            check_requirements(last, environment.sizes)
        return [environment.owner(target).values[target] for target in targets]

    def _begin(self, targets: Sequence[SSAValue], environment: Environment) -> None:
        """Pushes the ops for the results of a block, to run after its lets, or after all ops if they run in order."""
        last = environment.block.last_op
        self._demand([*targets, *(() if last is None else self._makers.get(last, ()))], environment)
        if environment.in_order:
            ops = reversed(list(environment.block.ops))
            self._demand([op.results[0] for op in ops if op.results], environment)
        else:
            self._demand(self._lets_of(environment.block), environment)

    def _lets_of(self, block: Block) -> Sequence[SSAValue]:
        """Returns the values bound by lets of a block that have uses, the last first."""
        if block not in self._lets:
            lets = [op.result for op in block.ops if isinstance(op, LetOp)]
            self._lets[block] = [value for value in reversed(lets) if value.uses]
        return self._lets[block]

    def _demand(self, values: Sequence[SSAValue], environment: Environment) -> bool:
        """Pushes the ops that compute `values`; returns whether all values are already available."""
        ready = True
        for value in values:
            owner = environment.owner(value)
            if value in owner.values:
                continue
            if not isinstance(value, OpResult):
                raise InterpreterError(f"a block argument of type {value.type} has no value")
            ready = False
            self._stack.append(Task(value.op, owner))
        return ready

    def _step(self, task: Task) -> bool:
        """Advances a task; returns whether it is done."""
        op, environment = task.op, task.environment
        if task.inner is not None:
            return self._finish(task, task.inner)
        if op.results[0] in environment.values:
            return True
        if not task.started:
            if op in environment.started:
                raise InterpreterError(
                    f"{op.name} depends on its own value: the graph has a cycle", location=location_of(op)
                )
            environment.started.add(op)
            task.started = True
            if not self._demand(self._needed(op), environment):
                return False
        if isinstance(op, FnOp):
            environment.values[op.result] = Closure(op, environment)
            return True
        check_requirements(op, environment.sizes)
        if isinstance(op, LoopOp):
            task.loop = LoopRun.start(op, cast("list[Value]", self._values(op.operands, environment)))
            return self._iterate(task, task.loop)
        if is_call(op) or isinstance(op, (IfOp, InvokeOp, FusedOp)):
            task.inner, task.targets = self._open(op, environment)
            if task.inner.depth > self._call_limit:
                raise InterpreterError(too_many_calls(_called(op), self._call_limit), location=location_of(op))
            self._begin(task.targets, task.inner)
            return False
        value = evaluate_op(op, cast("list[Value]", self._values(op.operands, environment)))
        note_extents(op, value, environment.sizes)
        bind_dims(value, op.results[0].type, environment.sizes, op)
        environment.values[op.results[0]] = value
        return True

    def _finish(self, task: Task, inner: Environment) -> bool:
        """Takes the results of a region or callee; returns whether the task is done."""
        last = inner.block.last_op
        if last is not None:
            check_requirements(last, inner.sizes)
        if task.loop is not None:
            task.loop.take(cast("Value", self._values(task.targets, inner)[0]))
            return self._iterate(task, task.loop)
        if isinstance(task.op, NamedCallOp):
            note_made_sizes(task.op, inner.sizes, task.environment.sizes)
        for result, target in zip(task.op.results, task.targets, strict=True):
            value = inner.owner(target).values[target]
            bind_dims(value, result.type, task.environment.sizes, task.op)
            task.environment.values[result] = value
        return True

    def _iterate(self, task: Task, loop: LoopRun) -> bool:
        """Starts the next iteration of a loop; returns whether the loop is done."""
        arguments, environment = loop.arguments, task.environment
        if arguments is None:
            value = loop.result(environment.sizes)
            bind_dims(value, loop.op.result.type, environment.sizes, loop.op)
            environment.values[loop.op.result] = value
            return True
        task.inner = _enter(loop.op.body, environment, arguments, environment.depth, loop.op)
        task.targets = [yielded(loop.op.body)]
        self._begin(task.targets, task.inner)
        return False

    def _needed(self, op: Operation) -> Sequence[SSAValue]:
        """Returns the values to compute before `op`: its operands, and the values captured by a loop or closure.

        They include the values that introduce extents in its requirements.
        """
        makers = self._makers.get(op, ())
        if not isinstance(op, LoopOp | FnOp):
            return (*op.operands, *makers) if makers else op.operands
        if op not in self._captured:
            self._captured |= captures_in(op)
        return (*op.operands, *self._captured[op], *makers)

    def _values(self, values: Sequence[SSAValue], environment: Environment) -> list[RuntimeValue]:
        return [environment.owner(value).values[value] for value in values]

    def _open(
        self, op: IfOp | InvokeOp | FusedOp | AnyCall, environment: Environment
    ) -> tuple[Environment, Sequence[SSAValue]]:
        """Returns the environment of a region or callee, and the values to compute in it."""
        operands = self._values(op.operands, environment)
        if isinstance(op, IfOp):
            region = op.true_region if _truth(op, operands[0]) else op.false_region
            return _enter(region, environment, (), environment.depth, op), [yielded(region)]
        if isinstance(op, FusedOp):
            inner = _enter(op.body, None, operands, environment.depth, op)
            inner.sizes = environment.sizes
            return inner, [yielded(op.body)]
        depth = environment.depth + 1
        if isinstance(op, InvokeOp):
            closure = operands[0]
            if not isinstance(closure, Closure):
                raise InterpreterError(f"{op.name} of {describe(closure)}", location=location_of(op))
            itself = [closure] if closure.op.is_recursive else []
            arguments = [*itself, *operands[1:]]
            inner = _enter(closure.op.body, closure.environment, arguments, depth, op)
            return inner, [yielded(closure.op.body)]
        func = self.functions.get(callee_name(op))
        if func is None or not func.body.blocks:
            raise InterpreterError(f"there is no function {op.callee} with a body", location=location_of(op))
        sizes: Mapping[str, int] = {}
        if isinstance(op, NamedCallOp):
            sizes = sizes_of_callee(op, environment.sizes)
        elif PRIMITIVE in func.attributes:
            # A kernel and its caller share the names of dimensions.
            sizes = environment.sizes
        return _enter(func.body, None, operands, depth, op, sizes), _returned(func)


def _enter(
    region: Region,
    outer: Environment | None,
    arguments: Sequence[RuntimeValue],
    depth: int,
    op: Operation,
    bound: Mapping[str, int] = MappingProxyType({}),
) -> Environment:
    """Returns an environment with the region's arguments bound, and the names in their types bound to sizes.

    A branch shares the sizes of its environment. A closure copies the captured sizes, because each call adds its own
    names. A function starts with the sizes specified by its call, `bound`.
    """
    block = region.block
    sizes = dict(bound)
    if outer is not None:
        sizes = dict(outer.sizes) if block.args else outer.sizes
    for argument, value in zip(block.args, arguments, strict=True):
        bind_dims(value, argument.type, sizes, op)
    if isinstance(region.parent, FuncOp):
        check_promises(region.parent, sizes)
    in_order = _runs_in_order(region.parent) if outer is None else outer.in_order
    return Environment(block, outer, depth, dict(zip(block.args, arguments, strict=True)), sizes, in_order)


def _runs_in_order(op: Operation | None) -> bool:
    """Returns whether `op` is a function in basic block or A-normal form, where the position of ops matters."""
    form = op.attributes.get(FORM) if isinstance(op, FuncOp) else None
    return isinstance(form, StringAttr) and form.data != "dataflow"


def _returned(func: FuncOp) -> Sequence[SSAValue]:
    last = func.body.block.last_op
    if not isinstance(last, ReturnOp):
        raise InterpreterError(f"@{func.sym_name.data} does not end in func.return", location=location_of(func))
    return last.arguments


def _called(op: Operation) -> str:
    """Returns the name of the callee, for the message about too many calls."""
    return f"@{callee_name(op)}" if is_call(op) else "a closure"


def _truth(op: IfOp, condition: RuntimeValue) -> bool:
    if isinstance(condition, (tuple, Closure)) or condition.size != 1:
        raise InterpreterError(f"the condition is {describe(condition)}, not a truth value", location=location_of(op))
    return bool(condition.item())
