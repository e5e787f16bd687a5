"""The last step of `relay-infer-type`: each op records its undecided requirements on named dimensions.

The requirements are those of the op's rule, and the equality of written and inferred extents (a result written `<n>`
for which the rule yields `<2 * m>`). A shape environment decides them: a refuted requirement is an error, a proven one
is dropped, an undecided one is recorded on the op. Requirements of ops that run in each call of the function are facts
for all following ops and regions. Requirements of ops that run in each execution of a region are facts for the
following ops of that region only. Requirements of ops whose results are not needed are no facts for other ops, but must
not contradict themselves.

An undecided requirement on names of the parameters only is a precondition of the function: each call requires the same
of the dimensions bound to these names. Callees are visited first, so preconditions propagate through any number of
calls; on a cycle of calls they propagate as far as they are known.

Nothing is written before all functions are processed, so an error leaves the module unchanged.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.size_hints import size_hints
from xrelay.dialects.relay.ops.annotation import RequireOp
from xrelay.dialects.relay.structure.call import AnyCall, NamedCallOp, callee_name, instantiate, is_call, names_in
from xrelay.dialects.relay.structure.extents import ExtentsOp
from xrelay.dialects.relay.structure.function import InvokeOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import is_kind
from xrelay.dialects.shared.requirements import NewExtent, record_extents, record_requirements
from xrelay.dialects.shared.types import dim_pairs, dims_in, is_complete
from xrelay.errors import ContradictionError, DimensionError, TypeInferenceError
from xrelay.index_algebra.dims import AnyDim, Dim, names_of, substitute
from xrelay.index_algebra.requirement import AtLeast, Equal, Requirement
from xrelay.index_algebra.shape_environment import ShapeEnvironment, Verdict
from xrelay.passes.graph.calls import callees_first
from xrelay.passes.types.call_rule import call_bindings, invoke_bindings, new_bindings, own_names, parameter_types
from xrelay.passes.types.dim_names import single_name
from xrelay.passes.types.type_rules import extents_of_loop, requirements_of_end, requirements_of_loop
from xrelay.passes.types.type_solver import FunctionResult, TypeSolver, function_around

Recorded: TypeAlias = dict[Operation, tuple[Sequence[NewExtent], Sequence[Requirement]]]
"""Op → the extents that it introduces, and its requirements at run time."""


def recorded_by_functions(solver: TypeSolver) -> Recorded:
    """Returns the records of all ops. Raises `TypeInferenceError` for a requirement that cannot hold."""
    called: dict[str, list[str]] = {name: [] for name in solver.functions}
    for callee, calls in solver.callers.items():
        for call in calls:
            called.setdefault(function_around(call).sym_name.data, []).append(callee)
    entries: Entries = {}
    recorded: Recorded = {}
    for name in callees_first(called):
        if name in solver.functions:
            entries[name] = _record_function(solver.functions[name], solver, entries, recorded)
    return recorded


def write_recorded(recorded: Recorded) -> None:
    """Writes the records to the ops."""
    for op, (extents, requirements) in recorded.items():
        record_extents(op, extents)
        record_requirements(op, requirements)


def _record_function(function: FuncOp, solver: TypeSolver, entries: Entries, recorded: Recorded) -> Entry:
    """Decides the requirements of all ops in `function`; returns its contract for callers."""
    block, entry = function.body.blocks.first, Entry()
    if block is None:
        return entry
    names = set(names_in(solver.type_of(arg) for arg in block.args))
    everywhere = _Assumptions(ShapeEnvironment(sorted(names)))
    hinted = _facts_of_hints(function, names, everywhere)
    pending: list[tuple[Block, _Assumptions]] = [(block, everywhere)]
    while pending:
        current, here = pending.pop()
        needed = needed_by_the_end(current)
        for op in current.ops:
            extents, requirements = infer_requirements(op, solver, entries)
            kept: Sequence[Requirement] = ()
            if extents or requirements:
                own = here if op in needed else _Assumptions(ShapeEnvironment())
                kept = _decide(op, extents, requirements, own, everywhere)
            recorded[op] = extents, kept
            entry.bounds |= {
                extent.name: extent.at_most
                for extent in extents
                if extent.at_most is not None and names_of(extent.at_most) <= names
            }
            pending += [(inner, _Assumptions(ShapeEnvironment())) for region in op.regions for inner in region.blocks]
    if hinted and block.last_op is not None:
        extents, kept = recorded[block.last_op]
        recorded[block.last_op] = extents, [*hinted, *kept]
    entry.requirements += (requirement for requirement, _ in everywhere.requirements if requirement.names <= names)
    return entry


def _facts_of_hints(function: FuncOp, names: Container[str], everywhere: _Assumptions) -> Sequence[Requirement]:
    """Returns the size hints of `function` that are not proven, which become facts for all its ops."""
    hints = size_hints(function)
    hinted = [fact for name, hint in hints.items() if name in names for fact in hint.facts(name)]
    new = [fact for fact in hinted if everywhere.environment.prove(fact) is not Verdict.PROVEN]
    for fact in new:
        everywhere.assume(fact, function)
    return new


class _Assumptions:
    """Facts: the requirements of ops that run together."""

    def __init__(self, environment: ShapeEnvironment):
        self.environment = environment
        self.requirements: list[tuple[Requirement, Operation]] = []
        """The recorded requirements, each with its op."""

    def assume(self, requirement: Requirement, op: Operation) -> None:
        """Adds a requirement as a fact for following ops. Raises `ContradictionError` if the facts contradict."""
        self.environment.add(requirement)
        self.requirements.append((requirement, op))


def _decide(
    op: Operation,
    extents: Sequence[NewExtent],
    requirements: Sequence[Requirement],
    own: _Assumptions,
    everywhere: _Assumptions,
) -> list[Requirement]:
    """Returns the undecided requirements of `op` and adds them to `own`. Raises `TypeInferenceError` if one fails."""
    for extent in extents:
        if extent.fact is not None:
            own.environment.add(extent.fact)
    known = (everywhere,) if own is everywhere else (everywhere, own)
    kept: list[Requirement] = []
    for requirement in requirements:
        verdicts = [each.environment.prove(requirement) for each in known]
        if Verdict.REFUTED in verdicts:
            raise _impossible(requirement, op, known)
        if Verdict.PROVEN in verdicts:
            continue
        kept.append(requirement)
        try:
            own.assume(requirement, op)
        except ContradictionError as error:
            raise _impossible(requirement, op, known) from error
    return kept


def _impossible(requirement: Requirement, op: Operation, known: Sequence[_Assumptions]) -> TypeInferenceError:
    about = f" ({requirement.about})" if requirement.about else ""
    constraint = f"[{_name(op)} {requirement.constraint}] " if requirement.constraint else f"{_name(op)}: "
    return TypeInferenceError(
        f"{constraint}{requirement.text}{about} cannot hold here",
        location=location_of(op),
        help=_why(requirement, op, known),
    )


def _why(requirement: Requirement, op: Operation, known: Sequence[_Assumptions]) -> str:
    """Returns the reason why `requirement` cannot hold: the first other requirement that contradicts it, if any."""
    if _contradict(requirement):
        return "it is false for all sizes of the names"
    for fact, by in (each for one in reversed(known) for each in one.requirements):
        if not fact.names.isdisjoint(requirement.names) and _contradict(fact, requirement):
            about = f" ({fact.about})" if fact.about else ""
            who = "the same op" if by is op else f"{_name(by)} at {location_of(by)}"
            return f"{who} requires {fact.text}{about}"
    return "the requirements of all ops of the function contradict it"


def _contradict(*requirements: Requirement) -> bool:
    environment = ShapeEnvironment()
    try:
        for requirement in requirements:
            environment.add(requirement)
    except ContradictionError:
        return True
    return False


def _name(op: Operation) -> str:
    return NamedCallOp.name if is_call(op) else op.name


def needed_by_the_end(block: Block) -> set[Operation]:
    """Returns the ops of a block that run in each execution: those on which its last op depends outside of regions."""
    last = block.last_op
    if last is None:
        return set()
    needed, pending = {last}, [last]
    while pending:
        for operand in pending.pop().operands:
            if isinstance(operand, OpResult) and operand.op.parent is block and operand.op not in needed:
                needed.add(operand.op)
                pending.append(operand.op)
    return needed


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
        requirements += _claims(solver.type_of(argument), instantiate(parameter, bindings), "argument")
    for index, result in enumerate(call.res):
        output = instantiate(solver.type_of(FunctionResult(func, index)), bindings)
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
        requirements += _claims(solver.type_of(argument), instantiate(parameter, bindings), "argument")
    output = instantiate(type.outputs.data[0], bindings | new_bindings(op, type, solver))
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
    says = is_kind(type(op), (RequireOp, ExtentsOp)) or op.shape_depends_on_data
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
