"""Whether a value is an attribute of a class with parameters, such as `ArrayAttr[StringAttr]`."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeGuard, TypeVar

from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, irdl_to_attr_constraint

AttributeT = TypeVar("AttributeT", bound=Attribute)


def is_attribute(value: object, kind: type[AttributeT]) -> TypeGuard[AttributeT]:
    """Returns what xDSL's `isa(value, kind)` does; `kind` is a class of attributes with its parameters.

    `isa` makes the constraint of `kind` anew each time, for 180 calls of functions; here each is made once.
    """
    return isinstance(value, Attribute) and _constraint(kind).verifies(value)


@lru_cache(maxsize=256)
def _constraint(kind: type[Attribute]) -> AttrConstraint:
    """The constraint that a class with its parameters stands for."""
    return irdl_to_attr_constraint(kind)
