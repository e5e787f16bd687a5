"""`relay.call`: calls of functions with named dimensions, and helpers for it and `func.call`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, TypeGuard

from xdsl.dialects import func
from xdsl.dialects.builtin import FlatSymbolRefAttrConstr, FunctionType, SymbolRefAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import SymbolTable, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.relay.core import assembly_format
from xrelay.dialects.relay.core.compatible import compatible, environment_of
from xrelay.dialects.shared.dims_attr import DimBindingsAttr
from xrelay.dialects.shared.requirements import new_extents, requirements_of
from xrelay.dialects.shared.types import dims_in, has_open_functions, is_complete, with_dims
from xrelay.errors import ContradictionError, DimensionError
from xrelay.index_algebra.dims import Dim, Symbol, single_atom


def too_many_calls(called: str, limit: int) -> str:
    """Returns the message for a call of `called`, such as `@f`, when `limit` calls are active."""
    return f"{called}: more than {limit} nested calls: infinite recursion?"


class _CallsAFunction(SymbolUserOpInterface):
    """The callee is a function of the module, whose type is checked against the types of the call."""

    def verify(self, op: Operation) -> None:
        """Checks C1 to C5."""
        if isinstance(op, NamedCallOp):
            _verify_call(op)


@irdl_op_definition
class NamedCallOp(IRDLOperation):
    """The results of a function with named dimensions. Each name is bound to a dimension of the caller.

    `<n = 2 * m>` binds the callee's names. A name that occurs only in the callee's results is bound to a new name,
    which `relay.binds` lists. Without `<…>`, which is allowed before `relay-infer-type`, the bindings are not known
    yet.

    Constraints:
    - C1: the callee is a function of the module, and dimensions of its type, or of functions that it takes, have names.
    - C2: each of these names is bound once, to a dimension that is not negative, and nothing else is bound.
    - C3: the operands have the types of the callee's parameters with the names replaced.
    - C4: the results have the types of the callee's results with the names replaced.
    - C5: a name that occurs only in the callee's results is bound to a name that `relay.binds` lists.
    - C6: the requirements of the callee hold for the bindings; those that inference cannot decide are recorded in
      `relay.requires`.

    Example:
    ```mlir
    func.func private @rows(tensor<?xf32, #relay.dims<n>>) -> tensor<?x4xf32, #relay.dims<n>>
    %y = relay.call @rows<n = 2 * m>(%x) : (tensor<?xf32, #relay.dims<2 * m>>) -> tensor<?x4xf32, #relay.dims<2 * m>>
    ```

    """

    name = "relay.call"

    arguments = var_operand_def()
    callee = prop_def(FlatSymbolRefAttrConstr)
    bindings = opt_prop_def(DimBindingsAttr)
    res = var_result_def()

    traits = traits_def(_CallsAFunction())

    def __init__(
        self,
        callee: str | SymbolRefAttr,
        bindings: Mapping[str, Dim] | None,
        arguments: Sequence[SSAValue | Operation],
        result_types: Sequence[Attribute],
    ):
        super().__init__(
            operands=[arguments],
            result_types=[result_types],
            properties={
                "callee": SymbolRefAttr(callee) if isinstance(callee, str) else callee,
                "bindings": None if bindings is None else DimBindingsAttr.of(bindings),
            },
        )

    @property
    def names(self) -> dict[str, Dim]:
        """The bindings of the callee's names; empty if they are not known yet."""
        return {} if self.bindings is None else self.bindings.mapping

    @classmethod
    def parse(cls, parser: Parser) -> NamedCallOp:
        """Parses `@f<n = 2 * m>(%x, …) {…} : (T, …) -> T`."""
        callee = parser.parse_symbol_name()
        bindings = DimBindingsAttr.parse_optional(parser)
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        attributes = assembly_format.parse_attributes(parser)
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, FunctionType):
            parser.raise_error("expected the type of a function, e.g. (tensor<4xf32>) -> tensor<4xf32>", position)
        operands = parser.resolve_operands(arguments, type.inputs.data, position)
        op = cls(callee.data, None if bindings is None else bindings.mapping, operands, type.outputs.data)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        """Prints the syntax that `parse` reads."""
        printer.print_string(" ")
        printer.print_attribute(self.callee)
        if self.bindings is not None:
            self.bindings.print_parameter(printer)
        with printer.in_parens():
            printer.print_list(self.arguments, printer.print_ssa_value)
        assembly_format.print_attributes(printer, self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(FunctionType.from_lists(list(self.operand_types), list(self.result_types)))


AnyCall: TypeAlias = func.CallOp | NamedCallOp
"""A call of a function of the module."""


def call_of(callee: str, arguments: Sequence[SSAValue], result_types: Sequence[Attribute]) -> AnyCall:
    """Returns a call of a function, which names dimensions if the types do; `relay-infer-type` then binds the names."""
    if names_in([*(value.type for value in arguments), *result_types]):
        return NamedCallOp(callee, None, arguments, result_types)
    return func.CallOp(callee, arguments, result_types)


def is_call(op: Operation) -> TypeGuard[AnyCall]:
    """Returns whether `op` calls a function of the module, with or without named dimensions."""
    return type(op) in (func.CallOp, NamedCallOp)


def callee_name(call: AnyCall) -> str:
    """Returns the name of the called function."""
    return call.callee.string_value()


def names_in(types: Iterable[Attribute]) -> list[str]:
    """Returns the names of dimensions in `types`, in order, each once."""
    return list(dict.fromkeys(name for type in types for dim in dims_in(type) for name in sorted(dim.names)))


def parameter_names(type: FunctionType) -> list[str]:
    """Returns the names of dimensions in a function's parameters, in order."""
    return names_in(type.inputs.data)


def new_names(type: FunctionType) -> list[str]:
    """Returns the names of dimensions that occur only in a function's results, in order."""
    known = set(parameter_names(type))
    return [name for name in names_in(type.outputs.data) if name not in known]


def instantiate(type: Attribute, bindings: Mapping[str, Dim]) -> Attribute:
    """Returns a type of the callee in dimensions of the caller."""
    return with_dims(type, lambda dim: dim.substitute(bindings)) if bindings else type


# --- verification ----------------------------------------------------------------------------------------------------


def _verify_call(call: NamedCallOp) -> None:
    """Checks C1 to C5 as far as types and bindings are known."""
    found = SymbolTable.lookup_symbol(call, call.callee)
    if not isinstance(found, func.FuncOp):
        raise VerifyException(f"[{call.name} C1] the module has no function {call.callee}")
    type = found.function_type
    if not all(map(is_complete, (*type.inputs, *type.outputs))):
        return
    if not parameter_names(type) and not new_names(type) and not has_open_functions(type.inputs):
        raise VerifyException(f"[{call.name} C1] {call.callee} has no named dimension; use func.call")
    if call.bindings is not None:
        _verify_names(call, type)
        _verify_types(call, "C3", "operand", type.inputs.data, call.operand_types)
        _verify_types(call, "C4", "result", type.outputs.data, call.result_types)


def _verify_names(call: NamedCallOp, type: FunctionType) -> None:
    """Checks C2 and C5."""
    names, made = call.names, new_names(type)
    wanted = [*parameter_names(type), *made]
    for name in wanted:
        if name not in names:
            raise VerifyException(f"[{call.name} C2] the dimension {name} of {call.callee} is not bound")
    listed = {extent.name for extent in new_extents(call)}
    for name, dim in call.names.items():
        if name not in wanted:
            raise VerifyException(f"[{call.name} C2] {call.callee} has no dimension {name}")
        if isinstance(dim, int) and dim < 0:
            raise VerifyException(f"[{call.name} C2] the dimension {name} of {call.callee} is {dim}, must be 0 or more")
        if name in made and not (isinstance(atom := single_atom(dim), Symbol) and atom.name in listed):
            text = f"{call.callee} computes {name}, so it must be bound to a name in relay.binds, not {dim}"
            raise VerifyException(f"[{call.name} C5] {text}")


def _verify_types(
    call: NamedCallOp, constraint: str, kind: str, wanted: Sequence[Attribute], found: Sequence[Attribute]
) -> None:
    """Checks C3 or C4."""
    if len(wanted) != len(found):
        raise VerifyException(f"[{call.name} {constraint}] {len(found)} {kind}s, {call.callee} has {len(wanted)}")
    try:
        environment = environment_of(requirements_of(call))
    except ContradictionError as error:
        raise VerifyException(f"[{call.name} C6] the requirements of the call cannot hold: {error.message}") from error
    for index, (general, type) in enumerate(zip(wanted, found, strict=True)):
        try:
            own = instantiate(general, call.names)
        except DimensionError as error:
            raise VerifyException(f"[{call.name} {constraint}] {kind} #{index}: {error.message}") from error
        if is_complete(type) and not compatible(own, type, environment):
            raise VerifyException(f"[{call.name} {constraint}] {kind} #{index} is {type}, must be {own}")
