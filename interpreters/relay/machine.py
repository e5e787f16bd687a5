"""The evaluator of whole graphs: demand-driven.

A value is computed on demand, once in each environment; environments mirror the nesting of blocks. The value of a
`relay.let` is computed when its block runs, unless it has no uses. In functions in basic block or A-normal form, all
ops of a block run in program order. `Work` replaces Python's stack, so the depth of graphs and of recursion is not
limited. Calls are by value, and so are captures, which are computed when the closure
is created. Only the taken branch of a `relay.if` is evaluated. The body of a `relay.loop` runs in a new environment for
each iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from types import MappingProxyType
from typing import TypeAlias, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from xrelay.dialects.relay.structure.call import AnyCall, NamedCallOp, callee_name, is_call, too_many_calls
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp, outside_closures
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.relay.structure.yields import yielded
from xrelay.dialects.shared.attribute_names import FORM, PRIMITIVE
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import block_of, captures_in, ops_in
from xrelay.dialects.shared.requirements import kernel_requirements_of, new_extents, requirements_of
from xrelay.dialects.shared.types import Value
from xrelay.environment import call_limit
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.dim_bindings import (
    bind_dims,
    check_requirements,
    check_size_bounds,
    note_extents,
    note_made_sizes,
    sizes_of_callee,
)
from xrelay.interpreters.relay.loop_run import LoopRun
from xrelay.interpreters.relay.registry import describe, evaluate_op
from xrelay.interpreters.work import Work, finish


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

    def owner(self, value: SSAValue) -> Environment:
        """Returns the environment of the block that defines `value`."""
        block = block_of(value)
        environment: Environment | None = self
        while environment is not None and environment.block is not block:
            environment = environment.outer
        if environment is None:
            raise InterpreterError(f"a value of type {value.type} is used outside the region that defines it")
        return environment

    def get(self, values: Sequence[SSAValue]) -> list[RuntimeValue]:
        """Returns computed values of this and enclosing blocks."""
        return [self.owner(value).values[value] for value in values]


@dataclass(frozen=True, eq=False)
class Closure:
    """A function value: the op and the environment in which it was evaluated."""

    op: FnOp
    environment: Environment


RuntimeValue: TypeAlias = "Array | tuple[Value, ...] | Closure"
"""A value in the machine."""


class Machine:
    """Evaluates values of a module's functions."""

    def __init__(self, functions: dict[str, FuncOp], timeout: float | None = None):
        """Creates a machine for `functions`. A run that takes more than `timeout` seconds raises `InterpreterError`."""
        self.functions = functions
        self._timeout = timeout
        self._end = None if timeout is None else monotonic() + timeout
        self._pending: set[tuple[Environment, Operation]] = set()
        self._captured: dict[Operation, Sequence[SSAValue]] = {}
        self._makers = extent_makers(functions.values())
        self._lets: dict[Block, Sequence[SSAValue]] = {}
        self._call_limit = call_limit()

    def call(self, func: FuncOp, arguments: Sequence[RuntimeValue]) -> list[RuntimeValue]:
        """Returns the results of `func`."""
        return finish(self._block(_enter(func.body, None, arguments, 0, func), _returned(func)))

    def invoke(self, closure: Closure, arguments: Sequence[RuntimeValue]) -> RuntimeValue:
        """Returns the result of `closure`."""
        return finish(self._block(*_enter_closure(closure, arguments, 1, closure.op)))[0]

    def _block(self, environment: Environment, targets: Sequence[SSAValue]) -> Work[list[RuntimeValue]]:
        """Computes `targets`, the results of a block, after its lets, or after all ops if they run in order."""
        block = environment.block
        if environment.in_order:
            yield from self._demand([op.results[0] for op in block.ops if op.results], environment)
        else:
            yield from self._demand(self._lets_of(block), environment)
        last = block.last_op
        yield from self._demand([*targets, *(() if last is None else self._makers.get(last, ()))], environment)
        if last is not None:
            check_requirements(last, environment.sizes)
        return environment.get(targets)

    def _lets_of(self, block: Block) -> Sequence[SSAValue]:
        """Returns the values bound by lets of a block that have uses."""
        if block not in self._lets:
            self._lets[block] = [op.result for op in block.ops if isinstance(op, LetOp) and op.result.uses]
        return self._lets[block]

    def _demand(self, values: Sequence[SSAValue], environment: Environment) -> Iterator[Work[None]]:
        """Yields the work that computes those of `values` that are not available."""
        for value in values:
            owner = environment.owner(value)
            if value not in owner.values:
                if not isinstance(value, OpResult):
                    raise InterpreterError(f"a block argument of type {value.type} has no value")
                yield self._compute(value.op, owner)

    def _compute(self, op: Operation, environment: Environment) -> Work[None]:
        """Computes the results of an op."""
        if self._end is not None and monotonic() > self._end:
            raise InterpreterError(f"the run took longer than {self._timeout:g} s", location=location_of(op))
        if (environment, op) in self._pending:
            raise InterpreterError(
                f"{op.name} depends on its own value: the graph has a cycle", location=location_of(op)
            )
        self._pending.add((environment, op))
        yield from self._demand(self._values_before(op), environment)
        self._pending.remove((environment, op))
        if isinstance(op, FnOp):
            environment.values[op.result] = Closure(op, environment)
            return
        check_requirements(op, environment.sizes)
        results: Sequence[RuntimeValue]
        if isinstance(op, LoopOp):
            results = [(yield self._loop(op, environment))]
        elif is_call(op) or isinstance(op, (IfOp, InvokeOp, FusedOp)):
            inner, targets = self._open(op, environment)
            if inner.depth > self._call_limit:
                raise InterpreterError(too_many_calls(_called(op), self._call_limit), location=location_of(op))
            results = yield self._block(inner, targets)
            if isinstance(op, NamedCallOp):
                note_made_sizes(op, inner.sizes, environment.sizes)
        else:
            value = evaluate_op(op, cast("list[Value]", environment.get(op.operands)))
            note_extents(op, value, environment.sizes)
            results = [value]
        for result, value in zip(op.results, results, strict=True):
            bind_dims(value, result.type, environment.sizes, op)
            environment.values[result] = value

    def _loop(self, op: LoopOp, environment: Environment) -> Work[Value]:
        """Runs a loop, whose body has a new environment in each iteration."""
        run = LoopRun.start(op, cast("list[Value]", environment.get(op.operands)))
        while (arguments := run.arguments) is not None:
            inner = _enter(op.body, environment, arguments, environment.depth, op)
            run.take((yield self._block(inner, [yielded(op.body)]))[0])
        return run.result(environment.sizes)

    def _values_before(self, op: Operation) -> Sequence[SSAValue]:
        """Returns the values to compute before `op`: its operands, and the values captured by a loop or closure.

        They include the values that introduce extents in its requirements.
        """
        makers = self._makers.get(op, ())
        if not isinstance(op, LoopOp | FnOp):
            return (*op.operands, *makers) if makers else op.operands
        if op not in self._captured:
            self._captured |= captures_in(op)
        return (*op.operands, *self._captured[op], *makers)

    def _open(
        self, op: IfOp | InvokeOp | FusedOp | AnyCall, environment: Environment
    ) -> tuple[Environment, Sequence[SSAValue]]:
        """Returns the environment of a region or callee, and the values to compute in it."""
        operands = environment.get(op.operands)
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
            return _enter_closure(closure, operands[1:], depth, op)
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
        check_size_bounds(region.parent, sizes)
    in_order = _runs_in_order(region.parent) if outer is None else outer.in_order
    return Environment(block, outer, depth, dict(zip(block.args, arguments, strict=True)), sizes, in_order)


