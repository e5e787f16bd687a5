"""Interpretation of a graph of kernels: sizes of named dimensions, allocations, weights, calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from xdsl.dialects import arith, cf, func, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    i8,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.loop import ListType, WeightOp
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.signature import PLAN, dim_arguments, dim_names
from xrelay.dialects.relay.structure.call import too_many_calls
from xrelay.dialects.relay.structure.constant import array_of
from xrelay.dialects.relay.structure.weights import WeightAttr
from xrelay.dialects.shared.attribute_names import (
    CONTAINER,
    EXTENTS,
    LOOP_DIMS,
    LOOP_KERNEL,
    NUM_OUTPUTS,
    OUTPUT_PLACE,
    REQUIRES,
)
from xrelay.dialects.shared.dims_attr import DimsAttr
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.requirements import RequirementsAttr
from xrelay.environment import call_limit
from xrelay.errors import DimensionError, InputError, InterpreterError
from xrelay.index_algebra.dims import ANY, Dim, Shape, evaluate, name_and_size, names_of, shape_text, symbol
from xrelay.index_algebra.requirement import LHS, RHS
from xrelay.interpreters.call_progress import CallProgress, Progress
from xrelay.interpreters.loop.body import undefined
from xrelay.interpreters.loop.frame import Array
from xrelay.interpreters.loop.host_ops import (
    Values,
    enter_between_kernels,
    has_lists,
    list_of,
    run_between_kernels,
    run_list_op,
    run_memory_op,
)
from xrelay.interpreters.loop.kernel import KernelFunction, argument_problem, compile_kernel
from xrelay.interpreters.scalar import Value, compile_scalar, is_scalar_op, numpy_dtype
from xrelay.interpreters.work import Work, finish


class NamedSizes:
    """The shapes of a function's buffers in terms of its size arguments."""

    def __init__(self, function: func.FuncOp):
        """Reads the signature of a function."""
        self._function = function.sym_name.data
        count = len(dim_arguments(function))
        self._names = dim_names(function) if count else []
        if len(self._names) != count:
            self._names = [f"extent{number}" for number in range(count)]
        attributes = function.arg_attrs.data if function.arg_attrs is not None else ()
        self.shapes: list[Shape] = [
            self._shape(type, attributes[number].data if attributes else {})
            for number, type in enumerate(function.function_type.inputs)
        ]
        """The shape of each argument; empty for arguments that are not buffers."""

    def bind(self, inputs: Sequence[Array]) -> dict[str, int]:
        """Returns the size of each name. Raises `InputError` if the extents of the inputs disagree."""
        sizes: dict[str, int] = {}
        arrays = [(number, array) for number, array in enumerate(inputs) if not isinstance(array, tuple)]
        rows = [(number, array.shape, self.shapes[number]) for number, array in arrays]
        for _, found, shape in rows:
            for extent, dim in zip(found, shape, strict=False):
                name, size = name_and_size(dim, extent) or ("", None)
                if size is not None:
                    sizes.setdefault(name, size)
        for number, found, shape in rows:
            if not all(self._fits(extent, dim, sizes) for extent, dim in zip(found, shape, strict=True)):
                known = ", ".join(f"{name} = {size}" for name, size in sizes.items())
                expected = f"{shape_text(shape)} ({known})" if known else shape_text(shape)
                raise InputError(f"input {number} of @{self._function} has shape {list(found)}, must be {expected}")
        return sizes

    def values(self, sizes: Mapping[str, int]) -> list[int]:
        """Returns the sizes in the order of the arguments. Raises `InputError` if the inputs do not determine one."""
        missing = [name for name in self._names if name not in sizes]
        if missing:
            raise InputError(f"the inputs of @{self._function} do not determine the size of {missing[0]}")
        return [sizes[name] for name in self._names]

    def _shape(self, type: Attribute, attributes: Mapping[str, Attribute]) -> Shape:
        if not isinstance(type, MemRefType):
            return ()
        dims, numbers = attributes.get(LOOP_DIMS), attributes.get(EXTENTS)
        opened: list[Dim] = []
        if isinstance(dims, DimsAttr):
            opened = list(dims.data)
        elif numbers is not None and is_attribute(numbers, DenseArrayBase[IntegerType]):
            opened = [symbol(self._names[number]) for number in numbers.get_values()]
        rest = iter(opened)
        return tuple(next(rest, ANY) if extent == DYNAMIC_INDEX else extent for extent in type.get_shape())

    @staticmethod
    def _fits(extent: int, dim: Dim, sizes: Mapping[str, int]) -> bool:
        if dim == ANY or not names_of(dim) <= sizes.keys():
            return True
        try:
            return evaluate(dim, sizes) == extent
        except DimensionError:
            return False


