"""The last step of `relay-infer-type`: each op records what it demands of named dimensions and nobody has decided.

The demands of a rule, and the claims of a text (a result written `<n>` where the rule gives `<2 * m>`), are put to a
shape environment. What it refutes is an error, what it proves is dropped, what it cannot decide is recorded on the op.
What ops demand that run whenever the function does is known to the ops after them; what an op in a region demands is
known in that region alone.

Such a demand between names of the parameters alone is one of the function's entry: every call of it demands the same of
what these names stand for there. Callees come first, so that demands rise through any number of calls; on a cycle of
calls, where there is no first one, they rise as far as is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult

from xrelay.dialects.locations import location_of
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.recorded_requirements import record_extents, record_requirements
from xrelay.dialects.relay.core.requirements_attr import NewExtent
from xrelay.dialects.relay.core.types import dim_pairs, dims_in, is_complete
from xrelay.dialects.relay.structure.call import AnyCall, NamedCallOp, callee_name, instantiated, is_call, names_in
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.errors import ContradictionError, DimensionError, TypeInferenceError
from xrelay.index_algebra.dims import AnyDim, Dim, names_of, substitute
from xrelay.index_algebra.requirement import AtLeast, Equal, Requirement
from xrelay.index_algebra.shape_environment import ShapeEnvironment, Verdict
from xrelay.passes.graph.calls import callees_first
from xrelay.passes.types.call_rule import call_bindings, parameter_types
from xrelay.passes.types.dim_names import single_name
from xrelay.passes.types.loop_types import demands_of_end, demands_of_loop, extents_of_loop
from xrelay.passes.types.type_solver import FunctionResult, TypeSolver, function_around


@dataclass
class Entry:
    """What the callers of a function have to know of it, in names of its parameters alone."""

    demands: list[Requirement] = field(default_factory=list[Requirement])
    """What it demands whenever it runs."""
    bounds: dict[str, Dim] = field(default_factory=dict[str, Dim])
    """What the extents that its ops make do not exceed."""


Entries: TypeAlias = dict[str, Entry]
"""By the names of functions."""


def record_functions(solver: TypeSolver) -> None:
    """Record the requirements of every op; `TypeInferenceError` for one that cannot hold."""
    called: dict[str, list[str]] = {name: [] for name in solver.functions}
    for callee, calls in solver.callers.items():
        for call in calls:
            called.setdefault(function_around(call).sym_name.data, []).append(callee)
    entries: Entries = {}
    for name in callees_first(called):
        if name in solver.functions:
            entries[name] = _record_function(solver.functions[name], solver, entries)


def _record_function(function: FuncOp, solver: TypeSolver, entries: Entries) -> Entry:
    """Record the requirements of every op in `function`; gives what its callers have to know."""
    block, entry = function.body.blocks.first, Entry()
    if block is None:
        return entry
    names = set(names_in(solver.type_of(arg) for arg in block.args))
    pending: list[tuple[Block, ShapeEnvironment]] = [(block, ShapeEnvironment(sorted(names)))]
    while pending:
        current, environment = pending.pop()
        recorder = _BlockRecorder(current, environment, solver, entries)
        for op in current.ops:
            recorder.record(op)
            pending += [(inner, environment) for region in op.regions for inner in region.blocks]
        entry.demands += (demand for demand in recorder.always_demanded if demand.names <= names)
        entry.bounds |= {
            extent.name: extent.at_most
            for extent in recorder.made
            if extent.at_most is not None and names_of(extent.at_most) <= names
        }
    return entry


class _BlockRecorder:
    """Records the ops of one block, whose facts are those of the blocks around it and its own."""

    def __init__(self, block: Block, environment: ShapeEnvironment, solver: TypeSolver, entries: Entries):
        self._environment, self._solver, self._entries = environment, solver, entries
        self.made: list[NewExtent] = []
        self.always_demanded: list[Requirement] = []
        """What was recorded on ops that run whenever the function does."""
        self._always = _needed_by_the_end(block)
        self._nested = block.parent_op()

    def record(self, op: Operation) -> None:
        """Settle the demands of `op`, and keep as facts those that hold whenever the block is run."""
        extents, demands = _demands(op, self._solver, self._entries)
        record_extents(op, extents)
        self.made += extents
        if not demands and not extents:
            record_requirements(op, ())
            return
        always = op in self._always and isinstance(self._nested, FuncOp)
        for extent in extents:
            if always and extent.fact is not None:
                self._environment.add(extent.fact)
        kept: list[Requirement] = []
        for demand in demands:
            if _is_open(demand, op, self._environment):
                kept.append(demand)
                if always:
                    self.always_demanded.append(demand)
                    _assume(demand, op, self._environment)
        record_requirements(op, kept)


def _is_open(demand: Requirement, op: Operation, environment: ShapeEnvironment) -> bool:
    """Whether a demand is left for run time; `TypeInferenceError` where it never holds."""
    verdict = environment.prove(demand)
    if verdict is Verdict.REFUTED:
        raise _impossible(demand, op)
    return verdict is Verdict.UNKNOWN


def _assume(demand: Requirement, op: Operation, environment: ShapeEnvironment) -> None:
    """Let the ops after `op` know a demand; `TypeInferenceError` where what follows from it cannot be."""
    try:
        environment.add(demand)
    except ContradictionError as error:
        raise _impossible(demand, op) from error


def _impossible(demand: Requirement, op: Operation) -> TypeInferenceError:
    about = f" ({demand.about})" if demand.about else ""
    name = NamedCallOp.name if is_call(op) else op.name
    constraint = f"[{name} {demand.constraint}] " if demand.constraint else f"{name}: "
    return TypeInferenceError(
        f"{constraint}{demand.text}{about} cannot hold here",
        location=location_of(op),
        help="other ops of the function require the opposite",
    )


def _needed_by_the_end(block: Block) -> set[Operation]:
    """The ops of a block that run whenever it is run: what its last op needs, not by way of a region."""
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


def _demands(op: Operation, solver: TypeSolver, entries: Entries) -> tuple[Sequence[NewExtent], list[Requirement]]:
    """What is known of the extents that `op` makes, and what it demands; of an op without named dimensions nothing."""
    if isinstance(op, RelayOp):
        return _demands_of_operator(op, solver)
    if isinstance(op, IfOp):
        return solver.names_around(op).made_by(op), []
    if is_call(op):
        return _demands_of_call(op, solver, entries.get(callee_name(op), Entry()))
    if isinstance(op, LoopOp):
        return extents_of_loop(op, solver), list(demands_of_loop(op, solver))
    if isinstance(op, ReturnOp) and isinstance(function := op.parent_op(), FuncOp):
        pairs = [
            (solver.type_of(value), solver.type_of(FunctionResult(function, index)))
            for index, value in enumerate(op.arguments)
        ]
        return (), [demand for found, wanted in pairs for demand in _claims(found, wanted, "result")]
    around = op.parent_op()
    if isinstance(op, YieldOp) and isinstance(around, LoopOp):
        return (), list(demands_of_end(around, solver))
    if isinstance(op, YieldOp) and isinstance(around, IfOp):
        made = {extent.name for extent in solver.names_around(around).made_by(around)}
        claims = _claims(solver.type_of(op.value), solver.type_of(around.result), "yielded")
        return (), [claim for claim in claims if single_name(claim.rhs) not in made]
    return (), []


def _demands_of_call(call: AnyCall, solver: TypeSolver, entry: Entry) -> tuple[Sequence[NewExtent], list[Requirement]]:
    """That arguments and results have the extents of the callee's, and what this demands at its entry."""
    func = solver.functions[callee_name(call)]
    bindings = call_bindings(call, func, solver)
    if not bindings:
        return (), []
    demands: list[Requirement] = [
        AtLeast(dim, 0, constraint="C2", about=f"{name} of @{callee_name(call)}") for name, dim in bindings.items()
    ]
    for argument, parameter in zip(call.arguments, parameter_types(func, solver), strict=True):
        demands += _claims(solver.type_of(argument), instantiated(parameter, bindings), "argument")
    for index, result in enumerate(call.res):
        output = instantiated(solver.type_of(FunctionResult(func, index)), bindings)
        demands += _claims(output, solver.type_of(result), "result")
    demands += (_raised(demand, bindings, call) for demand in entry.demands)
    given = solver.names_around(call).names_made_by(call)
    return [NewExtent(name, _bound(entry.bounds.get(inner), bindings)) for inner, name in given.items()], demands


