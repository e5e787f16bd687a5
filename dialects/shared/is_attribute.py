"""A type guard for attribute classes with parameters, such as `ArrayAttr[StringAttr]`."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeGuard, TypeVar

from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, irdl_to_attr_constraint

AttributeT = TypeVar("AttributeT", bound=Attribute)


def is_attribute(value: object, kind: type[AttributeT]) -> TypeGuard[AttributeT]:
    """Returns the same as xDSL's `isa(value, kind)`; `kind` is an attribute class with parameters.

    `isa` rebuilds the constraint of `kind` at each call, which takes 180 function calls; here constraints are cached.
    """
    return isinstance(value, Attribute) and _constraint(kind).verifies(value)


@lru_cache(maxsize=256)
def _constraint(kind: type[Attribute]) -> AttrConstraint:
    """The constraint for an attribute class with parameters."""
    return irdl_to_attr_constraint(kind)
