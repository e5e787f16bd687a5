"""The typing rules of `relay-infer-type`: each kind of op relates the types of its values.

Operators define their own rules (`RelayOp.infer_type` and `infer_operand_types`). This file has those of the other ops.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects.builtin import FunctionType, TensorType, TupleType, i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.call import AnyCall, callee_name, is_call
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.loop import CONDITION, COUNT, LoopOp, most_iterations, own_names, without_names
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.yields import yielded
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.requirements import NewExtent, new_extents
from xrelay.dialects.shared.types import (
    IncompleteType,
    dim_pairs,
    dims_in,
    element_type_of,
    has_open_functions,
    is_complete,
    shape_of,
    tensor_type,
    tuple_type,
    with_dims,
)
from xrelay.errors import ConstraintError, DimensionError, TypeInferenceError
from xrelay.index_algebra.dims import ANY, AnyDim, Dim, symbol
from xrelay.index_algebra.requirement import Equal, Requirement
from xrelay.passes.graph.op_kinds import is_relay_op
from xrelay.passes.types.call_rule import relate_call, relate_invoke
from xrelay.passes.types.dim_names import single_name
from xrelay.passes.types.type_solver import FunctionResult, TypeSolver, returned

BOOL_SCALAR = TensorType(i1, [])
"""The type of a condition."""


def apply_rule(op: Operation, solver: TypeSolver) -> None:
    """Adds the types that follow from `op` and the known types to `solver`. Raises `TypeInferenceError` on a clash."""
    try:
        _apply_rule(op, solver)
    except DimensionError as error:
        raise TypeInferenceError(f"{op.name}: {error.message}", location=location_of(op), help=error.help) from error


def _apply_rule(op: Operation, solver: TypeSolver) -> None:
    if is_relay_op(op):
        _operator(op, solver)
    elif isinstance(op, FuncOp):
        _function(op, solver)
    elif is_call(op):
        _call(op, solver)
    elif isinstance(op, IfOp):
        _if(op, solver)
    elif isinstance(op, LoopOp):
        apply_loop(op, solver)
    elif isinstance(op, FnOp):
        _closure(op, solver)
    elif isinstance(op, InvokeOp):
        relate_invoke(op, solver)
    elif isinstance(op, FusedOp):
        _relate_fused(op, solver)


def _operator(op: RelayOp, solver: TypeSolver) -> None:
    """Infers operands from the result and each other, then the result from the operands."""
    try:
        (result,) = op.results
        types = [solver.type_of(operand) for operand in op.operands]
        complete = all(map(is_complete, types))
        if not complete:
            backwards = op.infer_operand_types(Facts(op.name, types), solver.type_of(result))
            for operand, type in zip(op.operands, backwards, strict=True):
                solver.refine(operand, type, op)
            types = [solver.type_of(operand) for operand in op.operands]
            complete = all(map(is_complete, types))
        if complete or op.INFERS_FROM_INCOMPLETE:
            solver.refine(result, _result_type(op, types, solver), op)
            solver.learn_elements(op, types)
    except ConstraintError as error:
        raise TypeInferenceError(error.message, location=location_of(op), help=error.help) from error


def _result_type(op: RelayOp, types: Sequence[Attribute], solver: TypeSolver) -> Attribute:
    """Returns the result type of `op` for operands of `types`.

    If their extents are not all known, an extent that the op introduces may turn out to follow from them later. So it
    gets a name only when no other op can refine types.
    """
    if not all(map(is_complete, types)) or any(ANY in dims_in(type) for type in types):
        known = op.inference(types, solver.elements.of_operands(op))
        if known.extents and solver.postpone(op, guesses=True):
            return known.anonymous_type
    return solver.inference(op, types).type


def _function(func: FuncOp, solver: TypeSolver) -> None:
    """Relates returned values to the results of the signature."""
    last = returned(func)
    if last is None:
        return
    if len(last.arguments) != len(func.function_type.outputs):
        raise TypeInferenceError(
            f"@{func.sym_name.data} returns {len(last.arguments)} values, its type has "
            f"{len(func.function_type.outputs)}",
            location=location_of(last),
        )
    for index, value in enumerate(last.arguments):
        solver.relate(value, FunctionResult(func, index), last)


def _call(call: AnyCall, solver: TypeSolver) -> None:
    """Relates a call to its callee; see `call_rule`."""
    func = solver.functions.get(callee_name(call))
    if func is None:
        raise TypeInferenceError(f"there is no function @{callee_name(call)}", location=location_of(call))
    relate_call(call, func, solver)


def _if(op: IfOp, solver: TypeSolver) -> None:
    """Relates the result to both branches. Extents in which the branches differ are introduced by the op.

    While the ops of a branch may still determine its type, it is not inferred from the other branch.
    """
    solver.refine(op.condition, BOOL_SCALAR, op)
    branches = [yielded(region) for region in (op.true_region, op.false_region)]
    first, second = (solver.type_of(value) for value in branches)
    if is_complete(first) and is_complete(second):
        joined = solver.names_around(op).of_join(op, first, second, solver.type_of(op.result), solver.type_of)
        if joined is not None:
            solver.refine(op.result, joined, op)
            return
        if has_open_functions([first, second]):
            raise TypeInferenceError(
                f"{op.name}: the branches yield functions of different types, {first} and {second}",
                location=location_of(op),
                help="declare the same extents in both functions",
            )
    elif solver.postpone(op, guesses=True):
        # An extent that the op introduces is not that of a branch.
        made = {extent.name for extent in new_extents(op)}
        known = with_dims(solver.type_of(op.result), lambda dim: dim if made.isdisjoint(dim.names) else ANY)
        for value in branches if is_complete(known) else ():
            if not is_complete(solver.type_of(value)):
                solver.refine(value, known, op)
        return
    # Types propagate from one branch through the result to the other.
    for value in (*branches, branches[0]):
        solver.relate(op.result, value, op)


def _closure(op: FnOp, solver: TypeSolver) -> None:
    body = yielded(op.body)
    inputs = [solver.type_of(parameter) for parameter in op.parameters]
    solver.refine(op.result, FunctionType.from_lists(inputs, [solver.type_of(body)]), op)
    itself = op.self_argument
    if itself is not None:
        solver.relate(op.result, itself, op)
    type = solver.type_of(op.result)
    if isinstance(type, FunctionType):
        for parameter, input in zip(op.parameters, type.inputs, strict=True):
            solver.refine(parameter, input, op)
        solver.refine(body, type.outputs.data[0], op)


def _relate_fused(op: FusedOp, solver: TypeSolver) -> None:
    for parameter, argument in zip(op.body.block.args, op.arguments, strict=True):
        solver.relate(argument, parameter, op)
    solver.relate(yielded(op.body), op.result, op)


ITERATIONS = "%iterations"
"""A placeholder for the extent of stacked values until it has a name. Names in the text cannot contain "%"."""


def apply_loop(op: LoopOp, solver: TypeSolver) -> None:
    """Adds the types that follow from `op` to `solver`.

    An argument of unknown type has the type of its initial value in all iterations. If a carried value changes its
    extents, the written type of the argument has names for them. Names that arguments bind or ops of the body introduce
    are not visible after the loop: the result has other names.
    """
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
    return [NewExtent(name, _trip_count(op, solver) if inner == ITERATIONS else None) for inner, name in made.items()]


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
    iterations = None if op.condition is not None else _trip_count(op, solver)
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


def _trip_count(op: LoopOp, solver: TypeSolver) -> Dim | None:
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
