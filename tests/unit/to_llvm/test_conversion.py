"""The conversion driver: order, types, locations, and errors."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects import arith, test
from xdsl.dialects.builtin import (
    Builtin,
    FileLineColLoc,
    FusedLoc,
    IndexType,
    IntAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
    UnrealizedConversionCastOp,
    i64,
)
from xdsl.dialects.func import Func
from xdsl.ir import Attribute, Block, Operation
from xdsl.parser import Parser

from xrelay.dialects.shared.locations import format_location, fuse_locations
from xrelay.errors import LoweringError
from xrelay.passes.infra.conversion import (
    ConversionPattern,
    ConversionRewriter,
    TypeConverter,
    apply_conversion,
    legal_outside,
)


def parse(text: str) -> ModuleOp:
    ctx = Context()
    for dialect in (Builtin, Func, arith.Arith, test.Test):
        ctx.load_dialect(dialect)
    return Parser(ctx, text, "in.mlir").parse_module()


def index_to_i64(type_: Attribute) -> Attribute | None:
    return i64 if isinstance(type_, IndexType) else None


INDEX_IS_I64 = TypeConverter(index_to_i64)


class ConvertAdd(ConversionPattern[arith.AddiOp]):
    def rewrite(self, op: arith.AddiOp, rewriter: ConversionRewriter) -> str | None:
        if isinstance(op.result.type, IndexType) and "refuse" in op.attributes:
            return "it is marked"
        new = rewriter.insert(test.TestPureOp(rewriter.operands(op.operands), [rewriter.types.convert(op.result.type)]))
        rewriter.replace(op, new)
        return None


class ConvertMulToAdd(ConversionPattern[arith.MuliOp | arith.SubiOp]):
    def rewrite(self, op: arith.MuliOp | arith.SubiOp, rewriter: ConversionRewriter) -> str | None:
        rewriter.replace(op, rewriter.insert(arith.AddiOp(op.lhs, op.rhs)))
        return None


CHAIN = """
func.func @f(%a: index, %b: index) -> index {
  %0 = arith.addi %a, %b : index loc("net.py":1:2)
  %1 = arith.addi %0, %b : index loc("net.py":3:4)
  func.return %1 : index
}
"""


def test_casts_stand_only_where_a_side_is_not_converted():
    module = parse(CHAIN)
    apply_conversion(module, [ConvertAdd()], is_legal=legal_outside("arith"), types=INDEX_IS_I64)
    module.verify()
    casts = [op for op in module.walk() if isinstance(op, UnrealizedConversionCastOp)]
    assert [(str(c.inputs[0].type), str(c.outputs[0].type)) for c in casts] == [
        ("index", "i64"),
        ("index", "i64"),
        ("i64", "index"),
    ]
    new = [op for op in module.walk() if isinstance(op, test.TestPureOp)]
    assert new[1].operands[0] is new[0].results[0]


def test_block_arguments_convert_and_casts_cancel():
    module = parse(CHAIN)
    apply_conversion(module, [ConvertAdd()], is_legal=legal_outside("arith"), types=INDEX_IS_I64)

    class ConvertFunctionBody(ConversionPattern[Operation]):
        def rewrite(self, op: Operation, rewriter: ConversionRewriter) -> str | None:
            if op.regions:
                rewriter.convert_block_arguments(op.regions[0].block)
                rewriter.replace(op, rewriter.insert(test.TestOp(regions=[op.detach_region(0)])))
            else:
                rewriter.insert(test.TestTermOp(rewriter.operands(op.operands)))
                rewriter.erase(op)
            return None

    apply_conversion(module, [ConvertFunctionBody()], is_legal=legal_outside("func"), types=INDEX_IS_I64)
    module.verify()
    assert not [op for op in module.walk() if isinstance(op, UnrealizedConversionCastOp)]
    assert "index" not in str(module)


def test_ops_made_by_a_pattern_are_converted_too():
    module = parse('%a, %b = "test.op"() : () -> (i32, i32)\n%0 = arith.muli %a, %b : i32')
    apply_conversion(module, [ConvertMulToAdd(), ConvertAdd()], is_legal=legal_outside("arith"))
    assert [op.name for op in module.ops] == ["test.op", "test.pureop"]


def test_locations_are_kept():
    module = parse(CHAIN)
    apply_conversion(module, [ConvertAdd()], is_legal=legal_outside("arith"), types=INDEX_IS_I64)
    new = [op for op in module.walk() if isinstance(op, test.TestPureOp)]
    assert [format_location(op.location) for op in new] == ["net.py:1:2", "net.py:3:4"]


def test_fuse_locations_flattens_and_drops_what_says_nothing():
    a = FileLineColLoc(StringAttr("a"), IntAttr(1), IntAttr(2))
    b = NameLoc(StringAttr("conv1"), NoneAttr())
    assert fuse_locations([]) == UnknownLoc()
    assert fuse_locations([UnknownLoc(), a, a]) == a
    assert fuse_locations([fuse_locations([a, b]), b]) == FusedLoc((a, b), NoneAttr())


def test_an_op_nobody_takes_is_an_error_with_its_location():
    with pytest.raises(LoweringError, match=r"^net\.py:1:2: failed to convert arith\.addi: no pattern converts"):
        apply_conversion(parse(CHAIN), [ConvertMulToAdd()], is_legal=legal_outside("arith"))


def test_an_op_without_a_location_names_its_function():
    text = "func.func @g(%a: index) -> index {\n%0 = arith.addi %a, %a {refuse} : index\nfunc.return %0 : index\n}"
    with pytest.raises(LoweringError, match=r"^@g: failed to convert arith\.addi: it is marked$"):
        apply_conversion(parse(text), [ConvertAdd()], is_legal=legal_outside("arith"), types=INDEX_IS_I64)


def test_a_long_chain_does_not_recurse():
    block = Block(arg_types=[i64])
    value = block.args[0]
    for _ in range(1_500):
        add = arith.AddiOp(value, value)
        block.add_op(add)
        value = add.result
    module = ModuleOp([test.TestOp(regions=[[block]])])
    apply_conversion(module, [ConvertAdd()], is_legal=legal_outside("arith"))
    assert len(block.ops) == 1_500
