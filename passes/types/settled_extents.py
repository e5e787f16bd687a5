"""Extents that ops made and named, and that turn out to follow from their operands, as after inlining."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.recorded_requirements import made_extents, record_extents
from xrelay.dialects.relay.core.types import dim_pairs, is_complete
from xrelay.index_algebra.dims import ANY, Dim
from xrelay.passes.graph.dim_substitution import DimSubstitution
from xrelay.passes.types.dim_names import single_name
from xrelay.passes.types.type_solver import TypeSolver, function_around


def settle_extents(ops: Iterable[Operation], solver: TypeSolver) -> bool:
    """Puts what they are in the place of names that the solved types have no need of; whether there were any.

    Others say such a name: their types, bindings and requirements, which would name what nothing makes any more.

    ```
    %y = relay.sequence_at(%s, %i) {relay.binds = #relay.bounds<e>} : … -> tensor<?xf32, #relay.dims<e>>
    %z = relay.concatenate(…) : … -> tensor<?xf32, #relay.dims<n + e>>
    ```

    becomes, where all elements of `%s` have 4 elements now,

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


def _settled_by(op: RelayOp, solver: TypeSolver) -> Mapping[str, Dim]:
    """What the names that `op` has bound are, of which its rule has no need."""
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
