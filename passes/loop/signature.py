"""Edits of the signature of a function with a body: its arguments, and the attributes of arguments and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, BlockArgument

from xrelay.dialects.shared.types import function_type

_EMPTY: Final = DictionaryAttr({})


def insert_arguments(
    function: func.FuncOp, index: int, types: Sequence[Attribute], names: Sequence[str | None]
) -> list[BlockArgument]:
    """Inserts arguments of these types before argument `index`, or at the end if `index` is their number.

    `names` are the name hints, one for each type. Calls of the function are left for the caller to update.
    """
    block = function.body.block
    attrs = argument_attrs(function)
    new = [block.insert_arg(type, index + i) for i, type in enumerate(types)]
    for argument, name in zip(new, names, strict=True):
        argument.name_hint = name
    function.function_type = function_type(list(block.arg_types), list(function.function_type.outputs))
    set_argument_attrs(function, [*attrs[:index], *({} for _ in types), *attrs[index:]])
    return new


def argument_attrs(function: func.FuncOp) -> list[dict[str, Attribute]]:
    """The attributes of each argument, as new dictionaries."""
    if function.arg_attrs is None:
        return [{} for _ in function.function_type.inputs]
    return [dict(attrs.data) for attrs in function.arg_attrs]


def set_argument_attrs(function: func.FuncOp, attrs: Sequence[Mapping[str, Attribute]]) -> None:
    """Replaces the attributes of all arguments; removes the property if there are no attributes."""
    function.arg_attrs = ArrayAttr(list(map(_dictionary, attrs))) if any(attrs) else None


def set_result_attrs(function: func.FuncOp, attrs: Sequence[Mapping[str, Attribute]]) -> None:
    """Replaces the attributes of all results; removes the property if there are no attributes."""
    function.res_attrs = ArrayAttr(list(map(_dictionary, attrs))) if any(attrs) else None


def _dictionary(attrs: Mapping[str, Attribute]) -> DictionaryAttr:
    return DictionaryAttr(dict(attrs)) if attrs else _EMPTY
