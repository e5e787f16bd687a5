"""The base of the named operations of topi: an op that stands for computes, and expands to them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, Signedness, i8, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.topi.build import Body, is_unsigned
from xrelay.dialects.topi.compute import ComputeOp
from xrelay.dialects.topi.shapes import float_type, holds_products_of
from xrelay.index_algebra.dims import Dim

UNSIGNED_BYTE = IntegerType(8, Signedness.UNSIGNED)
"""Data whose products with i8 CPUs add up in 32 bits."""


@dataclass
class Expansion:
    """The computes that a named op stands for, in order, and the values that replace its results."""

    ops: list[Operation] = field(default_factory=list[Operation])
    results: list[SSAValue] = field(default_factory=list[SSAValue])

    def add(self, op: ComputeOp) -> SSAValue:
        """Appends a compute and gives its first result."""
        self.ops.append(op)
        return op.results[0]

    def finish(self, op: ComputeOp) -> Expansion:
        """Appends the compute whose results replace those of the named op."""
        self.ops.append(op)
        self.results = list(op.results)
        return self


class NamedOp(IRDLOperation, ABC):
    """An operation on tensors that keeps its name as long as a schedule wants to recognise it.

    Its meaning is its expansion. Ops of other packages derive from this class too: `topi-expand-named` and the
    interpreter ask for nothing else.
    """

    LEVEL: ClassVar[str] = "topi"
    """The level of the op, whatever the dialect that its name says (`xrelay.dialects.shared.levels`)."""

    @abstractmethod
    def expand(self) -> Expansion:
        """New computes on the same operands that compute the same results; the op itself stays unchanged."""


def convert(body: Body, value: SSAValue, type: Attribute) -> SSAValue:
    """`value` in the wider type of an accumulator: the same number."""
    if value.type == type:
        return value
    if isinstance(type, IntegerType):
        return body.add((arith.ExtUIOp if is_unsigned(value.type) else arith.ExtSIOp)(value, type))
    return body.add(arith.ExtFOp(value, float_type(type)))


def verify_product_types(name: str, constraint: str, data: Attribute, weight: Attribute, result: Attribute) -> None:
    """Data and weight have one element type, or are ui8 and i8; the result has the same or a wider one of the kind."""
    if data != weight and (data, weight, result) != (UNSIGNED_BYTE, i8, i32):
        raise VerifyException(f"[{name} {constraint}] data of {data} and weight of {weight} differ")
    if not holds_products_of(result, data):
        raise VerifyException(f"[{name} {constraint}] result of {result} cannot hold sums of products of {data}")


def verify_ranks(name: str, constraint: str, ranks: Sequence[tuple[str, Sequence[Dim], Sequence[int]]]) -> None:
    """Each `(what, shape, allowed ranks)` has an allowed rank."""
    for what, shape, allowed in ranks:
        if len(shape) not in allowed:
            wanted = " or ".join(map(str, allowed))
            raise VerifyException(f"[{name} {constraint}] {what} has rank {len(shape)}, not {wanted}")
