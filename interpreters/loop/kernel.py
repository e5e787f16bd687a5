"""Interpretation of one kernel on numpy arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from xrelay.dialects.loop.extents import MAX_EXTENT, extents_of, index_arguments
from xrelay.dialects.loop.specialize import specialized
from xrelay.dialects.shared.attribute_names import LOOP_KERNEL
from xrelay.errors import InputError, InterpreterError
from xrelay.interpreters.loop.body import BodyCompiler
from xrelay.interpreters.loop.frame import Array
from xrelay.interpreters.scalar import Value, numpy_dtype

KernelFunction = Callable[[Sequence[Value]], None]
"""Runs the kernel on its arguments and writes its outputs in place."""


def run_kernel(kernel: func.FuncOp, arguments: Sequence[Value], *, lanes: bool = True) -> None:
    """Runs a kernel. `arguments` are arrays, ints for `index`; they include the outputs, which are written.

    Without `lanes`, iterations run one by one in program order, which takes about 4 µs each. Raises `InputError` for
    invalid arguments, and `InterpreterError` for out-of-bounds accesses and unsupported ops.
    """
    compile_kernel(kernel, lanes=lanes)(arguments)


def compile_kernel(kernel: func.FuncOp, *, lanes: bool = True) -> KernelFunction:
    """Returns the kernel as a function of its arguments.

    Many iterations run at once if that is provably equivalent. Arguments may be the same buffer, but no iterations run
    at once if two of them overlap in another way.
    """
    if not kernel.body.blocks:
        raise InterpreterError(f"@{kernel.sym_name.data} has no body")
    given = [argument.index for argument in index_arguments(kernel)]
    compiled: dict[tuple[tuple[int, ...] | None, tuple[int, ...]], KernelFunction] = {}

    def run(arguments: Sequence[Value]) -> None:
        _check_arguments(kernel, arguments)
        buffers = _distinct_buffers(arguments) if lanes else None
        extents = tuple(int(arguments[position]) for position in given)
        if (buffers, extents) not in compiled:
            # Lanes and empty reductions are determined for specific extents.
            compiled[buffers, extents] = _compile(specialized(kernel, extents), buffers)
        compiled[buffers, extents](arguments)

    return run


def _compile(kernel: func.FuncOp, buffers: Sequence[int] | None) -> KernelFunction:
    """Compiles a kernel; `buffers` has the first argument that is the same buffer for each, or no lanes are used."""
    block = kernel.body.block
    same: dict[SSAValue, SSAValue] | None = None
    if buffers is not None:
        same = {argument: block.args[first] for argument, first in zip(block.args, buffers, strict=True)}
    compiler = BodyCompiler(block, same)
    places = [compiler.slots.define(argument) for argument in block.args]
    body = compiler.block(block)

    def run(arguments: Sequence[Value]) -> None:
        frame = compiler.slots.frame()
        for place, argument in zip(places, arguments, strict=True):
            frame[place] = argument
        with np.errstate(all="ignore"):
            body(frame)

    return run


def _distinct_buffers(arguments: Sequence[Value]) -> tuple[int, ...] | None:
    """Returns the first argument that is the same buffer for each; None if two arguments overlap in part."""
    found = list(range(len(arguments)))
    arrays = [(k, value) for k, value in enumerate(arguments) if isinstance(value, np.ndarray)]
    for number, (k, array) in enumerate(arrays):
        for other, before in arrays[:number]:
            if np.may_share_memory(array, before):
                if not _is_same(array, before):
                    return None
                found[k] = found[other]
                break
    return tuple(found)


def _is_same(left: Array, right: Array) -> bool:
    pointers = [each.__array_interface__["data"][0] for each in (left, right)]
    kinds = [(each.shape, each.strides, each.dtype) for each in (left, right)]
    return pointers[0] == pointers[1] and kinds[0] == kinds[1]


def _check_arguments(kernel: func.FuncOp, arguments: Sequence[Value]) -> None:
    name, parameters = kernel.sym_name.data, kernel.body.block.args
    if len(arguments) != len(parameters):
        raise InputError(f"@{name} takes {len(parameters)} arguments, got {len(arguments)}")
    for position, (parameter, value) in enumerate(zip(parameters, arguments, strict=True)):
        problem = argument_problem(parameter.type, value)
        if problem is not None:
            raise InputError(f"argument {position} of @{name} {problem}")
    if LOOP_KERNEL in kernel.attributes:
        _check_extents(kernel, arguments)


def _check_extents(kernel: func.FuncOp, arguments: Sequence[Value]) -> None:
    """Checks that extents are in range and that buffers have the sizes specified by `loop.extents`."""
    name = kernel.sym_name.data
    given: dict[SSAValue, Value] = dict(zip(kernel.body.block.args, arguments, strict=True))
    for argument in index_arguments(kernel):
        if not 0 <= int(given[argument]) <= MAX_EXTENT:
            problem = f"must be in [0, {MAX_EXTENT}], got {given[argument]}"
            raise InputError(f"argument {argument.index} of @{name} {problem}")
    for position, parameter in enumerate(given):
        extents = extents_of(parameter) if isinstance(parameter.type, MemRefType) else ()
        for size, extent in zip(np.shape(given[parameter]), extents, strict=True):
            if isinstance(extent, SSAValue) and size != given[extent]:
                problem = f"has {size} elements along an axis of extent {given[extent]}"
                raise InputError(f"argument {position} of @{name} {problem}")


def argument_problem(expected: Attribute, value: Value) -> str | None:
    """Returns the error message for `value` as a parameter of type `expected`, or None if it is valid."""
    if isinstance(expected, IndexType):
        return None if np.ndim(value) == 0 else "must be one index"
    if not isa(expected, MemRefType):
        return f"has type {expected}; kernels take memrefs and indices"
    if not isinstance(value, np.ndarray):
        return f"must be a numpy array, got {type(value).__name__}"
    shape, dtype = expected.get_shape(), numpy_dtype(expected.element_type)
    fits = len(shape) == value.ndim and all(s < 0 or s == size for s, size in zip(shape, value.shape, strict=True))
    if fits and dtype == value.dtype:
        return None
    wanted = ["?" if size < 0 else size for size in shape]
    return f"must be {dtype}[{', '.join(map(str, wanted))}], got {value.dtype}{list(value.shape)}"
