"""The typing rule of `relay.invoke`: the closure's named dimensions are bound to dimensions of the call.

A name in the closure's type that is bound around the call has the same meaning there, because closures capture names.
All other names of its parameters are instantiated, as for `relay.call`, and an extent that the body introduces gets a
new name for each call. A recursive closure captures names bound around it, but not those that its own parameters and
body bind: these are instantiated for each call.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Operation

from xrelay.dialects.relay.structure.call import instantiated, names_in
from xrelay.dialects.relay.structure.function import InvokeOp
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.types import IncompleteType, is_complete, with_dims
from xrelay.errors import TypeInferenceError
from xrelay.index_algebra.dims import ANY, Dim, DimExpr, symbol
from xrelay.passes.types.call_names import CallNames
from xrelay.passes.types.type_solver import TypeSolver


def relate_invoke(op: InvokeOp, solver: TypeSolver) -> None:
    """Adds the types that follow from `op` and its closure to `solver`."""
    type = solver.type_of(op.callee)
    if isinstance(type, IncompleteType) and solver.postpone(op, guesses=True):
        # The definition of the closure may determine more than one of its calls.
        return
    arguments = [solver.type_of(argument) for argument in op.arguments]
    if isinstance(type, FunctionType) and len(type.inputs) == len(arguments) and _has_names(op, type, solver):
        _relate_instantiated(op, type, arguments, solver)
        return
    solver.refine(op.callee, FunctionType.from_lists(arguments, [solver.type_of(op.result)]), op)
    type = solver.type_of(op.callee)
    if isinstance(type, FunctionType):
        for argument, input in zip(op.arguments, type.inputs, strict=True):
            solver.refine(argument, input, op)
        solver.refine(op.result, type.outputs.data[0], op)


def _has_names(op: InvokeOp, type: FunctionType, solver: TypeSolver) -> bool:
    """Returns whether the closure binds names, for parameters or for extents that its body introduces."""
    names = names_in((*type.inputs, *type.outputs))
    return bool(names) and bool(solver.names_around(op).unbound(names, _capturing(op), solver.type_of))


def _capturing(op: InvokeOp) -> Operation:
    """Returns the op around which the captured names are bound: in a recursive call the closure itself."""
    return op if op.closure_around is None else op.closure_around


def own_names(op: InvokeOp, type: FunctionType, solver: TypeSolver) -> list[str]:
    """Returns the names that the closure's parameters bind."""
    return solver.names_around(op).unbound(names_in(type.inputs.data), _capturing(op), solver.type_of)


def invoke_bindings(op: InvokeOp, type: FunctionType, solver: TypeSolver) -> dict[str, Dim]:
    """Returns the dimensions to which the arguments bind the closure's names.

    Raises `TypeInferenceError` if two arguments contradict each other, `DimensionError` if an extent has no value.
    """
    own = own_names(op, type, solver)
    arguments = [solver.type_of(argument) for argument in op.arguments]
    fixed = {name: symbol(name) for name in names_in(type.inputs.data) if name not in own}
    names = CallNames(type.inputs.data, arguments, {}, fixed)
    if (reason := names.contradiction()) is not None:
        raise TypeInferenceError(
            f"{op.name}: {reason}",
            location=location_of(op),
            help="pass arguments that agree on the sizes of the closure's dimensions",
        )
    return {name: names.bindings[name] for name in own if name in names.bindings}


def made_bindings(op: InvokeOp, type: FunctionType, solver: TypeSolver) -> dict[str, Dim]:
    """Returns the caller's names for the extents in the result that the closure's body introduces."""
    (output,) = type.outputs.data
    names, known = solver.names_around(op), set(names_in(type.inputs.data))
    made = [name for name in names.unbound(names_in([output]), _capturing(op), solver.type_of) if name not in known]
    return names.of_call(op, made, output, op.result.type) if made else {}


def _relate_instantiated(op: InvokeOp, type: FunctionType, arguments: Sequence[Attribute], solver: TypeSolver) -> None:
    bindings, own = invoke_bindings(op, type, solver), set(own_names(op, type, solver))
    open_names = own - bindings.keys()

    def in_caller_names(dim: DimExpr) -> Dim:
        return dim.substitute(bindings) if open_names.isdisjoint(dim.names) else ANY

    inputs = list(type.inputs.data)
    for index, (argument, input) in enumerate(zip(op.arguments, type.inputs.data, strict=True)):
        if is_complete(input):
            solver.refine(argument, with_dims(input, in_caller_names), op)
        else:
            inputs[index] = arguments[index]
    (output,) = type.outputs.data
    if is_complete(output):
        made = made_bindings(op, type, solver)
        unknown = dict.fromkeys(open_names, ANY)
        solver.refine(op.result, instantiated(output, bindings | made | unknown), op)
    else:
        output = with_dims(solver.type_of(op.result), lambda _: ANY)
    solver.refine(op.callee, FunctionType.from_lists(inputs, [output]), op)
