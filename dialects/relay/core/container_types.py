"""`!relay.sequence<T>` and `!relay.optional<T>`: any number of values of one type, and one value or none.

How many values there are only the run says. Those of a sequence may differ in extents: `?` in T is an extent that may
be another one for each value, and of `tensor<*xf32>` each value has a rank of its own. A name would stand for one size,
so T has none.
"""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.relay.core.dims_attr import DimsAttr


@irdl_attr_definition
class SequenceType(ParametrizedAttribute, TypeAttribute):
    """`!relay.sequence<T>`: any number of values of type T, none of whose extents has a name."""

    name = "relay.sequence"

    element: Attribute

    def verify(self) -> None:
        """Refuse names."""
        _refuse_names(self.name, self.element)


@irdl_attr_definition
class OptionalType(ParametrizedAttribute, TypeAttribute):
    """`!relay.optional<T>`: a value of type T, none of whose extents has a name, or no value."""

    name = "relay.optional"

    element: Attribute

    def verify(self) -> None:
        """Refuse names."""
        _refuse_names(self.name, self.element)


@irdl_attr_definition
class ClosureType(ParametrizedAttribute, TypeAttribute):
    """`!relay.closure`: a function of the program and the values that it captured; which, only the run says."""

    name = "relay.closure"


def _refuse_names(container: str, element: Attribute) -> None:
    pending = [element]
    while pending:
        current = pending.pop()
        if isinstance(current, TupleType):
            pending += current.types.data
        elif isinstance(current, TensorType) and isinstance(current.encoding, DimsAttr):
            raise VerifyException(f"[{container} C1] {current} in a {container} names an extent; write ? in its place")
