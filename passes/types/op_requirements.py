"""The requirements of each op on named dimensions, for `relay-infer-type`, and the extents that it introduces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.annotation import RequireOp
from xrelay.dialects.relay.structure.call import AnyCall, NamedCallOp, callee_name, instantiated, is_call, names_in
from xrelay.dialects.relay.structure.extents import ExtentsOp
from xrelay.dialects.relay.structure.function import InvokeOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.requirements_attr import NewExtent
from xrelay.dialects.shared.types import dim_pairs, dims_in, is_complete
from xrelay.errors import DimensionError, TypeInferenceError
from xrelay.index_algebra.dims import AnyDim, Dim, substitute
from xrelay.index_algebra.requirement import AtLeast, Equal, Requirement
from xrelay.passes.types.call_rule import call_bindings, parameter_types
from xrelay.passes.types.dim_names import single_name
from xrelay.passes.types.invoke_rule import invoke_bindings, made_bindings, own_names
from xrelay.passes.types.loop_types import extents_of_loop, requirements_of_end, requirements_of_loop
from xrelay.passes.types.type_solver import FunctionResult, TypeSolver


@dataclass
class Entry:
    """The contract of a function for its callers, in names of its parameters only."""

    requirements: list[Requirement] = field(default_factory=list[Requirement])
    """The requirements of each run of the function."""
    bounds: dict[str, Dim] = field(default_factory=dict[str, Dim])
    """Upper bounds of the extents that its ops introduce."""


Entries: TypeAlias = dict[str, Entry]
"""Function name → entry."""


def infer_requirements(
    op: Operation, solver: TypeSolver, entries: Entries
) -> tuple[Sequence[NewExtent], list[Requirement]]:
    """Returns the extents that `op` introduces and its requirements; both empty for an op without named dimensions.

    Raises `TypeInferenceError` if an extent has no value for any size.
    """
    try:
        return _infer_requirements(op, solver, entries)
    except DimensionError as error:
        raise TypeInferenceError(f"{op.name}: {error.message}", location=location_of(op), help=error.help) from error


def _infer_requirements(
    op: Operation, solver: TypeSolver, entries: Entries
) -> tuple[Sequence[NewExtent], list[Requirement]]:
    if isinstance(op, RelayOp):
        return _requirements_of_operator(op, solver)
    if isinstance(op, IfOp):
        return solver.names_around(op).made_by(op), []
    if is_call(op):
        return _requirements_of_call(op, solver, entries.get(callee_name(op), Entry()))
    if isinstance(op, InvokeOp):
        return _requirements_of_invoke(op, solver)
    if isinstance(op, LoopOp):
        return extents_of_loop(op, solver), list(requirements_of_loop(op, solver))
    if isinstance(op, ReturnOp) and isinstance(function := op.parent_op(), FuncOp):
        pairs = [
            (solver.type_of(value), solver.type_of(FunctionResult(function, index)))
            for index, value in enumerate(op.arguments)
        ]
        return (), [requirement for found, wanted in pairs for requirement in _claims(found, wanted, "result")]
    around = op.parent_op()
    if isinstance(op, YieldOp) and isinstance(around, LoopOp):
        return (), list(requirements_of_end(around, solver))
    if isinstance(op, YieldOp) and isinstance(around, IfOp):
        made = {extent.name for extent in solver.names_around(around).made_by(around)}
        claims = _claims(solver.type_of(op.value), solver.type_of(around.result), "yielded")
        return (), [claim for claim in claims if single_name(claim.rhs) not in made]
    return (), []


def _requirements_of_call(
    call: AnyCall, solver: TypeSolver, entry: Entry
) -> tuple[Sequence[NewExtent], list[Requirement]]:
    """Returns the extents that `call` introduces, and the requirements of matching extents and of the callee."""
    func = solver.functions[callee_name(call)]
    bindings = call_bindings(call, func, solver)
    if not bindings:
        return (), []
    requirements: list[Requirement] = [
        AtLeast(dim, 0, constraint="C2", about=f"{name} of @{callee_name(call)}") for name, dim in bindings.items()
    ]
    for argument, parameter in zip(call.arguments, parameter_types(func, solver), strict=True):
        requirements += _claims(solver.type_of(argument), instantiated(parameter, bindings), "argument")
    for index, result in enumerate(call.res):
        output = instantiated(solver.type_of(FunctionResult(func, index)), bindings)
        requirements += _claims(output, solver.type_of(result), "result")
    requirements += (_raised(requirement, bindings, call) for requirement in entry.requirements)
    given = solver.names_around(call).names_made_by(call)
    return [NewExtent(name, _bound(entry.bounds.get(inner), bindings)) for inner, name in given.items()], requirements


def _requirements_of_invoke(op: InvokeOp, solver: TypeSolver) -> tuple[Sequence[NewExtent], list[Requirement]]:
    """Returns the extents that `op` introduces, and the requirements that its extents match those of the closure."""
    type = solver.type_of(op.callee)
    if not isinstance(type, FunctionType) or not names_in([*type.inputs, *type.outputs]):
        return (), []
    bindings = invoke_bindings(op, type, solver)
    for name in own_names(op, type, solver):
        if name not in bindings:
            raise TypeInferenceError(
                f"{op.name}: the closure's dimension {name} is not determined here",
                location=location_of(op),
                help="declare a parameter of the closure with just the name as an extent",
            )
    requirements: list[Requirement] = [
        AtLeast(dim, 0, constraint="C2", about=f"{name} of the closure") for name, dim in bindings.items()
    ]
    for argument, parameter in zip(op.arguments, type.inputs, strict=True):
        requirements += _claims(solver.type_of(argument), instantiated(parameter, bindings), "argument")
    output = instantiated(type.outputs.data[0], bindings | made_bindings(op, type, solver))
    requirements += _claims(output, solver.type_of(op.result), "result")
    return solver.names_around(op).made_by(op), requirements


def _bound(bound: Dim | None, bindings: Mapping[str, Dim]) -> Dim | None:
    """Returns a bound of the callee in names of the caller; None if it has no value for any size."""
    try:
        return None if bound is None else substitute([bound], bindings)[0]
    except DimensionError:
        return None


def _raised(requirement: Requirement, bindings: Mapping[str, Dim], call: AnyCall) -> Requirement:
    """Returns a requirement of a callee in dimensions of its caller."""
    try:
        requirement = requirement.substitute(bindings)
    except DimensionError as error:
        raise TypeInferenceError(
            f"[{NamedCallOp.name} C6] @{callee_name(call)} requires {requirement.text}: {error.message}",
            location=location_of(call),
        ) from error
    about = requirement.about if requirement.about.startswith("@") else f"@{callee_name(call)}: {requirement.about}"
    return replace(requirement, constraint="C6", about=about)


def _requirements_of_operator(op: RelayOp, solver: TypeSolver) -> tuple[Sequence[NewExtent], list[Requirement]]:
    types = [solver.type_of(operand) for operand in op.operands]
    found = solver.type_of(op.results[0])
    # Types without names need no requirements, except for ops that state some themselves or name extents of elements.
    says = isinstance(op, RequireOp | ExtentsOp) or op.shape_depends_on_data
    named = says or any(dims_in(type) for type in (*types, found))
    if not named or not all(map(is_complete, types)):
        return (), []
    inference = solver.inference(op, types)
    requirements = dict.fromkeys(inference.requirements)
    for claimed in (found, op.results[0].type):
        requirements |= dict.fromkeys(_claims(inference.type, claimed, "result"))
    return inference.bounds, list(requirements)


def _claims(inferred: Attribute, claimed: Attribute, about: str) -> Iterator[Requirement]:
    """Yields the equality of each extent in the written type with the inferred one, if they differ."""
    for lhs, rhs in dim_pairs(inferred, claimed):
        if lhs != rhs and not isinstance(lhs, AnyDim) and not isinstance(rhs, AnyDim):
            yield Equal(lhs, rhs, constraint="C0", about=f"{about} extent")