def _enter_closure(
    closure: Closure, arguments: Sequence[RuntimeValue], depth: int, op: Operation
) -> tuple[Environment, Sequence[SSAValue]]:
    """Returns the environment of a call of `closure` by `op`, and the value to compute in it."""
    itself = [closure] if closure.op.is_recursive else []
    body = closure.op.body
    return _enter(body, closure.environment, [*itself, *arguments], depth, op), [yielded(body)]


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


ExtentMakers: TypeAlias = Mapping[Operation, Sequence[SSAValue]]
"""The values to compute before an op because they introduce extents in requirements of it or of ops in its regions."""


def extent_makers(functions: Iterable[FuncOp]) -> ExtentMakers:
    """Returns the values that introduce required extents in these functions, by the op that needs them.

    A requirement may name an extent of an op without uses, e.g. after inlining. The name counts as a use:

        %a = relay.argwhere(%x) {relay.binds = #relay.bounds<k <= 4>} : … -> tensor<?x1xi32, #relay.dims<k>>
        %z = relay.require(%y) {relay.requires = #relay.requirements<n == k>} : …

    Ops in a closure, loop or fused group need outer extents when the closure is created, or the loop or group runs.
    """
    found: dict[Operation, dict[SSAValue, None]] = {}
    for function in functions:
        makers: dict[tuple[str, Block | None], Operation] = {}
        for op in ops_in(function.body):
            for name in _required_names(op) if makers else ():
                maker = _maker(name, op, makers)
                if maker is not None:
                    user = outside_closures(op, maker.parent)
                    found.setdefault(user, {})[maker.results[0]] = None
            for extent in new_extents(op):
                makers[extent.name, op.parent] = op
                group = op.parent_op()
                if isinstance(group, FusedOp):
                    makers[extent.name, group.parent] = group
    return {op: list(values) for op, values in found.items()}


def _required_names(op: Operation) -> Iterator[str]:
    """Yields the names in requirements of `op` or of the kernel that it calls."""
    requirements = (*requirements_of(op), *(each for row in kernel_requirements_of(op) for each in row.requirements))
    for requirement in requirements:
        yield from requirement.names


def _maker(name: str, op: Operation, makers: Mapping[tuple[str, Block | None], Operation]) -> Operation | None:
    """Returns the op before `op` that introduces the extent `name`, in its block or an enclosing one."""
    current: Operation | None = op
    while current is not None:
        maker = makers.get((name, current.parent))
        if maker is not None:
            return maker if maker is not current else None
        current = current.parent_op()
    return None
