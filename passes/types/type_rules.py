"""The typing rules of `relay-infer-type`: each kind of op relates the types of its values.

Operators define their own rules (`RelayOp.infer_type` and `infer_operand_types`). This file has those of the other ops.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType, TensorType, i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.call import AnyCall, callee_name, is_call
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.yields import yielded
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.recorded_requirements import made_extents
from xrelay.dialects.shared.types import dims_in, is_complete, with_dims
from xrelay.errors import ConstraintError, DimensionError, TypeInferenceError
from xrelay.index_algebra.dims import ANY
from xrelay.passes.graph.op_kinds import is_relay_op
from xrelay.passes.types.call_rule import relate_call
from xrelay.passes.types.invoke_rule import relate_invoke
from xrelay.passes.types.loop_types import apply_loop
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
        _fused(op, solver)


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
    elif solver.postpone(op, guesses=True):
        # An extent that the op introduces is not that of a branch.
        made = {extent.name for extent in made_extents(op)}
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


def _fused(op: FusedOp, solver: TypeSolver) -> None:
    for parameter, argument in zip(op.body.block.args, op.arguments, strict=True):
        solver.relate(argument, parameter, op)
    solver.relate(yielded(op.body), op.result, op)
