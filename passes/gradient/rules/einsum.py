"""Sums of products with labelled axes: the gradient of a factor is an einsum of the gradient and the other factors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_letters

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.axis_products import matrix_of
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients, not_differentiable
from xrelay.dialects.relay.ops.einsum_equation import Equation
from xrelay.dialects.relay.ops.tensor_einsum import EinsumOp
from xrelay.dialects.relay.structure.tuples import field_count
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(EinsumOp)
def einsum(op: EinsumOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns for each factor the einsum of the gradient and the other factors, summed over labels that it lacks."""
    factors = [emit.item(op.data, number) for number in range(field_count(op.data) or 0)]
    equation = op.labelled([len(emit.shape(each)) for each in factors])
    work = _Work(op, factors, equation, _letters(equation), emit)
    return [emit.tuple(*(work.of_factor(number, gradient) for number in range(len(factors))))]


@dataclass(frozen=True)
class _Work:
    """The factors of an einsum, with a letter for each label."""

    op: EinsumOp
    factors: Sequence[SSAValue]
    equation: Equation
    letters: dict[str, str]
    emit: GradientBuilder

    def of_factor(self, number: int, gradient: SSAValue) -> SSAValue:
        """Returns the gradient of one factor."""
        rows = list(zip(self.equation.operands, self.factors, strict=True))
        (own, factor), others = rows[number], rows[:number] + rows[number + 1 :]
        labels = list(dict.fromkeys(own))
        met = set(self.equation.result).union(*(each for each, _ in others))
        seen = [label for label in labels if label in met]
        terms = [self.equation.result, *(each for each, _ in others)]
        found = self._product(terms, [gradient, *(each for _, each in others)], seen)
        for axis, label in enumerate(labels):
            found = found if label in met else self.emit.op("expand_dims", found, axis=axis)
        extents = dict(zip(own, self.emit.shape(factor), strict=True))
        rows_of = enumerate(zip(labels, self.emit.shape(found), strict=True))
        broadcast = [axis for axis, (label, extent) in rows_of if extents[label] == 1 and extent != 1]
        if broadcast:
            found = self.emit.op("sum", found, axis=broadcast, keepdims=True)
        if len(labels) < len(own):
            found = self._on_diagonals(found, labels, own, factor)
        return self.emit.broadcast_like(found, factor)

    def _on_diagonals(self, value: SSAValue, labels: list[str], own: Sequence[str], factor: SSAValue) -> SSAValue:
        """Returns the gradient on diagonals (equal indices of the same label), and zeros elsewhere."""
        free = (letter for letter in ascii_letters if letter not in self.letters.values())
        axes, terms, factors = list[str](), ["".join(self.letters[label] for label in labels)], [value]
        for label, extent in zip(own, self.emit.shape(factor), strict=True):
            letter = self.letters[label]
            if letter in axes:
                if not isinstance(extent, int):
                    raise not_differentiable(self.op, f"the extent {extent} of a diagonal is not known")
                other = next(free)
                terms.append(letter + other)
                factors.append(matrix_of(np.eye(extent), value, self.emit))
                letter = other
            axes.append(letter)
        return self.emit.op("einsum", self.emit.tuple(*factors), equation=f"{','.join(terms)}->{''.join(axes)}")

    def _product(self, terms: Sequence[Sequence[str]], factors: Sequence[SSAValue], result: Sequence[str]) -> SSAValue:
        texts = ["".join(self.letters[label] for label in term) for term in (*terms, result)]
        return self.emit.op("einsum", self.emit.tuple(*factors), equation=f"{','.join(texts[:-1])}->{texts[-1]}")


def _letters(equation: Equation) -> dict[str, str]:
    """Returns a letter for each label, including axes of an ellipsis."""
    labels = dict.fromkeys(label for labels in equation.operands for label in labels)
    free = (letter for letter in ascii_letters if letter not in labels)
    return {label: label if label.isalpha() else next(free) for label in labels}