def _bound(bound: Dim | None, bindings: Mapping[str, Dim]) -> Dim | None:
    """What a bound in the callee's names is for its caller; `None` where it has no value for any size."""
    try:
        return None if bound is None else substitute([bound], bindings)[0]
    except DimensionError:
        return None


def _raised(demand: Requirement, bindings: Mapping[str, Dim], call: AnyCall) -> Requirement:
    """What a demand at the entry of a callee is for its caller."""
    try:
        demand = demand.substitute(bindings)
    except DimensionError as error:
        raise TypeInferenceError(
            f"[{NamedCallOp.name} C6] @{callee_name(call)} requires {demand.text}: {error.message}",
            location=location_of(call),
        ) from error
    about = demand.about if demand.about.startswith("@") else f"@{callee_name(call)}: {demand.about}"
    return replace(demand, constraint="C6", about=about)


def _demands_of_operator(op: RelayOp, solver: TypeSolver) -> tuple[Sequence[NewExtent], list[Requirement]]:
    types = [solver.type_of(operand) for operand in op.operands]
    found = solver.type_of(op.results[0])
    if not all(map(is_complete, types)) or not any(dims_in(type) for type in (*types, found)):
        return (), []
    inference = solver.inference(op, types)
    demands = dict.fromkeys(inference.requirements)
    for claimed in (found, op.results[0].type):
        demands |= dict.fromkeys(_claims(inference.type, claimed, "result"))
    return inference.bounds, list(demands)


def _claims(inferred: Attribute, claimed: Attribute, about: str) -> Iterator[Requirement]:
    """What a text claims where it writes another extent than follows."""
    for lhs, rhs in dim_pairs(inferred, claimed):
        if lhs != rhs and not isinstance(lhs, AnyDim) and not isinstance(rhs, AnyDim):
            yield Equal(lhs, rhs, constraint="C0", about=f"{about} extent")
