"""`relay.einsum`: sums of products with axes labelled by an equation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from string import ascii_letters
from typing import Final

import numpy as np
from xdsl.dialects.builtin import IntegerType, TupleType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.einsum_equation import Equation
from xrelay.dialects.relay.op_definition import (
    Array,
    Body,
    Dim,
    Facts,
    GradientBuilder,
    Gradients,
    HalfPrecision,
    Layout,
    LayoutRefusal,
    MixedPrecision,
    OpPatternKind,
    RelayOp,
    Shape,
    TopiBuilder,
    not_differentiable,
    register_relay_op,
    string_property,
    tensor_type,
)
from xrelay.dialects.relay.structure.tuples import field_count
from xrelay.errors import ConstraintError

_MAX_REPEATED: Final = 1 << 24
"""The maximum number of elements of an operand that is repeated along summed axes."""


@register_relay_op
@irdl_op_definition
class EinsumOp(RelayOp):
    """The sum of products of a tuple of tensors, with axes labelled by `equation`; `"ij,jk->ik"` is a matrix product.

    Labels that the result lacks are summed over. A label that occurs twice in an operand selects its diagonal. `...`
    matches axes without labels, which broadcast, as do axes with the same label. Without `->` the result has the axes
    of `...` followed by the labels that occur once, in alphabetical order.

    Constraints:
    - C1: the operand is a tuple of at least one tensor.
    - C2: `equation` labels the axes of each tensor; the labels of the result are distinct labels of the operands.
    - C3: the tensors have the same element type, not boolean.
    - C4: the extents of a label broadcast; within one tensor they are equal.

    Example:
    ```mlir
    %t = relay.tuple(%a, %b) : (tensor<4x8xf32>, tensor<8x3xf32>) -> tuple<tensor<4x8xf32>, tensor<8x3xf32>>
    %y = relay.einsum(%t) {equation = "ij,jk->ik"} : (tuple<tensor<4x8xf32>, tensor<8x3xf32>>) -> tensor<4x3xf32>
    ```

    """

    name = "relay.einsum"
    PATTERN = OpPatternKind.INJECTIVE
    MIXED_PRECISION = MixedPrecision.ALWAYS
    HALF_PRECISION = HalfPrecision.SINGLE

    data = operand_def()

    equation = string_property()

    def labelled(self, ranks: Sequence[int]) -> Equation:
        """Returns the equation for tensors of these ranks; checks C2."""
        found = Equation.of(self.equation.data, ranks)
        if isinstance(found, str):
            raise ConstraintError(self.name, "C2", found)
        return found

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type with the extents of the result's labels; checks C1 to C4."""
        type = facts[0]
        if not isinstance(type, TupleType) or not type.types.data:
            facts.require(False, "C1", f"the operand must be a tuple of tensors, found {type}")
            return type
        parts = Facts(self.name, type.types.data)
        elements = [parts.element(index, "C1") for index in range(len(parts))]
        first = elements[0]
        is_boolean = isinstance(first, IntegerType) and first.width.data == 1
        facts.require(
            not is_boolean and all(element == first for element in elements),
            "C3",
            f"the tensors must have one element type, of numbers, found {', '.join(map(str, elements))}",
        )
        shapes = [parts.shape(index) for index in range(len(parts))]
        equation = self.labelled([len(shape) for shape in shapes])
        extents = _label_extents(facts, equation, shapes)
        return tensor_type([extents[label] for label in equation.result], first)

    def propagate_layouts(self, layouts: Sequence[Layout | None]) -> LayoutRefusal:
        """Keeps the original layout, whose axes the equation labels."""
        return LayoutRefusal("relay.einsum supports only original layouts")

    def evaluate(self, data: tuple[Array, ...]) -> Array:
        """Calls numpy in the type of the accumulators."""
        from xrelay.dialects.relay.meaning.element_types import accumulator

        equation = self.labelled([array.ndim for array in data])
        labels = dict.fromkeys(label for labels in equation.operands for label in labels)
        letters = dict(zip(labels, ascii_letters, strict=False))
        *terms, result = ("".join(letters[label] for label in each) for each in (*equation.operands, equation.result))
        wide = [array.astype(accumulator(array.dtype), copy=False) for array in data]
        terms, wide = _with_summed_labels(terms, result, wide)
        return np.asarray(np.einsum(f"{','.join(terms)}->{result}", *wide)).astype(data[0].dtype, copy=False)

    def compute(self, build: TopiBuilder) -> Sequence[SSAValue]:
        """Builds a compute over the labels of the result that folds over the others."""
        tensors = build.operands_of_tuple(0)
        shapes = [build.shape(tensor) for tensor in tensors]
        equation = self.labelled([len(shape) for shape in shapes])
        extents = _label_extents(Facts(self.name, ()), equation, shapes)

        def fill(b: Body) -> SSAValue:
            at = dict(zip((*equation.result, *equation.summed), (*b.spatial, *b.reduction), strict=True))
            factors = [
                b.read(tensor, *(b.broadcast(at[label], extent, extents[label]) for label, extent in each))
                for tensor, each in zip(tensors, map(list, map(zip, equation.operands, shapes)), strict=True)
            ]
            *others, last = factors
            if not others:
                return b.accumulate(b.accumulators[0], last) if equation.summed else last
            value = reduce(b.times, others)
            return b.accumulate_product(b.accumulators[0], value, last) if equation.summed else b.times(value, last)

        spatial = [extents[label] for label in equation.result]
        folded = {f"k{axis}": extents[label] for axis, label in enumerate(equation.summed)}
        init = [0] if equation.summed else []
        element = build.result_type.element_type
        return [build.compute("einsum", spatial, element, fill, reduce=folded, init=init)]

    def gradient(self, of: SSAValue, build: GradientBuilder) -> Gradients:
        """Returns for each factor the einsum of the gradient and the other factors, summed over labels it lacks."""
        factors = [build.item(self.data, number) for number in range(field_count(self.data) or 0)]
        equation = self.labelled([len(build.shape(each)) for each in factors])
        rule = _FactorGradients(self, factors, equation, _letters(equation), build)
        return [build.tuple(*(rule.of_factor(number, of) for number in range(len(factors))))]


