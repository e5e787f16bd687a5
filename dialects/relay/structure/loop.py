"""`relay.loop`: a region that runs repeatedly, with values carried from one iteration to the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import TensorType, TupleType, i1, i64
from xdsl.ir import Attribute, BlockArgument, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_operand_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.relay.core import assembly_format
from xrelay.dialects.relay.core.compatible import compatible
from xrelay.dialects.relay.structure.yields import EndsInYield, YieldOp
from xrelay.dialects.shared.types import dims_in, is_complete, shape_of, tensor_type, with_dims
from xrelay.index_algebra.dims import ANY, Dim, is_nonnegative, maximum

COUNT, CONDITION = TensorType(i64, []), TensorType(i1, [])
"""The types of a trip count and of a condition."""


@irdl_op_definition
class LoopOp(IRDLOperation):
    """The final values that a loop carries through its iterations, and the values that it stacks.

    Before each iteration the loop ends if the trip count is reached (a negative one counts as 0), or if the condition
    is false: first the operand, then the value that the last iteration yielded. The body's arguments are the number of
    the iteration, from 0, and the carried values, at first the initial ones. It yields one tuple: the condition if the
    loop has one, the next carried values, and the values to stack. The result is the tuple of the carried values and of
    the stacks, along a leading axis whose extent is the number of iterations. Without iterations, an extent of a stack
    that is known only in an iteration is 0.

    The body may use outside values. They are computed once, before the loop, even if it has no iterations.

    An extent of a carried value that is the same in all iterations is written as that of the initial value. An extent
    that varies is a name which the argument binds anew in each iteration, and which is not used outside of the body;
    the result has another name for it.

    Constraints:
    - C1: there is a trip count, a `tensor<i64>`, or a condition, a `tensor<i1>`, or both.
    - C2: the body is one block that ends in `relay.yield`; its arguments are a `tensor<i64>` and one for each initial
      value.
    - C3: an initial value has the type of its argument, except for names that the argument binds.
    - C4: the body yields a tuple of the condition, if there is one, of as many values as it carries, each of the type
      of its argument, and of tensors.
    - C5: the result is a tuple of the types of the arguments, except for their names, and of the types of the stacked
      values with an additional leading extent.

    Example:
    ```mlir
    %r = relay.loop(%i, %s = %x : tensor<4xf32>) to %n : tensor<i64> while %c : tensor<i1>
        -> tuple<tensor<4xf32>, tensor<?x4xf32, #relay.dims<k>>> {
      %t = relay.add(%s, %s) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %y = relay.tuple(%c, %t, %s) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>)
          -> tuple<tensor<i1>, tensor<4xf32>, tensor<4xf32>>
      relay.yield %y : tuple<tensor<i1>, tensor<4xf32>, tensor<4xf32>>
    }
    %g = relay.loop(%i, %s : tensor<?xf32, #relay.dims<m>> = %x : tensor<4xf32>) to %n : tensor<i64>
        -> tuple<tensor<?xf32, #relay.dims<l>>> {
      %p = relay.tuple(%s, %x) : (tensor<?xf32, #relay.dims<m>>, tensor<4xf32>)
          -> tuple<tensor<?xf32, #relay.dims<m>>, tensor<4xf32>>
      %t = relay.concatenate(%p) {axis = 0} : (tuple<tensor<?xf32, #relay.dims<m>>, tensor<4xf32>>)
          -> tensor<?xf32, #relay.dims<m + 4>>
      %y = relay.tuple(%t) : (tensor<?xf32, #relay.dims<m + 4>>) -> tuple<tensor<?xf32, #relay.dims<m + 4>>>
      relay.yield %y : tuple<tensor<?xf32, #relay.dims<m + 4>>>
    }
    ```

    """

    name = "relay.loop"

    trip_count = opt_operand_def()
    condition = opt_operand_def()
    initial = var_operand_def()
    result = result_def()
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(RecursiveMemoryEffect(), EndsInYield())

    def __init__(
        self,
        trip_count: SSAValue | None,
        condition: SSAValue | None,
        initial: Sequence[SSAValue],
        result_type: Attribute,
        body: Region,
    ):
        groups = [[] if one is None else [one] for one in (trip_count, condition)]
        super().__init__(operands=[*groups, initial], result_types=[result_type], regions=[body])

    @property
    def number(self) -> BlockArgument:
        """The body's argument for the number of the iteration."""
        return self.body.block.args[0]

    @property
    def carried(self) -> tuple[BlockArgument, ...]:
        """The body's arguments for the carried values."""
        return tuple(self.body.block.args[1:])

    def yielded_types(self, type: TupleType) -> tuple[tuple[Attribute, ...], tuple[Attribute, ...]]:
        """Returns the types of the next carried values and of the values to stack, for the yielded type."""
        first = 0 if self.condition is None else 1
        last = first + len(self.initial)
        return type.types.data[first:last], type.types.data[last:]

    def verify_(self) -> None:
        """Checks C1 to C5."""
        self._verify_operands()
        end = self.body.block.last_op
        if not isinstance(end, YieldOp):
            raise VerifyException(f"[{self.name} C2] the body must end in relay.yield")
        if len(self.body.block.args) != len(self.initial) + 1:
            found = len(self.body.block.args)
            raise VerifyException(
                f"[{self.name} C2] the body has {found} arguments, must have {len(self.initial) + 1}: the number of the"
                " iteration and the carried values"
            )
        _require_type(self, "C2", "the number of the iteration", self.number.type, COUNT)
        arguments, initial = [each.type for each in self.carried], [each.type for each in self.initial]
        own = own_names(arguments, initial)
        for found, wanted in zip(initial, arguments, strict=True):
            _require_type(self, "C3", "an initial value", found, without_names(wanted, own))
        if is_complete(end.value.type):
            self._verify_yield(end.value.type, [without_names(type, own) for type in arguments])

    def _verify_operands(self) -> None:
        if self.trip_count is None and self.condition is None:
            raise VerifyException(f"[{self.name} C1] the loop has neither a trip count nor a condition and is infinite")
        for operand, wanted in ((self.trip_count, COUNT), (self.condition, CONDITION)):
            if operand is not None:
                _require_type(self, "C1", f"the trip count or condition ({wanted})", operand.type, wanted)

    def _verify_yield(self, type: Attribute, arguments: Sequence[Attribute]) -> None:
        first = [] if self.condition is None else [CONDITION]
        least = len(first) + len(arguments)
        if not isinstance(type, TupleType) or len(type.types) < least:
            raise VerifyException(f"[{self.name} C4] the body yields {type}, must be a tuple of {least} values or more")
        for found, wanted in zip(type.types, [*first, *arguments], strict=False):
            _require_type(self, "C4", "a value that the body yields", found, wanted)
        _, stacked = self.yielded_types(type)
        for each in stacked:
            if not isinstance(each, TensorType):
                raise VerifyException(f"[{self.name} C4] the stacked value {each} must be a tensor")
        result = self.result.type
        if not is_complete(result):
            return
        if not isinstance(result, TupleType) or len(result.types) != len(arguments) + len(stacked):
            count = len(arguments) + len(stacked)
            raise VerifyException(f"[{self.name} C5] the result is {result}, must be a tuple of {count} values")
        for found, wanted in zip(result.types, arguments, strict=False):
            _require_type(self, "C5", "a carried value in the result", found, wanted)
        for found, wanted in zip(result.types.data[len(arguments) :], stacked, strict=True):
            one = found if not isinstance(found, TensorType) else _first_of(found)
            _require_type(self, "C5", "a stacked value in the result", one, without_names(wanted, None))

    @classmethod
    def parse(cls, parser: Parser) -> LoopOp:
        """Parses `(%i, %s : A = %x : T, …) to %n : N while %c : C -> R {…}`, `attributes {…}` before the body."""
        with parser.in_parens():
            arguments = [parser.parse_argument(expect_type=False).resolve(COUNT)]
            initial: list[SSAValue] = []
            while parser.parse_optional_punctuation(","):
                argument = parser.parse_argument(expect_type=False)
                type = parser.parse_type() if parser.parse_optional_punctuation(":") else None
                parser.parse_punctuation("=")
                initial.append(assembly_format.parse_typed_operand(parser))
                arguments.append(argument.resolve(initial[-1].type if type is None else type))
        trip_count = assembly_format.parse_typed_operand(parser) if parser.parse_optional_keyword("to") else None
        condition = assembly_format.parse_typed_operand(parser) if parser.parse_optional_keyword("while") else None
        parser.parse_punctuation("->")
        result_type = parser.parse_type()
        attributes = assembly_format.parse_attributes_keyword(parser)
        op = cls(trip_count, condition, initial, result_type, parser.parse_region(arguments))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        """Prints the syntax that `parse` reads."""
        with printer.in_parens():
            printer.print_ssa_value(self.number)
            for argument, value in zip(self.carried, self.initial, strict=True):
                printer.print_string(", ")
                if argument.type != value.type:
                    assembly_format.print_typed(printer, argument)
                else:
                    printer.print_ssa_value(argument)
                printer.print_string(" = ")
                assembly_format.print_typed(printer, value)
        for word, operand in (("to", self.trip_count), ("while", self.condition)):
            if operand is not None:
                printer.print_string(f" {word} ")
                assembly_format.print_typed(printer, operand)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)
        assembly_format.print_attributes_keyword(printer, self.attributes)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