ResolveWeight = Callable[[Attribute], Array]
"""Maps the attribute of a `loop.weight` to its array."""


def run_loop_module(
    module: ModuleOp,
    function_name: str,
    inputs: Sequence[Array],
    resolve_weight: ResolveWeight | None = None,
    progress: Progress | None = None,
) -> list[Array]:
    """Runs a function of the module, usually `main`; returns its outputs.

    Outputs, and the arena of a planned module, are allocated here. `resolve_weight` returns the array of a
    `loop.weight`'s attribute; without it the attribute must hold its own data. `progress` is called before each call in
    the function. Raises `InputError` for a wrong number, shape or dtype of inputs, and `InterpreterError` for
    out-of-bounds accesses and unsupported ops.
    """
    runner = _Runner(module, resolve_weight if resolve_weight is not None else own_data, CallProgress(progress))
    function = runner.function(function_name)
    outputs = _output_count(function)
    parameters = function.body.block.args
    buffers = parameters[: len(parameters) - len(dim_arguments(function))]
    if len(inputs) + outputs > len(buffers):
        raise InputError(f"@{function_name} takes {len(buffers) - outputs} inputs, got {len(inputs)}")
    inputs, attributes = list(inputs), function.arg_attrs.data if function.arg_attrs is not None else ()
    for position, value in enumerate(inputs):
        type = parameters[position].type
        if isinstance(type, ListType):
            inputs[position] = list_of(value, attributes[position].data.get(CONTAINER) if attributes else None)
            continue
        problem = argument_problem(type, value)
        if problem is not None:
            raise InputError(f"input {position} of @{function_name} {problem}")
    named = NamedSizes(function)
    runner.sizes = named.bind(inputs)
    dims = [np.int64(size) for size in named.values(runner.sizes)]
    provided: list[Array] = []
    for parameter, shape in zip(buffers[len(inputs) :], named.shapes[len(inputs) :], strict=False):
        known = _known_shape(function_name, parameter, shape, runner.sizes)
        extents = known if known is not None else (runner.arena_size(dims),)
        provided.append(undefined(extents, numpy_dtype(memref_type(parameter).element_type)))
    returned = finish(runner.call(function_name, [*inputs, *provided, *dims]))
    return _in_order(function, provided[:outputs], returned)


def _in_order(function: func.FuncOp, written: Sequence[Array], returned: Sequence[Value]) -> list[Array]:
    """Returns the outputs of a function in order: those written to buffers and those returned."""
    if function.res_attrs is None:
        return list(written)
    rest = iter(written)
    numbers = [each.data.get(OUTPUT_PLACE) for each in function.res_attrs]
    given = {number.value.data: value for number, value in zip(numbers, returned, strict=True)
             if isinstance(number, IntegerAttr)}  # fmt: skip
    return [given[number] if number in given else next(rest) for number in range(len(given) + len(written))]


def _output_count(function: func.FuncOp) -> int:
    count = function.attributes.get(NUM_OUTPUTS)
    if not isinstance(count, IntegerAttr):
        raise InterpreterError(
            f"@{function.sym_name.data} does not specify its number of outputs", help=f"set {NUM_OUTPUTS}"
        )
    return count.value.data


def _known_shape(
    function_name: str, parameter: SSAValue, shape: Shape, sizes: Mapping[str, int]
) -> tuple[int, ...] | None:
    """Returns the shape of an output or an arena; None for an arena whose size `@main_plan` computes."""
    if shape == (ANY,) and parameter.type == MemRefType(i8, [DYNAMIC_INDEX]):
        return None
    try:
        return tuple(evaluate(dim, sizes) for dim in shape)
    except DimensionError as error:
        raise InputError(
            f"@{function_name} takes more inputs, or has an output of type {parameter.type}",
            help="outputs need a shape that follows from the inputs",
        ) from error


def own_data(weight: Attribute) -> Array:
    """Returns the array held by a weight's attribute."""
    if isinstance(weight, WeightAttr):
        return weight.data.array
    if isinstance(weight, DenseIntOrFPElementsAttr):
        return array_of(weight)
    raise InterpreterError(f"weight {weight} has no data", help="pass resolve_weight")


