"""Functions that are always inlined: a way to write a computation once on its way to LLVM.

Such a function is private, carries `llvm.always_inline`, takes and returns values (not buffers), cannot fail, and so
has no part in the calling convention of kernels: no context, no status. LLVM's first pass puts it where it is called.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Operation

from xrelay.dialects.attribute_names import ALWAYS_INLINE


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
