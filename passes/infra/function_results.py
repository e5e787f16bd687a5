"""Functions whose one result is a function, in a form whose text can be read again.

xDSL prints `-> (T) -> T` for the result `(T) -> T` of a `func.func`, and reads that as a result T and an arrow too
many. Where results have attributes it prints the parentheses that are needed, so an empty dictionary stands there.
"""

from __future__ import annotations

from typing import Final

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp

_BRACKETS: Final = ArrayAttr([DictionaryAttr({})])


def bracket_function_results(module: ModuleOp) -> None:
    """Let the functions of `module` that give a function alone have the dictionary, and no others."""
    for block in module.body.blocks:
        for op in block.ops:
            type = op.properties.get("function_type")  # absent where the generic form lacks it: the verifier says so
            if isinstance(op, FuncOp) and isinstance(type, FunctionType) and op.res_attrs in (None, _BRACKETS):
                outputs = type.outputs.data
                op.res_attrs = _BRACKETS if len(outputs) == 1 and isinstance(outputs[0], FunctionType) else None
