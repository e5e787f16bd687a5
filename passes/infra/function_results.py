"""Makes functions whose only result is a function printable in a form that can be parsed again.

xDSL prints `-> (T) -> T` for the result `(T) -> T` of a `func.func`, and parses that as a result T and a superfluous
arrow. If results have attributes, it prints the necessary parentheses, so an empty dictionary is added.
"""

from __future__ import annotations

from typing import Final

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp

_BRACKETS: Final = ArrayAttr([DictionaryAttr({})])


def bracket_function_results(module: ModuleOp) -> None:
    """Adds the dictionary to functions of `module` that return only a function, and removes it from others."""
    for block in module.body.blocks:
        for op in block.ops:
            type = op.properties.get("function_type")  # None if the generic form lacks it, which the verifier reports
            if isinstance(op, FuncOp) and isinstance(type, FunctionType) and op.res_attrs in (None, _BRACKETS):
                outputs = type.outputs.data
                op.res_attrs = _BRACKETS if len(outputs) == 1 and isinstance(outputs[0], FunctionType) else None
