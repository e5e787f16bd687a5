"""`run_relay`: a function of a relay module on numpy arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.types import shape_of
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InputError, InterpreterError
from xrelay.index_algebra.dims import AnyDim, Dim, name_and_size
from xrelay.interpreters.relay.machine import Closure, Machine, RuntimeValue


def run_relay(module: ModuleOp, inputs: Sequence[Array], function: str = "main") -> list[Array]:
    """The results of `function` on `inputs`, tuples flattened; the arrays are the caller's own.

    Raises `InputError` where number, shape or dtype of the inputs differ from the function's, and `InterpreterError`
    where there is no such function or something in it cannot be evaluated.
    """
    functions = {op.sym_name.data: op for op in module.walk() if isinstance(op, FuncOp)}
    func = functions.get(function)
    if func is None or not func.body.blocks:
        known = ", ".join(functions)
        raise InterpreterError(f"no function @{function} with a body is in the module", help=f"it has: {known}")
    arrays = [np.asarray(value) for value in inputs]
    _check_inputs(func, arrays)
    results: list[Array] = []
    for value in Machine(functions).call(func, arrays):
        _flatten(value, results)
    return results


def _check_inputs(func: FuncOp, arrays: Sequence[Array]) -> None:
    types = func.function_type.inputs.data
    name = func.sym_name.data
    if len(arrays) != len(types):
        raise InputError(f"@{name} takes {len(types)} inputs, {len(arrays)} are given")
    names: dict[str, int] = {}
    for index, (array, type) in enumerate(zip(arrays, types, strict=True)):
        if not _fits(array, type, names):
            raise InputError(f"input #{index} of @{name} is {array.dtype}{list(array.shape)}, must be {type}")


def _fits(array: Array, type: Attribute, names: dict[str, int]) -> bool:
    """Returns whether an array has a type; named dimensions are noted first and compared afterwards."""
    if not isinstance(type, TensorType):
        return False
    shape = shape_of(type)
    if array.dtype != numpy_dtype(type.element_type) or array.ndim != len(shape):
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


def _flatten(value: RuntimeValue, results: list[Array]) -> None:
    """Append the arrays of a value, fields of tuples in order."""
    pending: list[RuntimeValue] = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, Closure):
            raise InterpreterError("a function cannot be a result of the whole program")
        if isinstance(current, tuple):
            pending.extend(reversed(current))
        else:
            results.append(current.copy())
