"""What `relay.loop` says of types, and what it demands of named dimensions.

An argument whose type the text leaves open is what the initial value is, in every iteration; where a carried value
changes its extents, the text gives the argument names for them. The names that arguments bind, and those that ops of
the body make, mean nothing behind the loop: the result has others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute

from xrelay.dialects.relay.core.requirements_attr import NewExtent
from xrelay.dialects.relay.core.types import (
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
from xrelay.dialects.relay.structure.loop import CONDITION, COUNT, LoopOp, most_iterations, own_names, without_names
from xrelay.dialects.relay.structure.yields import yielded
from xrelay.index_algebra.dims import AnyDim, Dim, symbol
from xrelay.index_algebra.requirement import Equal, Requirement
from xrelay.passes.types.dim_names import single_name
from xrelay.passes.types.type_solver import TypeSolver

ITERATIONS = "%iterations"
"""Stands for the extent of the stacks until that has a name; no text has such a name, nor one with another "%"."""


def apply_loop(op: LoopOp, solver: TypeSolver) -> None:
    """Tell `solver` what `op` says of the types around it."""
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


def demands_of_loop(op: LoopOp, solver: TypeSolver) -> Iterator[Requirement]:
    """That the initial values have the extents of the arguments, where these do not vary."""
    initial = [solver.type_of(value) for value in op.initial]
    yield from _demands(op, initial, "initial extent", solver)


def demands_of_end(op: LoopOp, solver: TypeSolver) -> Iterator[Requirement]:
    """That what the body yields for the next iteration has the extents of the arguments, where these do not vary."""
    type = solver.type_of(yielded(op.body))
    if isinstance(type, TupleType):
        yield from _demands(op, op.yielded_types(type)[0], "yielded extent", solver)


def extents_of_loop(op: LoopOp, solver: TypeSolver) -> list[NewExtent]:
    """The extents that the loop makes, that of the stacks with the trip count as its bound."""
    made = solver.names_around(op).names_made_by(op)
    return [NewExtent(name, _most(op, solver) if inner == ITERATIONS else None) for inner, name in made.items()]


def _own_names(op: LoopOp, solver: TypeSolver) -> frozenset[str]:
    return own_names(map(solver.type_of, op.carried), map(solver.type_of, op.initial))


def _expected_yield(op: LoopOp, carried: Sequence[Attribute], solver: TypeSolver) -> Attribute:
    """What is known of the tuple that the body yields: how many values it stacks, the result tells."""
    result = solver.type_of(op.result)
    if not isinstance(result, TupleType):
        return IncompleteType()
    stacked = [IncompleteType()] * (len(result.types) - len(carried))
    condition = [] if op.condition is None else [CONDITION]
    return tuple_type([*condition, *carried, *stacked])


def _infer_result(op: LoopOp, arguments: Sequence[Attribute], own: frozenset[str], solver: TypeSolver) -> None:
    """The types of the arguments and of the stacks, with names for what varies.

    What is stacked has the extents of some iteration, what is carried those of the last one: names of their own.
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
    # The trip count may be found out later, and the names of what ops of the body make.
    if found and solver.postpone(op):
        return
    names = solver.names_around(op)
    made = {name for name in found if name in own or name.startswith("%") or names.is_made_in(name, op)}
    given: Mapping[str, Dim] = names.of_call(op, made, inner, op.result.type)
    solver.refine(op.result, with_dims(inner, lambda dim: dim.substitute(given)), op)


def _stack(type: Attribute, leading: Dim) -> Attribute:
    return tensor_type([leading, *shape_of(type)], element_type_of(type)) if isinstance(type, TensorType) else type


def _most(op: LoopOp, solver: TypeSolver) -> Dim | None:
    """What the trip count says, where its value is known."""
    elements = None if op.trip_count is None else solver.elements.of(op.trip_count)
    if elements is None or isinstance(elements[0], AnyDim):
        return None
    return most_iterations(elements[0])


def _demands(op: LoopOp, types: Sequence[Attribute], about: str, solver: TypeSolver) -> Iterator[Requirement]:
    """That `types` are those of the arguments, with one size for each name that the arguments bind."""
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
