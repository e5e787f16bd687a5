"""The last step of `relay-infer-type`: each op records what it demands of named dimensions and nobody has decided.

The demands of a rule, and the claims of a text (a result written `<n>` where the rule gives `<2 * m>`), are put to a
shape environment. What it refutes is an error, what it proves is dropped, what it cannot decide is recorded on the op.
What ops demand that run whenever the function does is known to the ops after them and in all regions; what ops of a
region demand that run whenever the region does is known to the ops after them in that region alone. What an op demands
that nobody needs is no fact for others, but must not contradict itself either.

Such a demand between names of the parameters alone is one of the function's entry: every call of it demands the same of
what these names stand for there. Callees come first, so that demands rise through any number of calls; on a cycle of
calls, where there is no first one, they rise as far as is known.

Nothing is written before every function is through: the module stays as it was where one has no types.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TypeAlias

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult

from xrelay.dialects.locations import location_of
from xrelay.dialects.relay.core.recorded_requirements import record_extents, record_requirements
from xrelay.dialects.relay.core.requirements_attr import NewExtent
from xrelay.dialects.relay.core.size_hints import size_hints
from xrelay.dialects.relay.structure.call import NamedCallOp, is_call, names_in
from xrelay.errors import ContradictionError, TypeInferenceError
from xrelay.index_algebra.dims import names_of
from xrelay.index_algebra.requirement import Requirement
from xrelay.index_algebra.shape_environment import ShapeEnvironment, Verdict
from xrelay.passes.graph.calls import callees_first
from xrelay.passes.types.op_demands import Entries, Entry, demands_of
from xrelay.passes.types.type_solver import TypeSolver, function_around

Recorded: TypeAlias = dict[Operation, tuple[Sequence[NewExtent], Sequence[Requirement]]]
"""The extents that an op makes, and what it leaves to run time."""


def recorded_by_functions(solver: TypeSolver) -> Recorded:
    """What every op is to record; `TypeInferenceError` for a demand that cannot hold."""
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
    """Let the ops say what was found."""
    for op, (extents, demands) in recorded.items():
        record_extents(op, extents)
        record_requirements(op, demands)


def _record_function(function: FuncOp, solver: TypeSolver, entries: Entries, recorded: Recorded) -> Entry:
    """Settle the requirements of every op in `function`; gives what its callers have to know."""
    block, entry = function.body.blocks.first, Entry()
    if block is None:
        return entry
    names = set(names_in(solver.type_of(arg) for arg in block.args))
    everywhere = _Known(ShapeEnvironment(sorted(names)))
    promised = _promised(function, names, everywhere)
    pending: list[tuple[Block, _Known]] = [(block, everywhere)]
    while pending:
        current, here = pending.pop()
        needed = _needed_by_the_end(current)
        for op in current.ops:
            extents, demands = demands_of(op, solver, entries)
            kept: Sequence[Requirement] = ()
            if extents or demands:
                own = here if op in needed else _Known(ShapeEnvironment())
                kept = _settled(op, extents, demands, own, everywhere)
            recorded[op] = extents, kept
            entry.bounds |= {
                extent.name: extent.at_most
                for extent in extents
                if extent.at_most is not None and names_of(extent.at_most) <= names
            }
            pending += [(inner, _Known(ShapeEnvironment())) for region in op.regions for inner in region.blocks]
    if promised and block.last_op is not None:
        extents, kept = recorded[block.last_op]
        recorded[block.last_op] = extents, [*promised, *kept]
    entry.demands += (demand for demand, _ in everywhere.demands if demand.names <= names)
    return entry


def _promised(function: FuncOp, names: Container[str], everywhere: _Known) -> Sequence[Requirement]:
    """What `function` says of the sizes of its names, facts for all of its ops; it holds whenever it returns."""
    hints = size_hints(function)
    promised = [fact for name, hint in hints.items() if name in names for fact in hint.facts(name)]
    new = [fact for fact in promised if everywhere.environment.prove(fact) is not Verdict.PROVEN]
    for fact in new:
        everywhere.assume(fact, function)
    return new


class _Known:
    """What ops demand that run together, as facts for one another."""

    def __init__(self, environment: ShapeEnvironment):
        self.environment = environment
        self.demands: list[tuple[Requirement, Operation]] = []
        """What was recorded, and by which op."""

    def assume(self, demand: Requirement, op: Operation) -> None:
        """Let those that come later know a demand; `ContradictionError` where what follows from it cannot be."""
        self.environment.add(demand)
        self.demands.append((demand, op))


def _settled(
    op: Operation, extents: Sequence[NewExtent], demands: Sequence[Requirement], own: _Known, everywhere: _Known
) -> list[Requirement]:
    """The demands of `op` that are left for run time, facts in `own` from now on; `TypeInferenceError` for no size."""
    for extent in extents:
        if extent.fact is not None:
            own.environment.add(extent.fact)
    known = (everywhere,) if own is everywhere else (everywhere, own)
    kept: list[Requirement] = []
    for demand in demands:
        verdicts = [each.environment.prove(demand) for each in known]
        if Verdict.REFUTED in verdicts:
            raise _impossible(demand, op, known)
        if Verdict.PROVEN in verdicts:
            continue
        kept.append(demand)
        try:
            own.assume(demand, op)
        except ContradictionError as error:
            raise _impossible(demand, op, known) from error
    return kept


def _impossible(demand: Requirement, op: Operation, known: Sequence[_Known]) -> TypeInferenceError:
    about = f" ({demand.about})" if demand.about else ""
    constraint = f"[{_name(op)} {demand.constraint}] " if demand.constraint else f"{_name(op)}: "
    return TypeInferenceError(
        f"{constraint}{demand.text}{about} cannot hold here", location=location_of(op), help=_why(demand, op, known)
    )


def _why(demand: Requirement, op: Operation, known: Sequence[_Known]) -> str:
    """What rules `demand` out: the first other demand that does so alone, if there is one."""
    if _contradict(demand):
        return "no sizes of the names make it true"
    for fact, by in (each for one in reversed(known) for each in one.demands):
        if not fact.names.isdisjoint(demand.names) and _contradict(fact, demand):
            about = f" ({fact.about})" if fact.about else ""
            who = "the same op" if by is op else f"{_name(by)} at {location_of(by)}"
            return f"{who} requires {fact.text}{about}"
    return "what the ops of the function require together rules it out"


def _contradict(*demands: Requirement) -> bool:
    environment = ShapeEnvironment()
    try:
        for demand in demands:
            environment.add(demand)
    except ContradictionError:
        return True
    return False


def _name(op: Operation) -> str:
    return NamedCallOp.name if is_call(op) else op.name


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
