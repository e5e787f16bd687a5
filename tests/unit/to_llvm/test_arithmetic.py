"""Operators on numbers insert ops of arith in the order of evaluation."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, f32, i1, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.lowering.arithmetic import Arithmetic, Number


class Program:
    """A block to which arithmetic appends ops."""

    def __init__(self) -> None:
        self.block = Block()
        self._arithmetic = Arithmetic(self._add, self._constant)

    def number(self, type: Attribute) -> Number:
        return Number(self.block.insert_arg(type, len(self.block.args)), self._arithmetic)

    def names(self) -> list[str]:
        return [op.name.removeprefix("arith.") for op in self.block.ops]

    def _add(self, op: Operation) -> Operation:
        self.block.add_op(op)
        return op

    def _constant(self, value: float, type: Attribute) -> SSAValue:
        number = FloatAttr(value, 32) if type == f32 else IntegerAttr(int(value), 32 if type == i32 else IndexType())
        return self._add(arith.ConstantOp(number)).results[0]


def test_the_type_selects_the_op() -> None:
    program = Program()
    x, n = program.number(f32), program.number(i32)
    assert ((x + x) * x - x).value.type == f32
    assert ((n + n) * n - n).value.type == i32
    assert program.names() == ["addf", "mulf", "subf", "addi", "muli", "subi"]


def test_python_numbers_become_constants_before_their_op() -> None:
    program = Program()
    n = program.number(i32)
    assert (((n & 1) << 3).compare("eq", 8)).value.type == i1
    assert program.names() == ["constant", "andi", "constant", "shli", "constant", "cmpi"]


def test_both_operands_of_a_fused_sum_exist_before_the_product() -> None:
    program = Program()
    x = program.number(f32)
    x.polynomial([1.0, 2.0, 3.0])
    # The square, the coefficients of x² and of x, then the pair of the constant and x, and the sum with x².
    assert program.names() == ["mulf", *["constant"] * 3, *["mulf", "addf"] * 2]


def test_selection_and_conversion() -> None:
    program = Program()
    i = program.number(IndexType())
    least = i.compare("slt", i.like(4)).select(i, i.like(4))
    assert least.convert(arith.IndexCastOp, i32).bits(f32).value.type == f32
    assert program.names() == ["constant", "cmpi", "constant", "select", "index_cast", "bitcast"]
