"""The typing rule of `relay.loop`, and its requirements on named dimensions.

An argument of unknown type has the type of its initial value in all iterations. If a carried value changes its extents,
the written type of the argument has names for them. Names that arguments bind or ops of the body introduce are not
visible after the loop: the result has other names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute

from xrelay.dialects.relay.structure.loop import CONDITION, COUNT, LoopOp, most_iterations, own_names, without_names
from xrelay.dialects.relay.structure.yields import yielded
from xrelay.dialects.shared.requirements_attr import NewExtent
from xrelay.dialects.shared.types import (
    IncompleteType,
    dim_pairs,
    dims_in,
    element_type_of,
    is_complete,
    shape_of,
    tensor_type,
    tuple_type,
    with_dims,
)
from xrelay.index_algebra.dims import AnyDim, Dim, symbol
from xrelay.index_algebra.requirement import Equal, Requirement
from xrelay.passes.types.dim_names import single_name
from xrelay.passes.types.type_solver import TypeSolver

ITERATIONS = "%iterations"
"""A placeholder for the extent of stacked values until it has a name. Names in the text cannot contain "%"."""


def apply_loop(op: LoopOp, solver: TypeSolver) -> None:
    """Adds the types that follow from `op` to `solver`."""
    for value, type in ((op.trip_count, COUNT), (op.condition, CONDITION), (op.number, COUNT)):
        if value is not None:
            solver.refine(value, type, op)
    for argument, value in zip(op.carried, op.initial, strict=True):
        if not is_complete(argument.type):
            solver.refine(argument, solver.type_of(value), op)
    arguments = [solver.type_of(argument) for argument in op.carried]
    own = _own_names(op, solver)
    for value, type in zip(op.initial, arguments, strict=True):
        if not is_complete(solver.type_of(value)):
            solver.refine(value, without_names(type, own), op)
    end = yielded(op.body)
    if not is_complete(solver.type_of(end)):
        solver.refine(end, _expected_yield(op, [without_names(type, own) for type in arguments], solver), op)
    if all(map(is_complete, arguments)) and is_complete(solver.type_of(end)):
        _infer_result(op, arguments, own, solver)


def requirements_of_loop(op: LoopOp, solver: TypeSolver) -> Iterator[Requirement]:
    """Yields the requirements that initial values have the extents of the arguments, except for varying ones."""
    initial = [solver.type_of(value) for value in op.initial]
    yield from _requirements(op, initial, "initial extent", solver)


def requirements_of_end(op: LoopOp, solver: TypeSolver) -> Iterator[Requirement]:
    """Yields the requirements that the next carried values have the extents of the arguments, except varying ones."""
    type = solver.type_of(yielded(op.body))
    if isinstance(type, TupleType):
        yield from _requirements(op, op.yielded_types(type)[0], "yielded extent", solver)


def extents_of_loop(op: LoopOp, solver: TypeSolver) -> list[NewExtent]:
    """Returns the extents that the loop introduces. The trip count is the bound of that of stacked values."""
    made = solver.names_around(op).names_made_by(op)
    return [NewExtent(name, _most(op, solver) if inner == ITERATIONS else None) for inner, name in made.items()]


def _own_names(op: LoopOp, solver: TypeSolver) -> frozenset[str]:
    return own_names(map(solver.type_of, op.carried), map(solver.type_of, op.initial))


def _expected_yield(op: LoopOp, carried: Sequence[Attribute], solver: TypeSolver) -> Attribute:
    """Returns the known part of the tuple type that the body yields. The result determines the number of stacks."""
    result = solver.type_of(op.result)
    if not isinstance(result, TupleType):
        return IncompleteType()
    stacked = [IncompleteType()] * (len(result.types) - len(carried))
    condition = [] if op.condition is None else [CONDITION]
    return tuple_type([*condition, *carried, *stacked])


def _infer_result(op: LoopOp, arguments: Sequence[Attribute], own: frozenset[str], solver: TypeSolver) -> None:
    """Infers the type of the result from the arguments and stacked values, with new names for varying extents.

    Stacked values have the extents of any iteration, carried values those of the last one, so their names differ.
    """
    end = solver.type_of(yielded(op.body))
    if not isinstance(end, TupleType):
        return
    iterations = None if op.condition is not None else _most(op, solver)
    leading = symbol(ITERATIONS) if iterations is None else iterations
    apart = {name: symbol(f"%{name}_stacked") for name in own}
    stacked = [with_dims(type, lambda dim: dim.substitute(apart)) for type in op.yielded_types(end)[1]]
    inner = tuple_type([*arguments, *(_stack(type, leading) for type in stacked)])
    found = {name for dim in dims_in(inner) for name in dim.names}
    # The trip count and the names that ops of the body introduce may be determined later.
    if found and solver.postpone(op):
        return
    names = solver.names_around(op)
    made = {name for name in found if name in own or name.startswith("%") or names.is_made_in(name, op)}
    given: Mapping[str, Dim] = names.of_call(op, made, inner, op.result.type)
    solver.refine(op.result, with_dims(inner, lambda dim: dim.substitute(given)), op)


def _stack(type: Attribute, leading: Dim) -> Attribute:
    return tensor_type([leading, *shape_of(type)], element_type_of(type)) if isinstance(type, TensorType) else type


def _most(op: LoopOp, solver: TypeSolver) -> Dim | None:
    """Returns the trip count if it is known."""
    elements = None if op.trip_count is None else solver.elements.of(op.trip_count)
    if elements is None or isinstance(elements[0], AnyDim):
        return None
    return most_iterations(elements[0])


def _requirements(op: LoopOp, types: Sequence[Attribute], about: str, solver: TypeSolver) -> Iterator[Requirement]:
    """Yields the requirements that `types` match the arguments, with one size for each name that the arguments bind."""
    own = _own_names(op, solver)
    pairs = [pair for found, argument in zip(types, op.carried, strict=True)
             for pair in dim_pairs(found, solver.type_of(argument))]  # fmt: skip
    bindings: dict[str, Dim] = {}
    for given, wanted in pairs:
        name = single_name(wanted)
        if name is not None and name in own:
            bindings.setdefault(name, given)
    for given, wanted in pairs:
        expected = wanted if isinstance(wanted, int) else wanted.substitute(bindings)
        if given != expected and not isinstance(given, AnyDim) and not isinstance(expected, AnyDim):
            yield Equal(given, expected, constraint="C0", about=about)
