"""`run_relay`: runs a function of a relay module on numpy arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, TupleType, UnrankedTensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.compatible import compatible
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import (
    AnyTensorType,
    ClosureValue,
    OptionalType,
    OptionalValue,
    SequenceType,
    SequenceValue,
    Value,
    shape_of,
)
from xrelay.errors import InputError, InterpreterError
from xrelay.index_algebra.dims import AnyDim, Dim, name_and_size
from xrelay.interpreters.relay.machine import Closure, Machine, RuntimeValue
from xrelay.interpreters.relay.registry import describe

Result: TypeAlias = Any
"""A result of a program: an array or a `FunctionResult`."""
HostValue: TypeAlias = "Array | Sequence[HostValue] | FunctionResult | None"
"""An input of a program: an array, the values of a sequence or tuple, an optional's value or None, a function."""


def run_relay(
    module: ModuleOp, inputs: Sequence[HostValue], function: str = "main", *, timeout: float | None = None
) -> list[Result]:
    """Returns the results of `function` on `inputs`: arrays, which the caller owns, and callable functions.

    A run that takes more than `timeout` seconds, such as an infinite loop, ends between two ops with
    `InterpreterError`. Tuples, sequences and optionals in results are flattened.

    Raises `InputError` if number, shape or dtype of the inputs differ from the function's, and `InterpreterError` if
    there is no such function or an op cannot be evaluated.
    """
    functions = _functions_of(module)
    return _flatten(_results(functions, inputs, function, timeout), functions, timeout)


def run_relay_values(module: ModuleOp, inputs: Sequence[HostValue], function: str = "main") -> list[Result]:
    """Like `run_relay`, but returns sequences as lists, and optionals as their value or None."""
    results: list[Result] = []
    functions = _functions_of(module)
    pending = _results(functions, inputs, function, None)[::-1]
    while pending:
        value = pending.pop()
        if isinstance(value, tuple) and not isinstance(value, SequenceValue | OptionalValue):
            pending += reversed(value)
        elif isinstance(value, Closure):
            results.append(FunctionResult(value, functions, None))
        else:
            results.append(host_value(value))
    return results


def host_value(value: RuntimeValue) -> HostValue:
    """Converts a value to the caller's representation; recursive like its type."""
    if isinstance(value, Closure | ClosureValue):
        raise InterpreterError("a function cannot be a result of the whole program")
    if not isinstance(value, tuple):
        return value.copy()
    held = [host_value(each) for each in value]
    if not isinstance(value, OptionalValue):
        return held
    return held[0] if held else None


def _functions_of(module: ModuleOp) -> dict[str, FuncOp]:
    return {op.sym_name.data: op for op in module.walk() if isinstance(op, FuncOp)}


def _results(
    functions: dict[str, FuncOp], inputs: Sequence[HostValue], function: str, timeout: float | None
) -> list[RuntimeValue]:
    func = functions.get(function)
    if func is None or not func.body.blocks:
        known = ", ".join(functions)
        raise InterpreterError(f"no function @{function} with a body is in the module", help=f"it has: {known}")
    types, name = func.function_type.inputs.data, f"@{func.sym_name.data}"
    return Machine(functions, timeout).call(func, _checked(inputs, types, name, {}, functions))


class FunctionResult:
    """A function returned by a program. A call with inputs returns the function's results, like `run_relay`."""

    def __init__(self, closure: Closure, functions: dict[str, FuncOp], timeout: float | None):
        """Wraps `closure`, which may call `functions`; a call may take `timeout` seconds."""
        self._closure, self._functions, self._timeout = closure, functions, timeout

    def __call__(self, *inputs: HostValue) -> list[Result]:
        """Returns the arrays of the result; raises the errors of `run_relay`."""
        parameters = [parameter.type for parameter in self._closure.op.parameters]
        sizes = dict(self._closure.environment.sizes)
        arguments = _checked(inputs, parameters, "the function", sizes, self._functions)
        value = Machine(self._functions, self._timeout).invoke(self._closure, arguments)
        return _flatten([value], self._functions, self._timeout)

    @property
    def type(self) -> Attribute:
        """The type of the function."""
        return self._closure.op.result.type

    def of_program(self, functions: Mapping[str, FuncOp]) -> Closure | None:
        """Returns the closure if it is from the program with these `functions`, else None."""
        return self._closure if self._functions == functions else None


