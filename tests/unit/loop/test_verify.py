"""Errors that the tools' other checks find first, as Python callers get them."""

from __future__ import annotations

import re

import pytest
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import FunctionType, IntegerAttr, ModuleOp
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.loop import ForOp


def test_use_before_definition():
    late = arith.ConstantOp(IntegerAttr.from_index_int_value(4))
    function = func.FuncOp("f", FunctionType.from_lists([], []))
    function.body.block.add_ops([ForOp("i", 2), ForOp("j", late.result), late, func.ReturnOp()])
    with pytest.raises(VerifyException, match=re.escape("[loop.for C5] operand 0 of 'loop.for' is used")):
        ModuleOp([function]).verify()


def test_index_of_a_loop_is_not_visible_behind_it():
    first = ForOp("i", 2)
    function = func.FuncOp("f", FunctionType.from_lists([], []))
    function.body.block.add_ops([first, ForOp("j", first.index), func.ReturnOp()])
    # A flat set of visible values would accept it: the earlier loop defines its index.
    with pytest.raises(VerifyException, match="used before its definition"):
        ModuleOp([function]).verify()
