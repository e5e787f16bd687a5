"""Ops that are defined by others: `decompose` says which, and gives them lowering and shapes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from enum import Enum
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.dtypes import is_half, numpy_dtype
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.core.types import element_type_of, shape_of
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.errors import ConstraintError


class Expansion(Enum):
    """Where a composite op becomes its parts."""

    INFERENCE = "in relay-simplify-inference, as Relay does"
    QNN = "in qnn-canonicalize-ops, as Relay does"
    BEFORE_FUSION = "in relay-expand-composites, so that each part may fuse by itself"
    KERNEL = "inside the kernel that it fuses into"


class Parts:
    """The ops that a composite becomes, collected in order while `decompose` makes them.

    `operands` stand for the composite's own; those of half precision are widened to f32 here, and the result is rounded
    once, as every op of several roundings does it.
    """

    operands: tuple[SSAValue, ...]

    def __init__(self, operands: Sequence[SSAValue]):
        self.ops: list[Operation] = []
        self.operands = tuple(self.op("cast", value, dtype=f32) if _is_half(value) else value for value in operands)

    def op(self, name: str, *operands: SSAValue | float, **attributes: AttributeValue) -> SSAValue:
        """The op called `name`; a number among its operands is a scalar of the first tensor's element type."""
        like = next(operand for operand in operands if isinstance(operand, SSAValue))
        values = [operand if isinstance(operand, SSAValue) else self.scalar(operand, like) for operand in operands]
        return self.add(get_relay_op(name).call(*values, **attributes))

    def scalar(self, value: float, like: SSAValue) -> SSAValue:
        """A constant of rank 0 with the element type of the tensor `like`."""
        return self.add(ConstantOp.of(np.array(value, numpy_dtype(element_type_of(like.type)))))

    def rank(self, value: SSAValue) -> int:
        """How many axes the tensor `value` has."""
        return len(shape_of(value.type))

    def add(self, op: Operation) -> SSAValue:
        """Append `op`; gives its result."""
        self.ops.append(op)
        return op.results[0]


class CompositeOp(RelayOp):
    """Base of the ops that other relay ops define.

    `decompose` gives the definition. Its lowering and, unless the class has a rule of its own, its type follow from the
    parts. The numpy meaning is registered as for every op, and tests hold the parts to it.
    """

    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE

    EXPANDS: ClassVar[Expansion | None] = None
    """Where the op becomes its parts; without a word, the parts decide (`expansion`)."""

    @abstractmethod
    def decompose(self, parts: Parts) -> SSAValue:
        """Make the parts on `parts.operands`; gives the value that stands for the result."""

    def parts_on(self, operands: Sequence[SSAValue]) -> tuple[list[Operation], SSAValue]:
        """The ops that compute this op on `operands`, in order and in no block, and the value that is its result.

        Raises `ConstraintError` under the composite's own name where a part refuses.
        """
        parts = Parts(operands)
        try:
            value = self.decompose(parts)
            if is_half(self._element(operands)) and _is_single(value):
                value = parts.op("cast", value, dtype=self._element(operands))
        except ConstraintError as error:
            message = f"its part {error.message}"
            raise ConstraintError(self.name, "C0", message, help=error.help) from error
        return parts.ops, value

    def infer_type(self, facts: Facts) -> Attribute:
        """The type that the parts give."""
        _, value = self.parts_on(Block(arg_types=facts.types).args)
        return value.type

    @property
    def expansion(self) -> Expansion:
        """Where this op becomes its parts.

        One with a pattern of its own fuses whole. Of the others, those with two parts that are heavier than injective
        gain more from fusing each by itself.
        """
        if self.EXPANDS is not None:
            return self.EXPANDS
        if self._has_own_pattern:
            return Expansion.KERNEL
        heavy = [pattern for pattern in self._patterns() if pattern > OpPatternKind.INJECTIVE]
        return Expansion.BEFORE_FUSION if len(heavy) > 1 else Expansion.KERNEL

    @property
    def fusion_pattern(self) -> OpPatternKind:
        """The declared pattern, else that of the heaviest part."""
        if self.EXPANDS is not None or self._has_own_pattern:
            return self.PATTERN
        return max(self._patterns(), default=OpPatternKind.ELEM_WISE)

    @property
    def _has_own_pattern(self) -> bool:
        return self.PATTERN is not CompositeOp.PATTERN

    def _patterns(self) -> list[OpPatternKind]:
        ops, _ = self.parts_on(Block(arg_types=self.operand_types).args)
        return [op.fusion_pattern for op in ops if isinstance(op, RelayOp)]

    def _element(self, operands: Sequence[SSAValue]) -> Attribute | None:
        """The element type of the first operand."""
        type = operands[0].type if operands else None
        return type.element_type if isinstance(type, TensorType) else None


def _is_half(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType) and is_half(value.type.element_type)


def _is_single(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType) and value.type.element_type == f32
