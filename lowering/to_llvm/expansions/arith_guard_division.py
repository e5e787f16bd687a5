"""arith-guard-division: makes integer divisions trap-free, and fails if a divisor was zero.

A CPU stops the process on a division by zero and on the least integer divided by -1, and LLVM leaves both undefined.
Here such a lane divides by 1 instead. The least integer then keeps its value, which is the wrapped quotient (and the
remainder is 0), as in numpy. Zeros are detected without a branch: a variable of the function holds the least divisor so
far, as an unsigned number, lane by lane, and one assertion at the end of the function fails if a lane is 0.

    %q = arith.divsi %a, %b : vector<8xi32>
    →   %least = memref.load %seen[%c0]                                 // at the beginning: all bits set
        memref.store (arith.minui %least, %b), %seen[%c0]
        %unsafe = (%b == 0) | (%a == -2147483648 & %b == -1)
        %q = arith.divsi %a, (arith.select %unsafe, 1, %b) : vector<8xi32>
        …
        cf.assert (vector.reduction <minui>, %least) != 0, "division by zero"
        func.return
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, cf, func, memref, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from xrelay.dialects.shared.attribute_names import POSITIVE_DIVISOR
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.upstream.arith_extras import IndexCastOp, element_type, with_element
from xrelay.lowering.arithmetic import Arithmetic, Number
from xrelay.lowering.to_llvm.expansions.inlined_ops import is_always_inline
from xrelay.lowering.to_llvm.ops import number_attribute
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass

SIGNED = arith.DivSIOp | arith.RemSIOp | arith.FloorDivSIOp | arith.CeilDivSIOp
UNSIGNED = arith.DivUIOp | arith.RemUIOp | arith.CeilDivUIOp
_DIVISIONS = (
    arith.DivSIOp, arith.RemSIOp, arith.FloorDivSIOp, arith.CeilDivSIOp, arith.DivUIOp, arith.RemUIOp, arith.CeilDivUIOp
)  # fmt: skip
MESSAGE = "division by zero"
"""Begins like the runtime's failure reason of that name (`to_llvm/failures.py`)."""


class _Guard:
    """Guards the divisions of one function, with one variable for each type of divisor."""

    def __init__(self, function: func.FuncOp):
        entry = function.body.first_block
        assert entry is not None, "a function with a body has an entry block"
        self._entry = Builder(InsertPoint.at_start(entry))
        self._zero = _constant(self._entry, 0, IndexType())
        self._seen: dict[Attribute, SSAValue] = {}

    def divide_safely(self, op: SIGNED | UNSIGNED) -> None:
        """Records the divisor of `op`, and replaces it with 1 if it is not safe."""
        build = Builder(InsertPoint.before(op))
        self._record(op.rhs, build)
        lhs, rhs = _number(op.lhs, build), _number(op.rhs, build)
        unsafe = rhs.compare("eq", 0)
        if isinstance(op, SIGNED):
            unsafe |= lhs.compare("eq", -1 << (_bits(op.lhs.type) - 1)) & rhs.compare("eq", -1)
        op.operands[1] = unsafe.select(rhs.like(1), rhs).value

    def check_before(self, end: func.ReturnOp) -> None:
        """Asserts before `end` that no divisor was zero."""
        build = Builder(InsertPoint.before(end))
        fine: Number | None = None
        for variable in self._seen.values():
            least = build.insert(memref.LoadOp.get(variable, [self._zero])).res
            if isa(least.type, VectorType):
                least = build.insert(_least_lane(least, least.type.element_type)).dest
            nonzero = _number(least, build).compare("ne", 0)
            fine = nonzero if fine is None else fine & nonzero
        if fine is not None:
            build.insert(cf.AssertOp(fine.value, MESSAGE))

    def _record(self, divisor: SSAValue, build: Builder) -> None:
        """Stores the minimum of `divisor` and the variable of its type."""
        if isinstance(element_type(divisor.type), IndexType):
            divisor = build.insert(IndexCastOp(divisor, with_element(divisor.type, i64))).result
        variable = self._seen.get(divisor.type)
        if variable is None:
            variable = self._seen[divisor.type] = self._variable(divisor.type)
        before = build.insert(memref.LoadOp.get(variable, [self._zero])).res
        least = build.insert(arith.MinUIOp(before, divisor)).result
        build.insert(memref.StoreOp.get(least, variable, [self._zero]))

    def _variable(self, type_: Attribute) -> SSAValue:
        """Allocates a stack variable of `type_` with all bits set."""
        slot = self._entry.insert(memref.AllocaOp.get(type_, shape=[1])).memref
        self._entry.insert(memref.StoreOp.get(_constant(self._entry, -1, type_), slot, [self._zero]))
        return slot


