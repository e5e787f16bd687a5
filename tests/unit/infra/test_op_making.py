"""Ops that are made and copied field by field equal those that xDSL makes and clones."""

from __future__ import annotations

import pytest
from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, ModuleOp, UnknownLoc, f32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.shared.op_lists import ops_at
from xrelay.dialects.shared.op_making import append, copies, copy, make
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import full_context, parse_module

LOOPS = """
func.func private @copy(%X: memref<6x8xf32>, %Y: memref<6x8xf32>, %n: index) attributes {loop.kernel} {
  loop.for "i" %i to 6 {
    %two = arith.constant 2 : index
    %row = arith.muli %i, %two : index
    loop.for "j" %j to 8 unrolled {
      %ok = arith.cmpi slt, %row, %n : index
      scf.if %ok {
        %x = loop.load %X[%i, %j] : memref<6x8xf32>
        loop.store %x, %Y[%i, %j] : memref<6x8xf32>
      } {note = "of the if"}
    }
  }
  func.return
}
"""
BRANCHES = """
llvm.func @f(%n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  llvm.br ^head(%zero : i64)
^last(%z: i64):
  llvm.return
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^body, ^last(%i : i64)
^body:
  %next = llvm.add %i, %n : i64
  llvm.br ^head(%next : i64)
}
"""


def fields(op: Operation) -> list[object]:
    return [
        type(op),
        list(op.operands),
        list(op.result_types),
        list(op.properties.items()),
        list(op.attributes.items()),
        op.location,
        list(op.successors),
        [region.parent is op for region in op.regions],
        op.parent,
    ]


def uses(module: ModuleOp) -> list[list[tuple[int, int]]]:
    """The uses of each value in order, by the number of the op."""
    ops = list(module.walk())
    numbers = {op: number for number, op in enumerate(ops)}
    arguments = (argument for op in ops for region in op.regions for block in region.blocks for argument in block.args)
    values: list[SSAValue] = [*(result for op in ops for result in op.results), *arguments]
    return [[(numbers[use.operation], use.index) for use in value.uses] for value in values]


@pytest.mark.parametrize(
    ("kind", "count", "type", "properties"),
    [
        (arith.AddiOp, 2, IndexType(), {}),
        (llvm.AddOp, 2, i64, {"overflowFlags": IntegerAttr(1, 32)}),
        (llvm.SelectOp, 3, f32, {}),
        (llvm.ConstantOp, 0, f32, {"value": FloatAttr(1.0, f32)}),
    ],
)
def test_an_op_is_the_one_that_xdsl_makes(
    kind: type[Operation], count: int, type: Attribute, properties: dict[str, Attribute]
) -> None:
    values = Block(arg_types=[type] * count).args
    mine = make(kind, values, (type,), properties)
    assert fields(mine) == fields(kind.create(operands=values, result_types=[type], properties=properties))
    assert mine.location == UnknownLoc()
    assert properties is not mine.properties
    assert [use.operation for value in values for use in value.uses if use.operation is mine] == [mine] * count
    mine.erase()
    assert all(mine not in [use.operation for use in value.uses] for value in values)


def test_a_branch_is_a_predecessor_of_its_successor() -> None:
    block, target = Block(), Block()
    branch = make(llvm.BrOp, successors=(target,))
    block.add_op(branch)
    assert list(target.predecessors()) == [block]
    assert fields(branch)[:-1] == fields(llvm.BrOp.create(successors=[target]))[:-1]


@pytest.mark.parametrize("text", [LOOPS, BRANCHES], ids=["loops", "branches"])
def test_a_copy_is_the_clone(text: str) -> None:
    module = parse_module(full_context(), text, "test")
    before = print_module(module, generic=True, debuginfo=True)
    mine, clone = copy(module), module.clone()
    assert print_module(mine, generic=True, debuginfo=True) == print_module(clone, generic=True, debuginfo=True)
    assert uses(mine) == uses(clone)
    mine.verify()
    next(op for op in mine.walk() if op.results).attributes["new"] = IntegerAttr(1, 32)
    assert print_module(module, generic=True, debuginfo=True) == before


def test_copies_read_what_copies_in_front_of_them_make_and_what_is_given() -> None:
    given, other = Block(arg_types=[i64, i64]).args
    first = make(llvm.AddOp, (given, given), (i64,))
    second = make(llvm.MulOp, (first.results[0], given), (i64,))
    values: dict[SSAValue, SSAValue] = {given: other}
    one, two = copies([first, second], values)
    assert list(one.operands) == [other, other]
    assert list(two.operands) == [one.results[0], other]
    assert values[second.results[0]] is two.results[0]


def test_an_op_is_appended_as_xdsl_does() -> None:
    mine, other = Block(), Block()
    for block, add in ((mine, append), (other, Block.add_op)):
        for op in (make(llvm.UnreachableOp), ModuleOp([]), make(llvm.UndefOp, (), (i64,))):
            add(block, op)
        assert [op.parent for op in block.ops] == [block] * 3
    names = [op.name for op in mine.ops]
    assert names == [op.name for op in other.ops] == [op.name for op in ops_at(mine)]
    assert names == [op.name for op in reversed(mine.ops)][::-1]
    with pytest.raises(ValueError, match="already attached"):
        append(other, ops_at(mine)[0])
