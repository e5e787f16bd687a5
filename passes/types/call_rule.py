"""The typing rule of calls: types propagate between a call and its callee, in both directions.

The callee's named dimensions are bound to dimensions of the caller: a call of `@f(%x : tensor<nx4>) -> tensor<n x 8>`
with `tensor<2x4>` returns `tensor<2x8>`. Names are never shared between functions: types are instantiated with names of
the other function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, BlockArgument
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.structure.call import AnyCall, NamedCallOp, callee_name, instantiated, names_in
from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.dialects.shared.dim_bindings_attr import DimBindingsAttr
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.types import dims_in, has_open_functions, is_complete, with_dims
from xrelay.errors import DimensionError, TypeInferenceError
from xrelay.index_algebra.dims import ANY, AnyDim, Dim, DimExpr, symbol
from xrelay.passes.types.call_names import CallNames
from xrelay.passes.types.dim_names import UNNAMED, single_name
from xrelay.passes.types.type_solver import FunctionResult, TypeSolver


def relate_call(call: AnyCall, func: FuncOp, solver: TypeSolver) -> None:
    """Adds the types that follow from `call` and its callee `func` to `solver`."""
    try:
        _relate(call, func, solver)
    except DimensionError as error:
        raise TypeInferenceError(
            f"call of @{callee_name(call)}: {error.message}", location=location_of(call), help=error.help
        ) from error


def _relate(call: AnyCall, func: FuncOp, solver: TypeSolver) -> None:
    _check_counts(call, func)
    _infer_parameters(call, func, solver)
    names = _call_names(call, func, solver)
    if (reason := names.contradiction()) is not None:
        raise TypeInferenceError(
            f"call of @{callee_name(call)}: {reason}",
            location=location_of(call),
            help="pass arguments that agree on the sizes of the function's dimensions",
        )
    parameters = parameter_types(func, solver)
    waits = not set(names_in(parameters)) <= names.bindings.keys() and solver.postpone(call, guesses=True)
    for argument, parameter in zip(call.arguments, parameters, strict=True):
        if not waits or set(names_in([parameter])) <= names.bindings.keys():
            solver.refine(argument, _instantiated(parameter, names.bindings, argument, solver), call)
    if not waits:
        _infer_results(call, func, names.bindings, solver)


def call_bindings(call: AnyCall, func: FuncOp, solver: TypeSolver) -> dict[str, Dim]:
    """Returns the bindings of the names of `func` at `call`, including those that it introduces.

    Raises `TypeInferenceError` if a name cannot be bound.
    """
    bindings = _call_names(call, func, solver).bindings
    parameters = parameter_types(func, solver)
    bindings = {name: bindings[name] for name in names_in(parameters) if name in bindings}
    for name in names_in(parameters):
        if name not in bindings:
            raise TypeInferenceError(
                f"the dimension {name} of @{callee_name(call)} is not determined here",
                location=location_of(call),
                help=f"write {NamedCallOp.name} @{callee_name(call)}<{name} = …>(…)",
            )
    for index, result in enumerate(call.res):
        bindings |= _made(call, solver.type_of(FunctionResult(func, index)), bindings, result.type, solver)
    return bindings


def instantiations(solver: TypeSolver) -> dict[AnyCall, dict[str, Dim]]:
    """Returns the bindings of the callee's names for each call, except calls that share names with a kernel."""
    return {
        call: call_bindings(call, function, solver)
        for name, calls in solver.callers.items()
        for function in (solver.functions[name],)
        for call in calls
        if PRIMITIVE not in function.attributes or not _shares_names(call, function, solver)
    }


def _shares_names(call: AnyCall, kernel: FuncOp, solver: TypeSolver) -> bool:
    """Returns whether a call has exactly the types of its callee, like calls of kernels outlined after inference."""
    outputs = [solver.type_of(FunctionResult(kernel, index)) for index, _ in enumerate(call.res)]
    found = [solver.type_of(value) for value in (*call.arguments, *call.res)]
    return found == [*parameter_types(kernel, solver), *outputs]


