"""Running a graph of kernels: allocations, weights, calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.attribute_names import NUM_OUTPUTS
from xrelay.dialects.loop import WeightOp
from xrelay.dialects.relay.structure.constant import array_of
from xrelay.dialects.relay.structure.weights import WeightAttr
from xrelay.errors import InputError, InterpreterError
from xrelay.interpreters.loop.body import undefined
from xrelay.interpreters.loop.frame import Array
from xrelay.interpreters.loop.kernel import KernelFunction, argument_problem, buffer_type, compile_kernel
from xrelay.interpreters.scalar_meaning import Value, numpy_dtype

ResolveWeight = Callable[[Attribute], Array]
"""From the attribute of a `loop.weight` to its array."""


def run_loop_module(
    module: ModuleOp,
    function_name: str,
    inputs: Sequence[Array],
    resolve_weight: ResolveWeight | None = None,
) -> list[Array]:
    """Run a function of the module, usually `main`; the result is its outputs.

    Outputs, and the arena of a planned module, are allocated here. `resolve_weight` gives the array of a
    `loop.weight`'s attribute; without it the attribute must hold its own data. Raises `InputError` for a wrong number,
    shape or dtype of inputs, `InterpreterError` for an access outside a buffer and for what has no meaning here.
    """
    runner = _Runner(module, resolve_weight if resolve_weight is not None else own_data)
    function = runner.function(function_name)
    outputs = _output_count(function)
    parameters = function.body.block.args
    if len(inputs) + outputs > len(parameters):
        raise InputError(f"@{function_name} takes {len(parameters) - outputs} inputs, got {len(inputs)}")
    for position, value in enumerate(inputs):
        problem = argument_problem(parameters[position].type, value)
        if problem is not None:
            raise InputError(f"input {position} of @{function_name} {problem}")
    provided = [_new_argument(function_name, parameter) for parameter in parameters[len(inputs) :]]
    runner.call(function_name, [*inputs, *provided])
    return provided[:outputs]


def _output_count(function: func.FuncOp) -> int:
    count = function.attributes.get(NUM_OUTPUTS)
    if not isinstance(count, IntegerAttr):
        raise InterpreterError(
            f"@{function.sym_name.data} does not say how many outputs it has", help=f"set {NUM_OUTPUTS}"
        )
    return count.value.data


def _new_argument(function_name: str, parameter: SSAValue) -> Array:
    expected = buffer_type(parameter)
    if any(size < 0 for size in expected.get_shape()):
        raise InputError(
            f"@{function_name} wants more inputs than it got, or has an output of type {expected}",
            help="outputs need a static shape",
        )
    return undefined(expected.get_shape(), numpy_dtype(expected.element_type))


def own_data(weight: Attribute) -> Array:
    """The array that a weight's attribute holds itself."""
    if isinstance(weight, WeightAttr):
        return weight.data.array
    if isinstance(weight, DenseIntOrFPElementsAttr):
        return array_of(weight)
    raise InterpreterError(f"weight {weight} holds no data", help="pass resolve_weight")


class _Runner:
    """The functions of a module, kernels compiled when they are first called."""

    def __init__(self, module: ModuleOp, resolve_weight: ResolveWeight):
        self._functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp)}
        self._resolve_weight = resolve_weight
        self._kernels: dict[str, KernelFunction] = {}
        self._active: list[str] = []

    def function(self, name: str) -> func.FuncOp:
        """The function called `name`, which must have a body."""
        function = self._functions.get(name)
        if function is None or not function.body.blocks:
            raise InterpreterError(f"no function @{name} with a body in the module")
        return function

    def call(self, name: str, arguments: Sequence[Value]) -> None:
        """A function of calls is walked, any other is a kernel. Calls nest as functions do; recursion is refused."""
        function = self.function(name)
        if not any(isinstance(op, func.CallOp | WeightOp) for op in function.body.block.ops):
            if name not in self._kernels:
                self._kernels[name] = compile_kernel(function)
            self._kernels[name](arguments)
            return
        if name in self._active:
            raise InterpreterError(f"@{name} calls itself; recursion has no meaning at the loop level")
        self._active.append(name)
        values: dict[SSAValue, Value] = dict(zip(function.body.block.args, arguments, strict=True))
        for op in function.body.block.ops:
            self._step(op, values)
        self._active.pop()

    def _step(self, op: Operation, values: dict[SSAValue, Value]) -> None:
        match op:
            case func.CallOp():
                self.call(op.callee.string_value(), [values[argument] for argument in op.arguments])
            case memref.AllocOp():
                allocated = buffer_type(op.memref)
                values[op.memref] = undefined(allocated.get_shape(), numpy_dtype(allocated.element_type))
            case memref.ViewOp():
                values[op.result] = _view(values[op.source], int(values[op.byte_shift]), op.result)
            case WeightOp():
                values[op.result] = self._weight(op)
            case arith.ConstantOp() if isinstance(op.value, IntegerAttr):
                values[op.result] = op.value.value.data
            case func.ReturnOp() | memref.DeallocOp():
                pass
            case _:
                raise InterpreterError(f"'{op.name}' has no meaning between kernels")

    def _weight(self, op: WeightOp) -> Array:
        array = np.asarray(self._resolve_weight(op.weight))
        problem = argument_problem(op.result.type, array)
        if problem is not None:
            raise InterpreterError(f"weight {op.weight} {problem}")
        return array


def _view(arena: Array, offset: int, result: SSAValue) -> Array:
    """The part of a byte array that starts at `offset`, as a buffer."""
    wanted = buffer_type(result)
    dtype, shape = numpy_dtype(wanted.element_type), wanted.get_shape()
    size = dtype.itemsize * int(np.prod(shape))
    if offset < 0 or offset + size > arena.size:
        raise InterpreterError(f"a view of bytes {offset} to {offset + size} of an arena of {arena.size}")
    return arena[offset : offset + size].view(dtype).reshape(shape)
