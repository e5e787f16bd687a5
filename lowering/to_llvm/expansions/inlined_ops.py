"""Expansions of ops into arithmetic, in functions that are always inlined.

Such a function is private, has `llvm.always_inline`, takes and returns values (not buffers), and cannot fail, so it is
not part of the calling convention of kernels: it has no context and no status. LLVM's first pass inlines it. `number`
builds the arithmetic, on scalars or vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, func, llvm
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.shared.attribute_names import ALWAYS_INLINE
from xrelay.lowering.arithmetic import Arithmetic, Number
from xrelay.lowering.to_llvm.ops import number_attribute
from xrelay.passes.infra.conversion import ConversionRewriter
from xrelay.passes.infra.fresh_names import fresh_name

CONTRACT = arith.FastMathFlagsAttr((FastMathFlag.ALLOW_CONTRACT,))
"""Allows LLVM to fuse a product and a sum if the CPU has FMA; no other reordering."""


def inline_function(name: str, inputs: Sequence[Attribute], output: Attribute) -> func.FuncOp:
    """Returns a function that is always inlined, with an empty body."""
    function = func.FuncOp(name, (inputs, [output]), visibility="private")
    function.attributes[ALWAYS_INLINE] = UnitAttr()
    return function


def is_always_inline(op: Operation) -> bool:
    """Whether `op` is such a function, in the func or the llvm dialect."""
    if isinstance(op, llvm.FuncOp):
        return op.get_attr_or_prop("always_inline") is not None
    return isinstance(op, func.FuncOp) and ALWAYS_INLINE in op.attributes


class InlinedOps:
    """Functions of a module that each replace one op, created on first use.

    An expansion takes 5 to 60 ops, and a fused kernel may use it a hundred times. LLVM inlines before it does anything
    else, so calls produce the same code, and our own passes see fewer ops.
    """

    def __init__(self, module: ModuleOp):
        names = [op.get_attr_or_prop("sym_name") for op in module.ops]
        self._module = module
        self._taken = {name.data for name in names if isinstance(name, StringAttr)}
        self._known = {
            op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp) and is_always_inline(op)
        }
        self.made: list[func.FuncOp] = []
        """The new functions; the body of each is the op that it replaces, still to be expanded."""

    def call(self, op: Operation, wanted: str) -> func.CallOp:
        """Returns a call that replaces `op`, to be inserted; the function is called `wanted`, made unique."""
        function = self._known.get(wanted)
        if function is None:
            function = self._known[wanted] = self._make(op, fresh_name(wanted, self._taken))
        return func.CallOp(function.sym_name.data, list(op.operands), [op.results[0].type])

    def add_to_module(self) -> None:
        """Appends the new functions to the module."""
        for function in self.made:
            self._module.body.block.add_op(function)

    def _make(self, op: Operation, name: str) -> func.FuncOp:
        types = [operand.type for operand in op.operands]
        function = inline_function(name, types, op.results[0].type)
        block = function.body.block
        inner = type(op).create(
            operands=list(block.args),
            result_types=[op.results[0].type],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        block.add_ops([inner, func.ReturnOp(inner.results[0])])
        self.made.append(function)
        return function


def number(value: SSAValue, rewriter: ConversionRewriter) -> Number:
    """Returns `value` with operators that insert ops with `rewriter`."""

    def constant(each: float, type_: Attribute) -> SSAValue:
        attribute = number_attribute(each, type_)
        assert isinstance(attribute, FloatAttr | IntegerAttr | DenseIntOrFPElementsAttr), "numbers are one of these"
        return rewriter.insert(arith.ConstantOp(attribute)).result

    return Number(value, Arithmetic(rewriter.insert, constant, CONTRACT))