def write_calls(found: Mapping[AnyCall, dict[str, Dim]]) -> None:
    """Writes the bindings to the calls: as `relay.call`, or as `func.call` if the callee has no names."""
    for call, bindings in found.items():
        if isinstance(call, NamedCallOp) and bindings:
            call.bindings = DimBindingsAttr.of(bindings)
            continue
        # Functions whose types differ only in names of their own are equal for a `relay.call`, not for a `func.call`.
        is_named = bool(bindings) or has_open_functions(call.operand_types)
        if isinstance(call, CallOp) and not is_named:
            continue
        types = list(call.result_types)
        if is_named:
            new = NamedCallOp(call.callee, bindings, call.arguments, types)
        else:
            new = CallOp(call.callee, call.arguments, types)
        new.attributes, new.location = dict(call.attributes), call.location
        Rewriter.replace_op(call, new)


def parameter_types(func: FuncOp, solver: TypeSolver) -> Sequence[Attribute]:
    """Returns the types of the parameters as far as they are known."""
    block = func.body.blocks.first
    return func.function_type.inputs.data if block is None else [solver.type_of(argument) for argument in block.args]


def _check_counts(call: AnyCall, func: FuncOp) -> None:
    inputs, outputs = len(func.function_type.inputs), len(func.function_type.outputs)
    if len(call.arguments) != inputs or len(call.res) != outputs:
        raise TypeInferenceError(
            f"call of @{callee_name(call)} has {len(call.arguments)} operands and {len(call.res)} results, "
            f"the function {inputs} and {outputs}",
            location=location_of(call),
        )


def _call_names(call: AnyCall, func: FuncOp, solver: TypeSolver) -> CallNames:
    arguments = [solver.type_of(argument) for argument in call.arguments]
    parameters = parameter_types(func, solver)
    written: Mapping[str, Dim] = call.names if isinstance(call, NamedCallOp) else {}
    if list(parameters) == arguments:
        # A name that no single extent determines, as in `n * k`, is bound to itself.
        written = {name: symbol(name) for name in names_in(parameters)} | written
    return CallNames(parameters, arguments, written)


def _infer_parameters(call: AnyCall, func: FuncOp, solver: TypeSolver) -> None:
    """Refines unknown parameter types from the arguments, with new names of the callee for the caller's dimensions."""
    block = func.body.blocks.first
    if block is None:
        return
    names = solver.names_around(func)
    here: dict[DimExpr, Dim] = {}

    def name(dim: DimExpr) -> Dim:
        if isinstance(dim, AnyDim):
            return symbol(names.fresh(UNNAMED))
        if dim not in here:
            stem = single_name(dim)
            here[dim] = symbol(names.fresh(stem if stem is not None else UNNAMED))
        return here[dim]

    for argument, parameter in zip(call.arguments, block.args, strict=True):
        known = solver.type_of(argument)
        if is_complete(known) and not is_complete(solver.type_of(parameter)):
            solver.refine(parameter, with_dims(known, name), call)


def _instantiated(parameter: Attribute, bindings: Mapping[str, Dim], argument: object, solver: TypeSolver) -> Attribute:
    """Returns the parameter type in the caller's names; unknown extents of the caller's parameters get new names."""
    type = with_dims(parameter, lambda dim: dim.substitute(bindings) if dim.names <= bindings.keys() else ANY)
    if isinstance(argument, BlockArgument) and any(isinstance(dim, AnyDim) for dim in dims_in(type)):
        known = solver.type_of(argument)
        if not is_complete(known) or any(isinstance(dim, AnyDim) for dim in dims_in(known)):
            return solver.names_around(argument.block).named(type)
    return type


def _infer_results(call: AnyCall, func: FuncOp, bindings: Mapping[str, Dim], solver: TypeSolver) -> None:
    known = dict(bindings)
    unknown = {name: ANY for name in names_in(parameter_types(func, solver)) if name not in known}
    for index, result in enumerate(call.res):
        output = FunctionResult(func, index)
        if not is_complete(solver.type_of(output)):
            solver.refine(output, with_dims(solver.type_of(result), lambda _: ANY), call)
        type = solver.type_of(output)
        known |= _made(call, type, known | unknown, result.type, solver)
        solver.refine(result, instantiated(type, known | unknown), call)


def _made(
    call: AnyCall, output: Attribute, known: Mapping[str, Dim], found: Attribute, solver: TypeSolver
) -> Mapping[str, Dim]:
    """Returns the caller's names for the extents in a result that the callee introduces."""
    made = [name for name in names_in([output]) if name not in known]
    written = call.names if isinstance(call, NamedCallOp) else {}
    return solver.names_around(call).of_call(call, made, output, found, written) if made else {}
