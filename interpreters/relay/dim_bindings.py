"""The sizes of named dimensions during interpretation, and the checks that depend on them.

The names of a function are bound by the shapes of its arguments, and by the values that a `relay.call` states for them.
A name that an op introduces is bound by the shape of the op's result. The shapes of later values are checked against
the bindings. An op's requirements are checked before it runs, and the bounds of a function's named dimensions
(`relay.sizes`) on entry.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress
from typing import cast

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from xrelay.dialects.relay.core.size_hints import size_hints
from xrelay.dialects.relay.structure.call import NamedCallOp
from xrelay.dialects.relay.structure.extents import (
    ExtentsOp,
    describe_requirement,
    extent_origins_around,
    first_location,
)
from xrelay.dialects.shared.dims_attr import DimsAttr
from xrelay.dialects.shared.locations import location_of, sources_or_location
from xrelay.dialects.shared.requirements import kernel_requirements_of, new_extents, requirements_of
from xrelay.dialects.shared.types import Value, shape_of
from xrelay.errors import DimensionError, InterpreterError
from xrelay.index_algebra.dims import Dim, DimExpr, evaluate, name_and_size, names_of
from xrelay.index_algebra.requirement import Requirement


def bind_dims(value: object, type: Attribute, sizes: dict[str, int], op: Operation) -> None:
    """Binds the names in `type` and checks every extent whose names are bound.

    Raises `InterpreterError` with the location of `op` if an extent of `value` differs from its type.
    """
    pending: list[tuple[object, Attribute]] = [(value, type)]
    seen = set[tuple[int, int]]()
    while pending:
        current, current_type = pending.pop()
        if isinstance(current_type, TupleType) and isinstance(current, tuple):
            # Visits shared fields and types only once.
            fields = cast("tuple[object, ...]", current)
            if (id(fields), id(current_type)) not in seen:
                seen.add((id(fields), id(current_type)))
                pending += zip(fields, current_type.types.data, strict=False)
        elif isinstance(current_type, TensorType) and isinstance(current_type.encoding, DimsAttr):
            shape = cast("tuple[int, ...] | None", getattr(current, "shape", None))
            if shape is not None:
                _bind_shape(shape, current_type, sizes, op)


def _bind_shape(shape: tuple[int, ...], type: Attribute, sizes: dict[str, int], op: Operation) -> None:
    pairs = [(extent, dim) for extent, dim in zip(shape, shape_of(type), strict=False) if isinstance(dim, DimExpr)]
    for extent, dim in pairs:
        name, size = name_and_size(dim, extent) or ("", None)
        if size is not None:
            sizes.setdefault(name, size)
    for extent, dim in pairs:
        if dim.names <= sizes.keys() and dim.names:
            _compare(extent, dim, sizes, type, op)


def _compare(extent: int, dim: DimExpr, sizes: Mapping[str, int], type: Attribute, op: Operation) -> None:
    try:
        wanted: Dim = evaluate(dim, sizes)
    except DimensionError as error:
        raise InterpreterError(f"{op.name}: {error.message}", location=location_of(op)) from error
    if wanted != extent:
        raise InterpreterError(
            f"{op.name}: an extent is {extent}, in its type {type} it is {dim} = {wanted} ({_sizes(dim, sizes)})",
            location=location_of(op),
        )


def sizes_of_callee(call: NamedCallOp, sizes: Mapping[str, int]) -> dict[str, int]:
    """Returns the sizes of the callee's names that `call` specifies in terms of known names.

    Raises `InterpreterError` if a size is negative or undefined.
    """
    found: dict[str, int] = {}
    for name, dim in call.names.items():
        if not names_of(dim) <= sizes.keys():
            continue
        try:
            found[name] = evaluate(dim, sizes)
        except DimensionError as error:
            raise InterpreterError(f"{call.name}: {error.message}", location=location_of(call)) from error
        if found[name] < 0:
            raise InterpreterError(
                f"[{call.name} C2] the dimension {name} = {dim} of {call.callee} is {found[name]}, must be 0 or more",
                location=location_of(call),
            )
    return found


def note_made_sizes(call: NamedCallOp, callee: Mapping[str, int], sizes: dict[str, int]) -> None:
    """Binds the names that `call` introduces to their sizes in the callee."""
    made = {extent.name for extent in new_extents(call)}
    for name, dim in call.names.items():
        for own in names_of(dim) & made:
            if name in callee:
                sizes[own] = callee[name]


def check_requirements(op: Operation, sizes: Mapping[str, int]) -> None:
    """Raises `InterpreterError` if a requirement of `op` on dimensions of known size does not hold.

    The requirements of a kernel call are those of the ops in the kernel.
    """
    _check(op.name, requirements_of(op), sizes, op)
    for row in kernel_requirements_of(op):
        _check(row.op, row.requirements, sizes, op)


def _check(name: str, requirements: Sequence[Requirement], sizes: Mapping[str, int], op: Operation) -> None:
    for requirement in requirements:
        if not requirement.names <= sizes.keys():
            continue
        try:
            failure = requirement.failure(sizes)
        except DimensionError as error:
            failure = error.message
        if failure is not None:
            constraint = f"[{name} {requirement.constraint}]" if requirement.constraint else f"{name}:"
            message = f"{constraint} {_describe(requirement, sizes, op, failure)}"
            raise InterpreterError(message, location=location_of(op))


def _describe(requirement: Requirement, sizes: Mapping[str, int], op: Operation, failure: str) -> str:
    """Returns the failure message of `requirement`, worded as in native code, with the sizes of named dimensions."""
    origins = extent_origins_around(op)
    with suppress(DimensionError):
        described = describe_requirement(requirement, origins, first_location(sources_or_location(op)))
        failure = requirement.failure(sizes, described) or failure
    names = ", ".join(f"{each} = {sizes[each]}" for each in sorted(requirement.names - origins.keys()))
    return f"{failure} ({names})" if names else failure


def _sizes(dim: DimExpr, sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {sizes[name]}" for name in sorted(dim.names))


def check_size_bounds(function: FuncOp, sizes: Mapping[str, int]) -> None:
    """Raises `InterpreterError` if a size is outside of the bounds that `function` states in `relay.sizes`."""
    for name, hint in size_hints(function).items():
        if name in sizes and not hint.least <= sizes[name] <= hint.greatest:
            bounds = f"@{function.sym_name.data} requires {name} in {hint.least} to {hint.greatest}"
            raise InterpreterError(
                f"{bounds}, got {sizes[name]}",
                location=location_of(function),
                help="pass inputs of other sizes, or change relay.sizes",
            )


def note_extents(op: Operation, value: Value, sizes: MutableMapping[str, int]) -> None:
    """Binds the names of a `relay.extents` op to the elements of its `value`; ignores other ops."""
    if isinstance(op, ExtentsOp) and not isinstance(value, tuple):
        sizes.update(zip(op.names, value.reshape(-1).tolist(), strict=False))