def _constant(build: Builder, value: float, type_: Attribute) -> SSAValue:
    if isinstance(type_, IndexType):
        return build.insert(arith.ConstantOp(IntegerAttr(int(value), type_))).result
    attribute = number_attribute(value, type_)
    if is_attribute(type_, VectorType[IndexType]):
        assert isinstance(attribute, DenseIntOrFPElementsAttr), "splats of numbers are dense"
        return build.insert(arith.ConstantOp(DenseIntOrFPElementsAttr(type_, attribute.data))).result
    assert isa(attribute, IntegerAttr) or isinstance(attribute, DenseIntOrFPElementsAttr), "divisors are integers"
    return build.insert(arith.ConstantOp(attribute)).result


def _least_lane(lanes: SSAValue, element: Attribute) -> vector.ReductionOp:
    """Returns a `vector.reduction <minui>` with a scalar result type; xDSL's constructor uses the vector's type."""
    kind = vector.CombiningKindAttr(vector.CombiningKindFlag.MINUI)
    exact = arith.FastMathFlagsAttr("none")
    return vector.ReductionOp.create(
        operands=[lanes], result_types=[element], properties={"kind": kind, "fastmath": exact}
    )


def _number(value: SSAValue, build: Builder) -> Number:
    return Number(value, Arithmetic(build.insert, partial(_constant, build)))


def _bits(type_: Attribute) -> int:
    element = element_type(type_)
    return element.width.data if isinstance(element, IntegerType) else 64


def _is_safe(op: SIGNED | UNSIGNED) -> bool:
    """Whether every divisor is a constant other than 0 (and -1 if signed), or is marked as positive."""
    if POSITIVE_DIVISOR in op.attributes:
        return True
    owner = op.rhs.owner
    if not isinstance(owner, arith.ConstantOp):
        return False
    value = owner.value
    numbers: Sequence[object] = [value.value.data] if isinstance(value, IntegerAttr) else []
    if isinstance(value, DenseIntOrFPElementsAttr):
        numbers = list(value.get_values())
    return bool(numbers) and 0 not in numbers and (isinstance(op, UNSIGNED) or -1 not in numbers)


@dataclass(frozen=True)
class ArithGuardDivisionPass(XRelayPass):
    """Makes integer divisions and remainders safe: the least integer by -1 wraps, a zero divisor fails at the end.

    Divisions by safe constants, index divisions with `loop.positive_divisor`, and functions that are always inlined
    stay unchanged. Parallel loops must be functions already, so that each thread records its own divisors.
    """

    name = "arith-guard-division"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Guards every function of the module."""
        for function in op.ops:
            if isinstance(function, func.FuncOp) and function.body.blocks and not is_always_inline(function):
                guard_divisions(function)


def guard_divisions(function: func.FuncOp) -> None:
    """Guards the divisions of one function, and adds a check at each of its returns."""
    divisions = [op for op in ops_of(function, *_DIVISIONS) if not _is_safe(op)]
    if not divisions:
        return
    guard = _Guard(function)
    for op in divisions:
        guard.divide_safely(op)
    for op in ops_of(function, func.ReturnOp):
        guard.check_before(op)
