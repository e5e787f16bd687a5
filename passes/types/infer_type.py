"""`relay-infer-type`: solves every `!relay.incomplete`, in either direction.

A worklist algorithm over ops: each op contributes the types that follow from it (its shape rule forwards, its backward
rule, the relation of a function to its callers, and of a region's yield to its parent op). When a type is refined, the
ops that use it are visited again. Types only become more precise, in few steps each, so the time is linear in the size
of the module.

    func.func @main(%x: tensor<1x3x8x8xf32>, %w: !relay.incomplete) -> !relay.incomplete {
      %y = relay.nn.conv2d(%x, %w) {channels = 4, kernel_size = [3, 3]}
          : (tensor<1x3x8x8xf32>, !relay.incomplete) -> !relay.incomplete

becomes

    func.func @main(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
      %y = relay.nn.conv2d(%x, %w) {channels = 4, kernel_size = [3, 3]}
          : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32>

Unknown extents (`?`) that turn out to be constant or named are refined too. A call of a function with named dimensions
gets their bindings:

    %y = relay.call @f(%x) : (tensor<6xf32>) -> !relay.incomplete

becomes, if the parameter of @f has the extent `2 * n`,

    %y = relay.call @f<n = 3>(%x) : (tensor<6xf32>) -> tensor<3xf32>

and so does a `func.call` of such a function, unless it is a kernel (`relay.primitive`). A `relay.call` of a function
without named dimensions becomes a `func.call`. Raises `TypeInferenceError` if types contradict each other or remain
unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import defined_values
from xrelay.dialects.shared.requirements import new_extents, record_extents
from xrelay.dialects.shared.types import dim_pairs, is_complete
from xrelay.errors import TypeInferenceError, XRelayError
from xrelay.index_algebra.dims import ANY, Dim, names_of, substitute
from xrelay.passes.graph.dim_substitution import DimSubstitution
from xrelay.passes.graph.replacements import retype
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.types.call_rule import instantiations, write_calls
from xrelay.passes.types.dim_names import single_name
from xrelay.passes.types.record_requirements import recorded_by_functions, write_recorded
from xrelay.passes.types.type_rules import apply_rule
from xrelay.passes.types.type_solver import FunctionResult, TypeSolver, Variable, describe, function_around

MAX_LISTED = 5
"""The number of unsolved values that an error lists."""


def infer_types(module: ModuleOp) -> None:
    """Infers all types of `module` in place.

    On `TypeInferenceError` the module is unchanged, except that settled names of extents may have been replaced.
    """
    solver = _solved(module)
    while replace_known_extents(walk_ops(module), solver):
        solver = _solved(module)
    bindings = instantiations(solver)
    recorded = recorded_by_functions(solver)
    _write_back(solver)
    write_recorded(recorded)
    write_calls(bindings)


def _solved(module: ModuleOp) -> TypeSolver:
    """Returns the solved types of `module`. Raises `TypeInferenceError` if they are incomplete or contradictory."""
    ops = list(walk_ops(module))
    solver = TypeSolver(ops)
    _apply_rules(solver)
    _require_solved(ops, solver)
    return solver


def _apply_rules(solver: TypeSolver) -> None:
    """Refines types until no rule refines any. Raises `TypeInferenceError` or `ConstraintError` on a contradiction."""
    news = True
    while news:
        while (op := solver.next_op()) is not None:
            apply_rule(op, solver)
        news = replace_stale_extents(solver)


def known_types(module: ModuleOp) -> Callable[[SSAValue], Attribute]:
    """Returns a function from the values of `module` to their types, inferred up to the first contradiction.

    The module must be valid, and is unchanged. Types that are not inferred may be incomplete.
    """
    solver = TypeSolver(walk_ops(module))
    with suppress(XRelayError):
        _apply_rules(solver)
    return solver.type_of


@dataclass(frozen=True)
class RelayInferTypePass(XRelayPass):
    """Solves every `!relay.incomplete` (see the module's docstring)."""

    name = "relay-infer-type"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Infers the types of the module in place."""
        infer_types(op)


def _require_solved(ops: list[Operation], solver: TypeSolver) -> None:
    """Raises `TypeInferenceError` with the first values whose type is still unknown."""
    unsolved = [variable for op in ops for variable in _variables(op) if not is_complete(solver.type_of(variable))]
    if not unsolved:
        return
    names = ", ".join(describe(variable) for variable in unsolved[:MAX_LISTED])
    more = f" and {len(unsolved) - MAX_LISTED} more" if len(unsolved) > MAX_LISTED else ""
    at = _location(unsolved[0])
    raise TypeInferenceError(
        f"not enough is known to infer the type of {names}{more}", location=location_of(at), help=_hint(unsolved[0])
    )


def _variables(op: Operation) -> Sequence[Variable]:
    """Returns the variables that `op` defines."""
    if not op.regions:
        return op.results
    outputs = [FunctionResult(op, i) for i in range(len(op.function_type.outputs))] if isinstance(op, FuncOp) else []
    return [*defined_values(op), *outputs]


def _location(variable: Variable) -> Operation:
    """Returns the op for an error about `variable`; for an argument its first user."""
    if isinstance(variable, FunctionResult):
        return variable.func
    if isinstance(variable, OpResult):
        return variable.op
    if variable.first_use is not None:
        return variable.first_use.operation
    owner = variable.owner
    parent = owner if isinstance(owner, Operation) else owner.parent_op()
    if parent is None:
        raise TypeInferenceError(f"{describe(variable)} belongs to no op")
    return parent


def _hint(variable: Variable) -> str:
    users = [_location(variable)]
    if isinstance(variable, SSAValue):
        users += [use.operation for use in variable.uses]
    for user in users:
        if isinstance(user, RelayOp) and user.INFERENCE_HINT is not None:
            return f"{user.INFERENCE_HINT} ({user.name})"
    return "write its type, or the types of the values from which it is computed"


def _write_back(solver: TypeSolver) -> None:
    """Writes the solved types to the IR."""
    touched: dict[FuncOp, None] = {}
    changed: dict[SSAValue, Attribute] = {}
    for variable, type in solver.types.items():
        if isinstance(variable, FunctionResult):
            touched[variable.func] = None
        elif variable.type != type:
            func = _function_of_parameter(variable)
            if func is not None:
                touched[func] = None
            changed[variable] = type
    retype(changed)
    for func in touched:
        _write_signature(func, solver)


def _function_of_parameter(value: SSAValue) -> FuncOp | None:
    """Returns the function whose parameter `value` is, or None."""
    if not isinstance(value, BlockArgument):
        return None
    parent = value.block.parent_op()
    return parent if isinstance(parent, FuncOp) else None


def _write_signature(func: FuncOp, solver: TypeSolver) -> None:
    block = func.body.blocks.first
    inputs: list[Attribute] = list(func.function_type.inputs) if block is None else [arg.type for arg in block.args]
    outputs = [solver.type_of(FunctionResult(func, index)) for index in range(len(func.function_type.outputs))]
    func.function_type = FunctionType.from_lists(inputs, outputs)


def replace_known_extents(ops: Iterable[Operation], solver: TypeSolver) -> bool:
    """Replaces named extents that the solved types determine by their values; returns whether there were any.

    The replacement covers all types, bindings and requirements, because no op defines the names any more.
    ```
    %y = relay.sequence_at(%s, %i) {relay.binds = #relay.bounds<e>} : … -> tensor<?xf32, #relay.dims<e>>
    %z = relay.concatenate(…) : … -> tensor<?xf32, #relay.dims<n + e>>
    ```

    becomes, if all elements of `%s` now have 4 elements,

    ```
    %y = relay.sequence_at(%s, %i) : … -> tensor<4xf32>
    %z = relay.concatenate(…) : … -> tensor<?xf32, #relay.dims<n + 4>>
    ```
    """
    found: dict[FuncOp, dict[str, Dim]] = {}
    for op in ops:
        if not isinstance(op, RelayOp) or not new_extents(op):
            continue
        settled = _known_extents(op, solver)
        if settled:
            record_extents(op, [extent for extent in new_extents(op) if extent.name not in settled])
            found.setdefault(function_around(op), {}).update(settled)
    for function, values in found.items():
        DimSubstitution(values).apply([function])
    return bool(found)


def replace_stale_extents(solver: TypeSolver) -> bool:
    """Replaces named extents that became known during inference by their values; returns whether there were any.

    A loop may determine a type late: the element of a sequence gets a name for an unknown extent, other types use the
    name, and then the extent turns out to be 2. The name is replaced by 2 in the solver and in the IR.
    """
    found: dict[FuncOp, dict[str, Dim]] = {}
    for op, shown in solver.take_stale_extents():
        function, names = function_around(op), solver.names_around(op)
        inference = solver.inference(op, [solver.type_of(operand) for operand in op.operands])
        given = names.names_made_by(op)
        kept = {extent.name for extent in inference.bounds}
        for placeholder in [each for each in shown if each in given and given[each] not in kept]:
            values = (dim for old, dim in dim_pairs(shown[placeholder], inference.type) if str(old) == placeholder)
            dim = next(values, ANY)
            if dim != ANY:
                found.setdefault(function, {})[given[placeholder]] = dim
                names.forget(op, placeholder)
    for function, values in found.items():
        bindings = in_other_names(values)
        DimSubstitution(bindings).apply([function])
        solver.substitute(function, bindings)
    return bool(found)


def in_other_names(values: Mapping[str, Dim]) -> Mapping[str, Dim]:
    """Returns the same bindings without their names on the right-hand sides. Self-referential bindings are dropped.

    `a = b + 1, b = 2` becomes `a = 3, b = 2`.
    """
    if all(values.keys().isdisjoint(names_of(dim)) for dim in values.values()):
        return values
    found: dict[str, Dim] = {}
    for name, dim in values.items():
        (value,) = substitute([dim], found)
        if name not in names_of(value):
            found = {other: substitute([known], {name: value})[0] for other, known in found.items()}
            found[name] = value
    return found


def _known_extents(op: RelayOp, solver: TypeSolver) -> Mapping[str, Dim]:
    """Returns the values of the named extents of `op` that its rule now determines from the operands."""
    types = [solver.type_of(operand) for operand in op.operands]
    if not all(map(is_complete, types)):
        return {}
    inference = solver.inference(op, types)
    kept = {extent.name for extent in inference.bounds}
    own = {extent.name for extent in new_extents(op)} - kept
    return {
        name: dim
        for dim, written in dim_pairs(inference.type, op.results[0].type)
        if (name := single_name(written)) is not None and name in own and dim != ANY
    }