class _Runner:
    """Runs the functions of a module; kernels are compiled on their first call."""

    def __init__(self, module: ModuleOp, resolve_weight: ResolveWeight, progress: CallProgress):
        self._functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp)}
        self._resolve_weight, self._progress = resolve_weight, progress
        self._kernels: dict[str, KernelFunction] = {}
        self._depth, self._call_limit = 0, call_limit()
        self.sizes: Mapping[str, int] = {}
        """The sizes of named dimensions, for messages."""

    def arena_size(self, dims: Sequence[Value]) -> int:
        """Returns the size of the arena in bytes, as computed by `@main_plan` for these sizes of named dimensions."""
        sizes = self.function(PLAN).body.block.args[0]
        needed = undefined(memref_type(sizes).get_shape(), np.dtype(np.int64))
        finish(self._walk(self.function(PLAN), [needed, *dims]))
        return int(needed[0])

    def function(self, name: str) -> func.FuncOp:
        """Returns the function called `name`, which must have a body."""
        function = self._functions.get(name)
        if function is None or not function.body.blocks:
            raise InterpreterError(f"the module has no function @{name} with a body")
        return function

    def call(self, name: str, arguments: Sequence[Value]) -> Work[list[Value]]:
        """Runs a function: interprets a graph function op by op, compiles a kernel; returns its results."""
        function = self.function(name)
        walked = func.CallOp | WeightOp | scf.IfOp | scf.WhileOp
        if LOOP_KERNEL in function.attributes or not any(
            isinstance(op, walked) or has_lists(op) for op in function.body.block.ops
        ):
            if name not in self._kernels:
                self._kernels[name] = compile_kernel(function)
            self._kernels[name](arguments)
            return []
        if self._depth > self._call_limit:
            raise InterpreterError(too_many_calls(f"@{name}", self._call_limit))
        if self._depth == 0:
            self._progress.enter(function)
        self._depth += 1
        returned = yield self._walk(function, arguments)
        self._depth -= 1
        return returned

    def _walk(self, function: func.FuncOp, arguments: Sequence[Value]) -> Work[list[Value]]:
        values: dict[SSAValue, Value] = dict(zip(function.body.block.args, arguments, strict=True))
        yield self._block(function.body.block, values)
        last = function.body.block.last_op
        return [values[operand] for operand in last.operands] if last is not None else []

    def _run_op(self, op: Operation, values: dict[SSAValue, Value]) -> Work[None] | None:
        """Runs an op, or returns the work that runs it."""
        match op:
            case func.CallOp():
                return self._call(op, values)
            case WeightOp():
                values[op.result] = self._weight(op)
            case cf.AssertOp():
                if not values[op.arg]:
                    raise InterpreterError(self._failure(op, values), location=location_of(op))
            case func.ReturnOp() | scf.YieldOp() | scf.ConditionOp():
                pass
            case _ if run_memory_op(op, values):
                pass
            case _ if is_scalar_op(op):
                with np.errstate(over="ignore"):
                    values[op.results[0]] = compile_scalar(op)(*(values[operand] for operand in op.operands))
            case _:
                if (work := enter_between_kernels(op, values, self._block)) is not None:
                    return work
                if not run_list_op(op, values) and not run_between_kernels(op, values):
                    raise InterpreterError(f"'{op.name}' is not supported between kernels")
        return None

    def _call(self, op: func.CallOp, values: dict[SSAValue, Value]) -> Work[None]:
        self._progress.start(op)
        given = yield self.call(op.callee.string_value(), [values[argument] for argument in op.arguments])
        values.update(zip(op.results, given, strict=True))

    def _block(self, block: Block, values: dict[SSAValue, Value]) -> Work[None]:
        for op in block.ops:
            if (work := self._run_op(op, values)) is not None:
                yield work

    def _failure(self, op: cf.AssertOp, values: Values) -> str:
        """Returns the message of a failed assertion, with the values of both sides of its requirement."""
        requires, compared, told = op.attributes.get(REQUIRES), op.arg.owner, op.msg.data
        if isinstance(compared, arith.CmpiOp) and (LHS in told or RHS in told):
            return told.replace(LHS, str(int(values[compared.lhs]))).replace(RHS, str(int(values[compared.rhs])))
        if not isinstance(requires, RequirementsAttr) or len(requires.data) != 1:
            return told
        (requirement,) = requires.data
        if not requirement.names <= self.sizes.keys():
            if not isinstance(compared, arith.CmpiOp):
                return told
            found = replace(requirement, lhs=int(values[compared.lhs]), rhs=int(values[compared.rhs]))
            return f"{told} is {found.text}"
        lhs, rhs = requirement.evaluate(self.sizes)
        known = ", ".join(f"{name} = {self.sizes[name]}" for name in sorted(requirement.names))
        return f"{told} is {replace(requirement, lhs=lhs, rhs=rhs).text} ({known})"

    def _weight(self, op: WeightOp) -> Array:
        array = np.asarray(self._resolve_weight(op.weight))
        problem = argument_problem(op.result.type, array)
        if problem is not None:
            raise InterpreterError(f"weight {op.weight} {problem}")
        return array
