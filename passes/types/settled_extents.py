"""Replaces named extents that ops have introduced, once they follow from the operands, for instance after inlining."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.shared.recorded_requirements import made_extents, record_extents
from xrelay.dialects.shared.types import dim_pairs, is_complete
from xrelay.index_algebra.dims import ANY, Dim, names_of, substitute
from xrelay.passes.graph.dim_substitution import DimSubstitution
from xrelay.passes.types.dim_names import single_name
from xrelay.passes.types.type_solver import TypeSolver, function_around


def settle_extents(ops: Iterable[Operation], solver: TypeSolver) -> bool:
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
        if not isinstance(op, RelayOp) or not made_extents(op):
            continue
        settled = _settled_by(op, solver)
        if settled:
            record_extents(op, [extent for extent in made_extents(op) if extent.name not in settled])
            found.setdefault(function_around(op), {}).update(settled)
    for function, values in found.items():
        DimSubstitution(values).apply([function])
    return bool(found)


def settle_outgrown(solver: TypeSolver) -> bool:
    """Replaces named extents that became known during inference by their values; returns whether there were any.

    A loop may determine a type late: the element of a sequence gets a name for an unknown extent, other types use the
    name, and then the extent turns out to be 2. The name is replaced by 2 in the solver and in the IR.
    """
    found: dict[FuncOp, dict[str, Dim]] = {}
    for op, shown in solver.outgrown():
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


def _settled_by(op: RelayOp, solver: TypeSolver) -> Mapping[str, Dim]:
    """Returns the values of the named extents of `op` that its rule now determines from the operands."""
    types = [solver.type_of(operand) for operand in op.operands]
    if not all(map(is_complete, types)):
        return {}
    inference = solver.inference(op, types)
    kept = {extent.name for extent in inference.bounds}
    own = {extent.name for extent in made_extents(op)} - kept
    return {
        name: dim
        for dim, written in dim_pairs(inference.type, op.results[0].type)
        if (name := single_name(written)) is not None and name in own and dim != ANY
    }
