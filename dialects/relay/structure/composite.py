"""Ops defined by other ops: `decompose` is the definition, from which lowering and types are derived."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from enum import Enum
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.dtypes import is_half, numpy_dtype
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.errors import ConstraintError


class Expansion(Enum):
    """The stage at which a composite op is replaced by its definition."""

    INFERENCE = "in relay-simplify-inference, as Relay does"
    QNN = "in qnn-canonicalize-ops, as Relay does"
    BEFORE_FUSION = "in relay-expand-composites, so that each part can be fused separately"
    KERNEL = "inside its kernel"


class DecompositionBuilder:
    """Builds the ops of a composite op's definition, in order.

    `operands` are those of the composite op. Half-precision operands are cast to f32, and the result is rounded once,
    as for all ops with several roundings.
    """

    operands: tuple[SSAValue, ...]

    def __init__(self, operands: Sequence[SSAValue]):
        self.ops: list[Operation] = []
        self.operands = tuple(self.op("cast", value, dtype=f32) if _is_half(value) else value for value in operands)

    def op(self, name: str, *operands: SSAValue | float, **attributes: AttributeValue) -> SSAValue:
        """Adds an op; returns its result. Number operands become scalars of the first tensor's element type."""
        like = next(operand for operand in operands if isinstance(operand, SSAValue))
        values = [operand if isinstance(operand, SSAValue) else self.scalar(operand, like) for operand in operands]
        return self.add(get_relay_op(name).call(*values, **attributes))

    def scalar(self, value: float, like: SSAValue) -> SSAValue:
        """Adds a constant of rank 0 with the element type of the tensor `like`; returns its result."""
        return self.add(ConstantOp.of(np.array(value, numpy_dtype(element_type_of(like.type)))))

    def rank(self, value: SSAValue) -> int:
        """Returns the rank of the tensor `value`."""
        return len(shape_of(value.type))

    def add(self, op: Operation) -> SSAValue:
        """Adds `op`; returns its result."""
        self.ops.append(op)
        return op.results[0]


class CompositeOp(RelayOp):
    """Base of the ops that are defined by other relay ops.

    `decompose` is the definition. Lowering and, unless the class overrides `infer_type`, the type are derived from the
    definition. The numpy reference is registered as for every op, and tests compare the definition with it.
    """

    PATTERN = OpPatternKind.OPAQUE

    EXPANDS: ClassVar[Expansion | None] = None
    """The stage at which the op is replaced by its parts; if None, the definition determines it (`expansion`)."""

    @abstractmethod
    def decompose(self, build: DecompositionBuilder) -> SSAValue:
        """Builds the definition on `build.operands`; returns the value that replaces the result."""

    def decompose_on(self, operands: Sequence[SSAValue]) -> tuple[list[Operation], SSAValue]:
        """Returns the ops that compute this op on `operands`, in order and in no block, and their result.

        Raises `ConstraintError` under the composite's name if a part rejects its operands.
        """
        build = DecompositionBuilder(operands)
        try:
            value = self.decompose(build)
            if is_half(self._element(operands)) and _is_single(value):
                value = build.op("cast", value, dtype=self._element(operands))
        except ConstraintError as error:
            message = f"part {error.message}"
            raise ConstraintError(self.name, "C0", message, help=error.help) from error
        return build.ops, value

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type of the definition's result."""
        _, value = self.decompose_on(Block(arg_types=facts.types).args)
        return value.type

    @property
    def expansion(self) -> Expansion:
        """The stage at which this op is replaced by its definition.

        An op with a pattern of its own is fused as a whole. Other ops with two non-injective parts are replaced before
        fusion, because it is better to fuse each part separately.
        """
        if self.EXPANDS is not None:
            return self.EXPANDS
        if self._has_own_pattern:
            return Expansion.KERNEL
        non_injective = [pattern for pattern in self._patterns() if pattern > OpPatternKind.INJECTIVE]
        return Expansion.BEFORE_FUSION if len(non_injective) > 1 else Expansion.KERNEL

    @property
    def fusion_pattern(self) -> OpPatternKind:
        """The declared pattern, or the greatest pattern of the definition's ops."""
        if self.EXPANDS is not None or self._has_own_pattern:
            return self.PATTERN
        return max(self._patterns(), default=OpPatternKind.ELEM_WISE)

    @property
    def _has_own_pattern(self) -> bool:
        return self.PATTERN is not CompositeOp.PATTERN

    def _patterns(self) -> list[OpPatternKind]:
        ops, _ = self.decompose_on(Block(arg_types=self.operand_types).args)
        return [op.fusion_pattern for op in ops if isinstance(op, RelayOp)]

    def _element(self, operands: Sequence[SSAValue]) -> Attribute | None:
        """Returns the element type of the first operand, or None."""
        type = operands[0].type if operands else None
        return type.element_type if isinstance(type, TensorType) else None


def _is_half(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType) and is_half(value.type.element_type)


def _is_single(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType) and value.type.element_type == f32
