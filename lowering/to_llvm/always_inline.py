"""Functions that are always inlined: a way to write a computation once on its way to LLVM.

Such a function is private, carries `llvm.always_inline`, takes and returns values (not buffers), cannot fail, and so
has no part in the calling convention of kernels: no context, no status. LLVM's first pass puts it where it is called.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation

from xrelay.dialects.shared.attribute_names import ALWAYS_INLINE
from xrelay.passes.infra.fresh_names import fresh_name


def inline_function(name: str, inputs: Sequence[Attribute], output: Attribute) -> func.FuncOp:
    """A function that is always inlined, its body still to be written."""
    function = func.FuncOp(name, (inputs, [output]), visibility="private")
    function.attributes[ALWAYS_INLINE] = UnitAttr()
    return function


def is_always_inline(op: Operation) -> bool:
    """Whether `op` is such a function, in the func or the llvm dialect."""
    if isinstance(op, llvm.FuncOp):
        return op.get_attr_or_prop("always_inline") is not None
    return isinstance(op, func.FuncOp) and ALWAYS_INLINE in op.attributes


class InlinedOps:
    """Functions of a module that stand for one op each, made when they are first needed.

    An expansion takes 5 to 60 ops, and a fused kernel may hold a hundred uses of it. LLVM inlines before it does
    anything else, so calls give the same code, but what our own passes see does not grow.
    """

    def __init__(self, module: ModuleOp):
        names = [op.get_attr_or_prop("sym_name") for op in module.ops]
        self._module = module
        self._taken = {name.data for name in names if isinstance(name, StringAttr)}
        self._known = {
            op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp) and is_always_inline(op)
        }
        self.made: list[func.FuncOp] = []
        """The new functions; each body is the one op that it stands for, to be expanded there."""

    def call(self, op: Operation, wanted: str) -> func.CallOp:
        """A call, to be inserted, that stands for `op`: of the function called `wanted`, or nearly so."""
        function = self._known.get(wanted)
        if function is None:
            function = self._known[wanted] = self._make(op, fresh_name(wanted, self._taken))
        return func.CallOp(function.sym_name.data, list(op.operands), [op.results[0].type])

    def add_to_module(self) -> None:
        """Append the new functions to the module."""
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
