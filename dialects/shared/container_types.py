"""`!relay.sequence<T>` and `!relay.optional<T>`: any number of values of one type, and one value or none.

The number of values is known only at run time. Values of a sequence may differ in extents: a `?` in T may differ for
each value, and each value of `tensor<*xf32>` has its own rank. A name is one size, so T cannot contain names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.dims_attr import DimsAttr

if TYPE_CHECKING:
    from numpy.typing import NDArray


Value: TypeAlias = "NDArray[Any] | tuple[Value, ...]"
"""An operand or result of an operator in the interpreter: an array, or a tuple of values."""


class SequenceValue(tuple["Value", ...]):
    """The values of a sequence."""

    __slots__ = ()


class OptionalValue(tuple["Value", ...]):
    """The value of an optional as a tuple of one element, or an empty tuple."""

    __slots__ = ()


class ClosureValue(tuple["Value", ...]):
    """The number of a closure's function, and the captured values."""

    __slots__ = ()


@irdl_attr_definition
class SequenceType(ParametrizedAttribute, TypeAttribute):
    """`!relay.sequence<T>`: any number of values of type T, whose extents have no names."""

    name = "relay.sequence"

    element: Attribute

    def verify(self) -> None:
        """Rejects names."""
        _refuse_names(self.name, self.element)


@irdl_attr_definition
class OptionalType(ParametrizedAttribute, TypeAttribute):
    """`!relay.optional<T>`: a value of type T, whose extents have no names, or no value."""

    name = "relay.optional"

    element: Attribute

    def verify(self) -> None:
        """Rejects names."""
        _refuse_names(self.name, self.element)


@irdl_attr_definition
class ClosureType(ParametrizedAttribute, TypeAttribute):
    """`!relay.closure`: a function of the program with captured values, both known only at run time."""

    name = "relay.closure"


def _refuse_names(container: str, element: Attribute) -> None:
    pending = [element]
    while pending:
        current = pending.pop()
        if isinstance(current, TupleType):
            pending += current.types.data
        elif isinstance(current, TensorType) and isinstance(current.encoding, DimsAttr):
            raise VerifyException(f"[{container} C1] {current} in a {container} has a named extent; write ? instead")
