"""Adjoints: the gradients of values, accumulated while a function is traversed from results to parameters."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, SSAValue

from xrelay.dialects.relay.core.compatible import compatible
from xrelay.dialects.relay.gradients.builder import GradientBuilder
from xrelay.passes.graph.tuple_leaves import rebuild, take_apart


class Adjoint:
    """The known gradient of one value: terms to add up, or the adjoints of the fields of a tuple."""

    def __init__(self) -> None:
        self.terms: list[SSAValue] = []
        """The terms for a tensor, each of the tensor's type."""
        self.fields: dict[int, Adjoint] = {}
        """The adjoints of a tuple's fields. Fields on which nothing depends are missing."""

    def field(self, index: int) -> Adjoint:
        """Returns the adjoint of a field."""
        return self.fields.setdefault(index, Adjoint())

    def absorb(self, other: Adjoint) -> None:
        """Adds the adjoint of another value of the same type."""
        pending: list[tuple[Adjoint, Adjoint]] = [(self, other)]
        while pending:
            into, source = pending.pop()
            into.terms += source.terms
            pending += ((into.field(index), field) for index, field in source.fields.items())

    def add(self, gradient: SSAValue, emit: GradientBuilder) -> None:
        """Adds a value. A tuple is added field by field."""
        pending: list[tuple[Adjoint, SSAValue]] = [(self, gradient)]
        while pending:
            into, value = pending.pop()
            if isinstance(value.type, TupleType):
                pending += ((into.field(index), emit.item(value, index)) for index in range(len(value.type.types)))
            else:
                into.terms.append(value)

    def leaves(self, type: Attribute) -> Iterator[Adjoint | None]:
        """Yields the adjoints of the tensors in a value of `type`, in order; None for those without terms."""
        pending: list[tuple[Adjoint | None, Attribute]] = [(self, type)]
        while pending:
            adjoint, current = pending.pop()
            if isinstance(current, TupleType):
                fields = {} if adjoint is None else adjoint.fields
                pending += ((fields.get(index), each) for index, each in reversed([*enumerate(current.types)]))
            else:
                yield adjoint if adjoint is not None and adjoint.terms else None


class Adjoints:
    """The adjoint of each value on which the result depends."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, Adjoint] = {}

    def __getitem__(self, value: SSAValue) -> Adjoint:
        """Returns the adjoint of `value`, to which terms can be added."""
        return self._known.setdefault(value, Adjoint())

    def get(self, value: SSAValue) -> Adjoint | None:
        """Returns the adjoint of `value`, or None if the result does not depend on it."""
        return self._known.get(value)

    def total(self, value: SSAValue, emit: GradientBuilder) -> SSAValue:
        """Returns the gradient of `value` as a value of its type; zeros if the result does not depend on it."""
        if not isinstance(value.type, TupleType):
            return _sum(value, self._known.get(value), emit)
        found = list(self[value].leaves(value.type))
        if None not in found:
            sums = [_sum(value, leaf, emit) for leaf in found]
        else:
            parts, ops = take_apart(value)
            for op in ops:
                emit.insert(op)
            sums = [_sum(part, leaf, emit) for part, leaf in zip(parts, found, strict=True)]
        total, ops = rebuild(value.type, iter(sums))
        for op in ops:
            emit.insert(op)
        return total


def _sum(value: SSAValue, adjoint: Adjoint | None, emit: GradientBuilder) -> SSAValue:
    """Returns the sum of an adjoint's terms, zeros without terms. The sum replaces the terms."""
    if adjoint is None or not adjoint.terms:
        return emit.zeros_like(value)
    total, *others = adjoint.terms
    for term in others:
        total = emit.op("add", total, term)
    adjoint.terms = [total]
    return total


def fits(gradient: Attribute, type: Attribute) -> bool:
    """Returns whether a value of type `gradient` can be the gradient of one of `type`, up to names of extents."""
    if isinstance(gradient, TensorType) and isinstance(type, TensorType):
        return gradient.element_type == type.element_type and compatible(gradient, type)
    return gradient == type