def own_names(arguments: Iterable[Attribute], initial: Iterable[Attribute]) -> frozenset[str]:
    """Returns the names that arguments of a body bind: those in their types that are in no initial value's type."""
    outside = {name for type in initial for dim in dims_in(type) for name in dim.names}
    return frozenset(name for type in arguments for dim in dims_in(type) for name in dim.names) - outside


def most_iterations(trip_count: Dim) -> Dim:
    """Returns the number of iterations of a loop without a condition."""
    return trip_count if is_nonnegative(trip_count) else maximum(trip_count, 0)


def without_names(type: Attribute, names: frozenset[str] | None) -> Attribute:
    """Returns `type` with `?` for each extent that contains one of `names`; for None all names."""
    return with_dims(type, lambda dim: dim if names is not None and dim.names.isdisjoint(names) else ANY)


def _first_of(stack: TensorType[Attribute]) -> Attribute:
    """Returns the type of one stacked value."""
    shape = shape_of(stack)
    return tensor_type(shape[1:], stack.element_type) if shape else stack


def _require_type(op: LoopOp, constraint: str, what: str, found: Attribute, wanted: Attribute) -> None:
    if is_complete(found) and is_complete(wanted) and not compatible(found, wanted):
        raise VerifyException(f"[{op.name} {constraint}] {what} is {found}, must be {wanted}")
