"""The base of the named operations of topi, which expand to computes."""

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
"""The type of data whose products with i8 CPUs sum in 32 bits."""


@dataclass
class Expansion:
    """The computes that implement a named op, in order, and the values that replace its results."""

    ops: list[Operation] = field(default_factory=list[Operation])
    results: list[SSAValue] = field(default_factory=list[SSAValue])

    def add(self, op: ComputeOp) -> SSAValue:
        """Appends a compute and returns its first result."""
        self.ops.append(op)
        return op.results[0]

    def finish(self, op: ComputeOp) -> Expansion:
        """Appends the compute whose results replace those of the named op."""
        self.ops.append(op)
        self.results = list(op.results)
        return self


class NamedOp(IRDLOperation, ABC):
    """An operation on tensors that schedules can recognise by its name until it is expanded.

    Its semantics are those of its expansion. Ops of other packages may derive from this class: `topi-expand-named` and
    the interpreter use only `expand`.
    """

    LEVEL: ClassVar[str] = "topi"
    """The level of the op, whatever dialect its name has (`xrelay.dialects.shared.levels`)."""

    @abstractmethod
    def expand(self) -> Expansion:
        """Returns new computes on the same operands that compute the same results; the op itself stays unchanged."""


def convert(body: Body, value: SSAValue, type: Attribute) -> SSAValue:
    """`value` converted to the wider type of an accumulator, without changing the number."""
    if value.type == type:
        return value
    if isinstance(type, IntegerType):
        return body.add((arith.ExtUIOp if is_unsigned(value.type) else arith.ExtSIOp)(value, type))
    return body.add(arith.ExtFOp(value, float_type(type)))


def verify_product_types(name: str, constraint: str, data: Attribute, weight: Attribute, result: Attribute) -> None:
    """Checks that data and weight have equal types, or ui8 and i8, and that the result type holds sums of products."""
    if data != weight and (data, weight, result) != (UNSIGNED_BYTE, i8, i32):
        raise VerifyException(f"[{name} {constraint}] data of {data} and weight of {weight} differ")
    if not holds_products_of(result, data):
        raise VerifyException(f"[{name} {constraint}] result of {result} cannot hold sums of products of {data}")


def verify_ranks(name: str, constraint: str, ranks: Sequence[tuple[str, Sequence[Dim], Sequence[int]]]) -> None:
    """Checks that each `(what, shape, allowed ranks)` has an allowed rank."""
    for what, shape, allowed in ranks:
        if len(shape) not in allowed:
            wanted = " or ".join(map(str, allowed))
            raise VerifyException(f"[{name} {constraint}] {what} has rank {len(shape)}, not {wanted}")
