"""Expansions of ops into arithmetic, in functions that are always inlined.

Such a function is private, has `llvm.always_inline`, takes and returns values (not buffers), and cannot fail, so it is
not part of the calling convention of kernels: it has no context and no status. LLVM's first pass inlines it. `Lanes`
builds the arithmetic, on scalars or vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, func, llvm, math
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    f32,
    i32,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.shared.attribute_names import ALWAYS_INLINE
from xrelay.dialects.upstream.arith_extras import CmpfOp, CmpiOp, SelectOp, SIToFPOp, with_element
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


class Lanes:
    """Inserts arith and math ops on values of one shape: a scalar, or a vector of any number of lanes.

    `floats` and `integers` are element types of the same width, by default f32 and i32.
    """

    def __init__(
        self, type_: Attribute, rewriter: ConversionRewriter, *, floats: Attribute = f32, integers: Attribute = i32
    ):
        self.floats, self.integers = with_element(type_, floats), with_element(type_, integers)
        self._rewriter = rewriter

    def _result(self, op: Operation) -> SSAValue:
        return self._rewriter.insert(op).results[0]

    def number(self, value: float) -> SSAValue:
        """Returns `value` in every lane."""
        return self._constant(value, self.floats)

    def integer(self, value: int) -> SSAValue:
        """Returns `value` in every lane, as an integer."""
        return self._constant(value, self.integers)

    def _constant(self, value: float, type_: Attribute) -> SSAValue:
        attribute = number_attribute(value, type_)
        assert isinstance(attribute, FloatAttr | IntegerAttr | DenseIntOrFPElementsAttr), "numbers are one of these"
        return self._result(arith.ConstantOp(attribute))

    def add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a + b`."""
        return self._result(arith.AddfOp(a, b, CONTRACT))

    def sub(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a - b`."""
        return self._result(arith.SubfOp(a, b, CONTRACT))

    def mul(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a * b`."""
        return self._result(arith.MulfOp(a, b, CONTRACT))

    def div(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a / b`."""
        return self._result(arith.DivfOp(a, b))

    def multiply_add(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        """`a * b + c`, with one rounding or two, depending on the CPU."""
        return self.add(self.mul(a, b), c)

    def polynomial(self, x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
        """`c0 + c1 x + c2 x² + …` by Horner's rule."""
        result = self.number(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            result = self.multiply_add(result, x, self.number(coefficient))
        return result

    def compare(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """A float comparison; a predicate that begins with `o` is false for NaNs, one with `u` is true."""
        return self._result(CmpfOp(a, b, predicate))

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """`condition ? a : b`."""
        return self._result(SelectOp(condition, a, b))

    def at_most(self, x: SSAValue, bound: float) -> SSAValue:
        """`min(x, bound)`; NaN is preserved. This form is one instruction on x86."""
        limit = self.number(bound)
        return self.select(self.compare("olt", limit, x), limit, x)

    def at_least(self, x: SSAValue, bound: float) -> SSAValue:
        """`max(x, bound)`; NaN is preserved."""
        limit = self.number(bound)
        return self.select(self.compare("ogt", limit, x), limit, x)

    def absolute(self, x: SSAValue) -> SSAValue:
        """`|x|`."""
        return self._result(math.AbsFOp(x))

    def copy_sign(self, magnitude: SSAValue, sign: SSAValue) -> SSAValue:
        """`magnitude` with the sign of `sign`."""
        return self._result(math.CopySignOp(magnitude, sign))

    def bits(self, x: SSAValue) -> SSAValue:
        """The bits of floats, as integers."""
        return self._result(arith.BitcastOp(x, self.integers))

    def from_bits(self, x: SSAValue) -> SSAValue:
        """Floats with the bits of integers."""
        return self._result(arith.BitcastOp(x, self.floats))

    def add_integers(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a + b` on integers."""
        return self._result(arith.AddiOp(a, b))

    def sub_integers(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a - b` on integers."""
        return self._result(arith.SubiOp(a, b))

    def shift_left(self, a: SSAValue, count: int) -> SSAValue:
        """`a << count`."""
        return self._result(arith.ShLIOp(a, self.integer(count)))

    def shift_right(self, a: SSAValue, count: int) -> SSAValue:
        """`a >> count`, arithmetic."""
        return self._result(arith.ShRSIOp(a, self.integer(count)))

    def shift_right_logical(self, a: SSAValue, count: int) -> SSAValue:
        """`a >> count`, logical."""
        return self._result(arith.ShRUIOp(a, self.integer(count)))

    def and_bits(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a & b`."""
        return self._result(arith.AndIOp(a, b))

    def or_bits(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a | b`."""
        return self._result(arith.OrIOp(a, b))

    def compare_integers(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """An integer comparison, such as `eq`, `slt` or `ult`."""
        return self._result(CmpiOp(a, b, predicate))

    def to_float(self, a: SSAValue) -> SSAValue:
        """Integers, converted to floats."""
        return self._result(SIToFPOp(a, self.floats))