def _checked(
    inputs: Sequence[HostValue],
    types: Sequence[Attribute],
    name: str,
    names: dict[str, int],
    functions: Mapping[str, FuncOp],
) -> list[RuntimeValue]:
    """Converts the inputs to values of these types; adds the sizes that they determine to the known sizes `names`.

    A function must be a result of the program with these `functions`.
    """
    if len(inputs) != len(types):
        raise InputError(f"{name} takes {len(types)} inputs, got {len(inputs)}")
    values: list[RuntimeValue] = []
    for index, (argument, type) in enumerate(zip(inputs, types, strict=True)):
        is_function = isinstance(type, FunctionType)
        value = _function_of(argument, type, functions) if is_function else value_of(argument, type, names)
        if value is None:
            wanted = f"a function {type} returned by this program" if is_function else type
            raise InputError(f"input #{index} of {name} is {_describe(argument)}, must be {wanted}")
        values.append(value)
    return values


def _function_of(argument: HostValue, type: Attribute, functions: Mapping[str, FuncOp]) -> Closure | None:
    """Converts a function returned by the same program to a value of a type; returns None if it does not match."""
    if not isinstance(argument, FunctionResult) or not compatible(argument.type, type):
        return None
    return argument.of_program(functions)


def value_of(argument: HostValue, type: Attribute, names: dict[str, int]) -> Value | None:
    """Converts an input to a value of a type, or returns None if it does not match; binds named dimensions in `names`.

    Recursion for elements of containers ends at the depth of the type.
    """
    if isinstance(type, OptionalType):
        held = _values(() if argument is None else (argument,), type.element, names)
        return None if held is None else OptionalValue(held)
    if isinstance(type, SequenceType):
        values = _values(argument, type.element, names) if isinstance(argument, list | tuple) else None
        return None if values is None else SequenceValue(values)
    if isinstance(type, TupleType):
        pairs = zip(argument, type.types, strict=False) if isinstance(argument, list | tuple) else ()
        fields = [value for each, inner in pairs if (value := value_of(each, inner, names)) is not None]
        whole = isinstance(argument, list | tuple) and len(argument) == len(fields) == len(type.types)
        return tuple(fields) if whole else None
    if not isinstance(type, TensorType | UnrankedTensorType) or argument is None:
        return None
    array = _array_of(argument)
    return array if array is not None and _fits(array, type, names) else None


def _array_of(argument: HostValue) -> Array | None:
    """Converts an input to an array; returns None if that is impossible, as for ragged lists."""
    try:
        return np.asarray(argument)
    except (ValueError, TypeError, OverflowError):
        return None


def _values(argument: Sequence[HostValue], type: Attribute, names: dict[str, int]) -> list[Value] | None:
    values = [value for each in argument if (value := value_of(each, type, names)) is not None]
    return values if len(values) == len(argument) else None


def _describe(argument: HostValue) -> str:
    if isinstance(argument, list | tuple):
        return "(" + ", ".join(map(_describe, argument)) + ")"
    if isinstance(argument, FunctionResult):
        return f"a function {argument.type}"
    if callable(argument):
        return type(argument).__name__
    array = None if argument is None else _array_of(argument)
    return "nothing" if array is None else describe(array)


def _fits(array: Array, type: AnyTensorType | UnrankedTensorType[Attribute], names: dict[str, int]) -> bool:
    """Returns whether an array has a type; the first occurrence of a named dimension binds it."""
    if array.dtype != numpy_dtype(type.element_type):
        return False
    if isinstance(type, UnrankedTensorType):
        return True
    shape = shape_of(type)
    if array.ndim != len(shape):
        return False
    return all(_extent_fits(found, dim, names) for found, dim in zip(array.shape, shape, strict=True))


def _extent_fits(found: int, dim: Dim, names: dict[str, int]) -> bool:
    if isinstance(dim, int):
        return found == dim
    if isinstance(dim, AnyDim):
        return True
    solved = name_and_size(dim, found)
    if solved is not None:
        name, size = solved
        return size is not None and names.setdefault(name, size) == size
    known = dim.substitute(names)
    return not isinstance(known, int) or known == found


def _flatten(values: Sequence[RuntimeValue], functions: dict[str, FuncOp], timeout: float | None) -> list[Result]:
    """Returns the arrays and functions in values, with tuples flattened."""
    results: list[Result] = []
    pending: list[RuntimeValue] = list(reversed(values))
    while pending:
        current = pending.pop()
        if isinstance(current, Closure):
            results.append(FunctionResult(current, functions, timeout))
        elif isinstance(current, tuple):
            pending.extend(reversed(current))
        else:
            results.append(_copy_of_result(current))
    return results


def _copy_of_result(array: Array) -> Array:
    """Returns a copy of a result, because the program may have other references to the array."""
    try:
        return array.copy()
    except MemoryError as error:
        raise InterpreterError(f"a result of {array.nbytes} bytes needs more memory than is available") from error
