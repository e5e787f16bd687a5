"""The typing rules of `relay.call`, `func.call` and `relay.invoke`.

Types propagate between a call and its callee, in both directions.

The callee's named dimensions are bound to dimensions of the caller: a call of `@f(%x : tensor<nx4>) -> tensor<n x 8>`
with `tensor<2x4>` returns `tensor<2x8>`. Names are never shared between functions: types are instantiated with names of
the other function.

The named dimensions of a closure are bound to dimensions of the `relay.invoke`. A name in the closure's type that is
bound around the call has the same meaning there, because closures capture names. All other names of its parameters are
instantiated, as for `relay.call`, and an extent that the body introduces gets a new name for each call. A recursive
closure captures names bound around it, but not those that its own parameters and body bind: these are instantiated for
each call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.structure.call import AnyCall, NamedCallOp, callee_name, instantiate, names_in
from xrelay.dialects.relay.structure.function import InvokeOp
from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.dialects.shared.dims_attr import DimBindingsAttr
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.types import IncompleteType, dim_pairs, dims_in, has_open_functions, is_complete, with_dims
from xrelay.errors import DimensionError, TypeInferenceError
from xrelay.index_algebra.dims import ANY, AnyDim, Dim, DimExpr, certainly_differ, solved_for, symbol
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
            solver.refine(argument, _instantiate_parameter(parameter, names.bindings, argument, solver), call)
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
        bindings |= _introduced_names(call, solver.type_of(FunctionResult(func, index)), bindings, result.type, solver)
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


def _instantiate_parameter(
    parameter: Attribute, bindings: Mapping[str, Dim], argument: object, solver: TypeSolver
) -> Attribute:
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
        known |= _introduced_names(call, type, known | unknown, result.type, solver)
        solver.refine(result, instantiate(type, known | unknown), call)


def _introduced_names(
    call: AnyCall, output: Attribute, known: Mapping[str, Dim], found: Attribute, solver: TypeSolver
) -> Mapping[str, Dim]:
    """Returns the caller's names for the extents in a result that the callee introduces."""
    made = [name for name in names_in([output]) if name not in known]
    written = call.names if isinstance(call, NamedCallOp) else {}
    return solver.names_around(call).of_call(call, made, output, found, written) if made else {}


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


def new_bindings(op: InvokeOp, type: FunctionType, solver: TypeSolver) -> dict[str, Dim]:
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
        made = new_bindings(op, type, solver)
        unknown = dict.fromkeys(open_names, ANY)
        solver.refine(op.result, instantiate(output, bindings | made | unknown), op)
    else:
        output = with_dims(solver.type_of(op.result), lambda _: ANY)
    solver.refine(op.callee, FunctionType.from_lists(inputs, [output]), op)


class CallNames:
    """The caller's dimension for each named dimension of the callee's parameters that can be determined.

    A parameter extent `n` determines n directly. An extent such as `2 * n + 1` determines n if all its other names are
    bound: from an argument extent `m`, `n = (m - 1) floordiv 2`. This holds only for such m; the call requires it.
    `written` bindings, from `<…>`, are used for names that are not determined. `fixed` bindings are never changed.
    """

    def __init__(
        self,
        parameters: Sequence[Attribute],
        arguments: Sequence[Attribute],
        written: Mapping[str, Dim],
        fixed: Mapping[str, Dim] = MappingProxyType({}),
    ):
        self._pairs = [
            (index, general, given)
            for index, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True))
            for general, given in dim_pairs(parameter, argument)
            if isinstance(general, DimExpr) and not isinstance(general, AnyDim) and not isinstance(given, AnyDim)
        ]
        # Extents that are plain names first, as they need no division.
        self._pairs.sort(key=lambda pair: not str(pair[1]).isidentifier())
        self.bindings: dict[str, Dim] = dict(fixed)
        self._source_argument: dict[str, int] = {}
        """The index of the argument from which a name is determined."""
        self._solve()
        wanted = {name for _, general, _ in self._pairs for name in general.names}
        self.bindings = {name: dim for name, dim in written.items() if name in wanted} | self.bindings
        self._solve()

    def contradiction(self) -> str | None:
        """Returns why the arguments cannot match the parameters for any sizes, with both extents; else None."""
        for index, general, given in self._pairs:
            if not general.names <= self.bindings.keys():
                continue
            wanted = general.substitute(self.bindings)
            if certainly_differ(wanted, given):
                origin = self._origin_text(general)
                return f"argument #{index} has the extent {given}, its parameter {general} = {wanted}{origin}"
        return None

    def _solve(self) -> None:
        """Binds names until no further name can be determined."""
        found = True
        while found:
            found = False
            for index, general, given in self._pairs:
                unknown = general.names - self.bindings.keys()
                if len(unknown) != 1:
                    continue
                (name,) = unknown
                dim = solved_for(name, general, given, self.bindings)
                if dim is not None:
                    self.bindings[name], self._source_argument[name] = dim, index
                    found = True

    def _origin_text(self, general: DimExpr) -> str:
        origin = [name for name in sorted(general.names) if name in self._source_argument]
        texts = [f"{name} = {self.bindings[name]} by argument #{self._source_argument[name]}" for name in origin]
        return f" ({', '.join(texts)})" if texts else ""