def _label_extents(facts: Facts, equation: Equation, shapes: Sequence[Shape]) -> dict[str, Dim]:
    """Returns the broadcast extent of each label; checks C4."""
    extents: dict[str, Dim] = {}
    for index, (labels, shape) in enumerate(zip(equation.operands, shapes, strict=True)):
        own: dict[str, Dim] = {}
        for label, extent in zip(labels, shape, strict=True):
            if label in own:
                facts.require_equal(own[label], extent, "C4", f"extents of label {label!r} in tensor {index}")
            own.setdefault(label, extent)
        for label, extent in own.items():
            known = extents.get(label, extent)
            (extents[label],) = facts.broadcast_shapes(((known,), (extent,)), "C4", f"extents of label {label!r}")
    return extents


def _with_summed_labels(terms: Sequence[str], result: str, arrays: Sequence[Array]) -> tuple[list[str], list[Array]]:
    """Repeats operands to have an axis of full extent for each summed label.

    Otherwise numpy factors operands without that label out of the sum, which changes the result if a product is
    infinite. Operands that would exceed `_MAX_REPEATED` elements are not repeated.
    """
    extents: dict[str, int] = {}
    for labels, array in zip(terms, arrays, strict=True):
        for label, extent in zip(labels, array.shape, strict=True):
            extents[label] = extent if extents.get(label, 1) == 1 else extents[label]
    summed = [label for label in extents if label not in result]
    full_terms: list[str] = []
    full: list[Array] = []
    for labels, array in zip(terms, arrays, strict=True):
        missing = [label for label in summed if label not in labels and extents[label] != 1]
        labels, array = labels + "".join(missing), array.reshape(array.shape + (1,) * len(missing))
        for axis, label in enumerate(labels):
            is_short = array.shape[axis] != extents[label] and labels.count(label) == 1
            if label in summed and is_short and array.size * extents[label] <= _MAX_REPEATED:
                array = np.repeat(array, extents[label], axis)
        full_terms.append(labels)
        full.append(array)
    return full_terms, full


@dataclass(frozen=True)
class _FactorGradients:
    """Gradients of the factors of an einsum. Each label, including axes of an ellipsis, has a letter."""

    op: EinsumOp
    factors: Sequence[SSAValue]
    equation: Equation
    letters: dict[str, str]
    build: GradientBuilder

    def of_factor(self, number: int, of: SSAValue) -> SSAValue:
        """Returns the gradient of one factor."""
        rows = list(zip(self.equation.operands, self.factors, strict=True))
        (own, factor), others = rows[number], rows[:number] + rows[number + 1 :]
        labels = list(dict.fromkeys(own))
        met = set(self.equation.result).union(*(each for each, _ in others))
        seen = [label for label in labels if label in met]
        terms = [self.equation.result, *(each for each, _ in others)]
        found = self._product(terms, [of, *(each for _, each in others)], seen)
        for axis, label in enumerate(labels):
            found = found if label in met else self.build.op("expand_dims", found, axis=axis)
        extents = dict(zip(own, self.build.shape(factor), strict=True))
        rows_of = enumerate(zip(labels, self.build.shape(found), strict=True))
        broadcast = [axis for axis, (label, extent) in rows_of if extents[label] == 1 and extent != 1]
        if broadcast:
            found = self.build.op("sum", found, axis=broadcast, keepdims=True)
        if len(labels) < len(own):
            found = self._on_diagonals(found, labels, own, factor)
        return self.build.broadcast_like(found, factor)

    def _on_diagonals(self, value: SSAValue, labels: list[str], own: Sequence[str], factor: SSAValue) -> SSAValue:
        """Returns the gradient on diagonals (equal indices of the same label), and zeros elsewhere."""
        free = (letter for letter in ascii_letters if letter not in self.letters.values())
        axes, terms, factors = list[str](), ["".join(self.letters[label] for label in labels)], [value]
        for label, extent in zip(own, self.build.shape(factor), strict=True):
            letter = self.letters[label]
            if letter in axes:
                if not isinstance(extent, int):
                    raise not_differentiable(self.op, f"the extent {extent} of a diagonal is not known")
                other = next(free)
                terms.append(letter + other)
                factors.append(self.build.constant(np.eye(extent), value))
                letter = other
            axes.append(letter)
        return self.build.op("einsum", self.build.tuple(*factors), equation=f"{','.join(terms)}->{''.join(axes)}")

    def _product(self, terms: Sequence[Sequence[str]], factors: Sequence[SSAValue], result: Sequence[str]) -> SSAValue:
        texts = ["".join(self.letters[label] for label in term) for term in (*terms, result)]
        return self.build.op("einsum", self.build.tuple(*factors), equation=f"{','.join(texts[:-1])}->{texts[-1]}")


def _letters(equation: Equation) -> dict[str, str]:
    """Returns a letter for each label, including axes of an ellipsis."""
    labels = dict.fromkeys(label for labels in equation.operands for label in labels)
    free = (letter for letter in ascii_letters if letter not in labels)
    return {label: label if label.isalpha() else next(free) for label in labels}
