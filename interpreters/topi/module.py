"""Interpretation of topi modules on numpy arrays: kernels of computes, and the graph that calls them.

A tuple is represented by a Python tuple of its fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.relay.structure.call import NamedCallOp, callee_name, too_many_calls
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.containers import GraphOp
from xrelay.dialects.relay.structure.extents import CutOp, ExtentsOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.dialects.shared.types import (
    ClosureType,
    ClosureValue,
    OptionalType,
    OptionalValue,
    SequenceType,
    SequenceValue,
    Value,
    shape_of,
)
from xrelay.dialects.topi import ComputeOp, NamedOp, PositionsOp, ScanOp, ScatterOp, SortOp, SuppressOp
from xrelay.dialects.topi.specialize import has_named_dimensions, specialized
from xrelay.environment import call_limit
from xrelay.errors import DimensionError, InputError, InterpreterError
from xrelay.index_algebra.dims import evaluate, name_and_size
from xrelay.interpreters.call_progress import CallProgress, Progress
from xrelay.interpreters.relay.dim_bindings import check_requirements, check_size_bounds, note_extents
from xrelay.interpreters.relay.loop_run import LoopRun
from xrelay.interpreters.relay.registry import evaluate_op
from xrelay.interpreters.relay.run import value_of
from xrelay.interpreters.scalar import numpy_dtype
from xrelay.interpreters.topi.body import Array
from xrelay.interpreters.topi.compute import evaluate_compute, evaluate_scan
from xrelay.interpreters.topi.tensor_ops import evaluate_positions, evaluate_scatter, evaluate_sort, evaluate_suppress
from xrelay.interpreters.work import Work, finish


def run_topi_module(
    module: ModuleOp, name: str, inputs: Sequence[Array], progress: Progress | None = None
) -> list[Array]:
    """Returns the results of the function `name` on `inputs`; `progress` is called before each call in it.

    Raises `InputError` for a wrong number, shape or dtype of inputs, and `InterpreterError` for unsupported ops.
    """
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp)}
    return finish(_Runner(functions, CallProgress(progress)).call(name, inputs))


def _sizes_in(type: Attribute, array: Array) -> dict[str, int]:
    """Returns the sizes of the names in the type of an array."""
    sizes: dict[str, int] = {}
    if isinstance(type, TensorType) and len(shape := shape_of(type)) == array.ndim:
        for dim, extent in zip(shape, array.shape, strict=True):
            name, size = name_and_size(dim, extent) or ("", None)
            if size is not None:
                sizes.setdefault(name, size)
    return sizes


class _Runner:
    def __init__(self, functions: dict[str, func.FuncOp], progress: CallProgress):
        self._functions, self._progress = functions, progress
        self._depth, self._call_limit = 0, call_limit()
        self._sizes: list[dict[str, int]] = []
        self._specialized: dict[str, dict[tuple[tuple[str, int], ...], func.FuncOp]] = {}

    def call(self, name: str, inputs: Sequence[Array], given: Mapping[str, int] | None = None) -> Work[list[Array]]:
        """Returns the results of a function.

        `given` has sizes of named dimensions from the caller; sizes from the inputs take precedence.
        """
        function = self._functions.get(name)
        if function is None or not function.body.blocks:
            raise InterpreterError(f"no function @{name} with a body in the module")
        if self._depth > self._call_limit and PRIMITIVE not in function.attributes:
            raise InterpreterError(too_many_calls(f"@{name}", self._call_limit))
        sizes = self._bind_sizes(function, inputs, {} if given is None else given)
        check_size_bounds(function, sizes)
        function = self._for_sizes(function, sizes)
        values = self._bind(function, inputs)
        if self._depth == 0:
            self._progress.enter(function)
        self._depth += 1
        self._sizes.append(sizes)
        for op in function.body.block.ops:
            if isinstance(op, func.ReturnOp):
                self._depth -= 1
                self._sizes.pop()
                return [self._value(values, operand) for operand in op.operands]
            if (work := self._run_op(op, values)) is not None:
                yield work
        raise InterpreterError(f"@{name} does not return")

    def _bind_sizes(self, function: func.FuncOp, inputs: Sequence[Array], given: Mapping[str, int]) -> dict[str, int]:
        """Returns the sizes of named dimensions, from the inputs or else from `given`."""
        sizes: dict[str, int] = {}
        for argument, array in zip(function.body.block.args, inputs, strict=False):
            sizes = {**_sizes_in(argument.type, array), **sizes}
        return {**given, **sizes}

    def _note_sizes(self, type: Attribute, array: Array) -> None:
        """Binds the names in the type of a result or region argument."""
        self._sizes[-1].update(_sizes_in(type, array))

    def _for_sizes(self, function: func.FuncOp, sizes: Mapping[str, int]) -> func.FuncOp:
        """Returns the function, specialised to the sizes of its named dimensions if it has any."""
        name, key = function.sym_name.data, tuple(sorted(sizes.items()))
        known = self._specialized.setdefault(name, {})
        if key not in known:
            try:
                known[key] = specialized(function, sizes) if has_named_dimensions(function) else function
            except DimensionError as error:
                for op in function.body.block.ops:
                    check_requirements(op, sizes)
                raise InputError(f"@{name} has no meaning for its inputs: {error.message}") from error
        return known[key]

    def _run_op(self, op: Operation, values: dict[SSAValue, Array]) -> Work[None] | None:
        """Runs an op, or returns the work that runs it."""
        match op:
            case IfOp():
                return self._if(op, values)
            case LoopOp():
                return self._loop(op, values)
            case func.CallOp() | NamedCallOp():
                return self._call(op, values)
            case _:
                values.update(zip(op.results, self._results(op, values), strict=True))
        return None

    def _if(self, op: IfOp, values: dict[SSAValue, Array]) -> Work[None]:
        taken = op.true_region if values[op.condition].item() else op.false_region
        given = yield self._block(taken.block, values)
        self._set_result(op.result, given, values)

    def _loop(self, op: LoopOp, values: dict[SSAValue, Array]) -> Work[None]:
        run = LoopRun.start(op, [values[operand] for operand in op.operands])
        while (arguments := run.arguments) is not None:
            given = yield self._block(op.body.block, values, cast("Sequence[Array]", arguments))
            run.take(tuple(given))
        result: Value = run.result(self._sizes[-1])
        self._set_result(op.result, cast("Sequence[Array]", result), values)

    def _block(
        self, block: Block, values: dict[SSAValue, Array], arguments: Sequence[Array] = ()
    ) -> Work[Sequence[Array]]:
        """Runs a region; returns the yielded value, or the fields of a yielded tuple."""
        around = dict(self._sizes[-1])
        for argument, value in zip(block.args, arguments, strict=True):
            self._note_sizes(argument.type, value)
            values[argument] = value
        for op in block.ops:
            if isinstance(op, YieldOp):
                self._sizes[-1] = around
                value = values[op.value]
                return cast("Sequence[Array]", value) if isinstance(op.value.type, TupleType) else [value]
            if (work := self._run_op(op, values)) is not None:
                yield work
        return []

    def _set_result(self, result: SSAValue, fields: Sequence[Array], values: dict[SSAValue, Array]) -> None:
        types = result.type.types.data if isinstance(result.type, TupleType) else [result.type]
        for type, field in zip(types, fields, strict=True):
            self._note_sizes(type, field)
        values[result] = _tuple(fields) if isinstance(result.type, TupleType) else fields[0]

    def _call(self, op: func.CallOp | NamedCallOp, values: dict[SSAValue, Array]) -> Work[None]:
        sizes = self._sizes[-1]
        check_requirements(op, sizes)
        if isinstance(op, NamedCallOp):
            sizes = {name: evaluate(dim, sizes) for name, dim in op.names.items()}
        self._progress.start(op)
        given = yield self.call(callee_name(op), [self._value(values, operand) for operand in op.operands], sizes)
        values.update(zip(op.results, given, strict=True))

    def _bind(self, function: func.FuncOp, inputs: Sequence[Array]) -> dict[SSAValue, Array]:
        name, arguments = function.sym_name.data, function.body.block.args
        if len(inputs) != len(arguments):
            raise InputError(f"@{name} takes {len(arguments)} inputs, {len(inputs)} are given")
        values: dict[SSAValue, Array] = {}
        for i, (argument, array) in enumerate(zip(arguments, inputs, strict=True)):
            type = argument.type
            values[argument] = array
            if isinstance(array, ClosureValue) and isinstance(type, ClosureType):
                continue
            if isinstance(type, SequenceType | OptionalType):
                held = array if isinstance(array, SequenceValue | OptionalValue) else value_of(array, type, {})
                if held is None:
                    raise InputError(f"input {i} of @{name} is no {type}")
                values[argument] = cast(Array, held)
                continue
            if not isinstance(type, TensorType):
                raise InterpreterError(f"input {i} of @{name} is {type}; the topi level has tensors alone")
            shape, dtype = type.get_shape(), numpy_dtype(type.element_type)
            if array.shape != shape or array.dtype != dtype:
                raise InputError(f"input {i} of @{name} is {array.dtype}{list(array.shape)}, not {dtype}{list(shape)}")
        return values

    def _value(self, values: dict[SSAValue, Array], operand: SSAValue) -> Array:
        if operand not in values:
            raise InterpreterError(f"a value of type {operand.type} is used before it is computed")
        return values[operand]

    def _results(self, op: Operation, values: dict[SSAValue, Array]) -> list[Array]:
        match op:
            case ComputeOp():
                return evaluate_compute(op, values)
            case ScanOp():
                return evaluate_scan(op, values)
            case ScatterOp():
                self._value(values, op.into)
                return [evaluate_scatter(op, values)]
            case NamedOp():
                return self._expand(op, values)
            case SortOp():
                return evaluate_sort(op, self._value(values, op.data))
            case SuppressOp():
                return evaluate_suppress([self._value(values, operand) for operand in op.operands])
            case PositionsOp():
                return evaluate_positions(self._value(values, op.mask))
            case TupleOp():
                return [_tuple([self._value(values, field) for field in op.fields])]
            case TupleGetItemOp():
                return [self._value(values, op.data)[op.index.value.data]]
            case ExtentsOp() | CutOp():
                value = evaluate_op(op, [self._value(values, operand) for operand in op.operands])
                note_extents(op, value, self._sizes[-1])
                self._note_sizes(op.result.type, cast(Array, value))
                return [cast(Array, value)]
            case GraphOp():
                value = evaluate_op(op, [self._value(values, operand) for operand in op.operands])
                self._note_sizes(op.results[0].type, cast(Array, value))
                return [cast(Array, value)]
            case ConstantOp():
                return [op.array]
            case _:
                raise InterpreterError(f"'{op.name}' has no meaning at the topi level")

    def _expand(self, op: NamedOp, values: dict[SSAValue, Array]) -> list[Array]:
        expansion = op.expand()
        for inner in expansion.ops:
            values.update(zip(inner.results, self._results(inner, values), strict=True))
        results = [values[result] for result in expansion.results]
        # The expansion is in no block, so its references are dropped.
        for inner in reversed(expansion.ops):
            for result in inner.results:
                del values[result]
            inner.drop_all_references()
        return results


def _tuple(fields: Sequence[Array]) -> Array:
    return cast("Array", tuple(fields))
