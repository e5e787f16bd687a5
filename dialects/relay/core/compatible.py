"""Compatibility of types, given the known facts about named dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType, TensorType, TupleType, UnrankedTensorType
from xdsl.ir import Attribute

from xrelay.dialects.shared.types import OptionalType, SequenceType, element_of_any_rank, element_type_of, shape_of
from xrelay.index_algebra.dims import Dim, certainly_differ
from xrelay.index_algebra.requirement import Equal, Requirement
from xrelay.index_algebra.shape_environment import ShapeEnvironment, Verdict


def environment_of(requirements: Sequence[Requirement]) -> ShapeEnvironment | None:
    """Returns the facts about dimensions where an op with `requirements` runs; None without requirements."""
    if not requirements:
        return None
    environment = ShapeEnvironment()
    for requirement in requirements:
        environment.add(requirement)
    return environment


def compatible(lhs: Attribute, rhs: Attribute, environment: ShapeEnvironment | None = None) -> bool:
    """Returns whether two complete types may describe the same value: equal up to extents that do not contradict.

    With `environment`, the extents must not contradict its facts either.
    """
    if lhs == rhs:
        return True
    if isinstance(lhs, UnrankedTensorType) or isinstance(rhs, UnrankedTensorType):
        return element_of_any_rank(lhs) == element_of_any_rank(rhs)
    if not isinstance(lhs, TensorType) or not isinstance(rhs, TensorType):
        return _compatible_parts(lhs, rhs, environment)
    left, right = shape_of(lhs), shape_of(rhs)
    same_element = element_type_of(lhs) == element_type_of(rhs)
    return (
        same_element
        and len(left) == len(right)
        and all(_may_be_equal(first, second, environment) for first, second in zip(left, right, strict=True))
    )


def _may_be_equal(lhs: Dim, rhs: Dim, environment: ShapeEnvironment | None) -> bool:
    if certainly_differ(lhs, rhs):
        return False
    return lhs == rhs or environment is None or environment.prove(Equal(lhs, rhs)) is not Verdict.REFUTED


def _compatible_parts(lhs: Attribute, rhs: Attribute, environment: ShapeEnvironment | None) -> bool:
    if isinstance(lhs, SequenceType | OptionalType) and isinstance(rhs, SequenceType | OptionalType):
        return lhs.name == rhs.name and compatible(lhs.element, rhs.element, environment)
    if isinstance(lhs, FunctionType) and isinstance(rhs, FunctionType):
        # A function's own names match any extents of the other function.
        return len(lhs.inputs) == len(rhs.inputs) and _all_compatible(
            (*lhs.inputs, *lhs.outputs), (*rhs.inputs, *rhs.outputs), environment
        )
    if not isinstance(lhs, TupleType) or not isinstance(rhs, TupleType):
        return False
    return _all_compatible(lhs.types.data, rhs.types.data, environment)


def _all_compatible(lhs: Sequence[Attribute], rhs: Sequence[Attribute], environment: ShapeEnvironment | None) -> bool:
    pairs = zip(lhs, rhs, strict=False)
    return len(lhs) == len(rhs) and all(compatible(left, right, environment) for left, right in pairs)
