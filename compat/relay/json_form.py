"""Programs as JSON text, including the bytes of their constants: `ir.save_json` and `ir.load_json`.

    text = xrelay.ir.save_json(mod)
    same = xrelay.ir.load_json(text)

The text is an object: `kind` is its kind, `text` the program in the form of `astext`, and `weights` maps keys in the
program to arrays that are stored outside of it. A function is stored as a module with the function @main, an expression
as the function of its free variables. The elements of lists and dictionaries are objects.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError as XdslParseError
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.relay.core.operator_value import Op
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.structure.weights import Array, arrays_by_key, weights_of
from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.errors import InputError, ParseError, with_article
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.relay.expr import Expr
from xrelay.relay.function import Function
from xrelay.relay.module import MAIN, IRModule
from xrelay.relay.nodes import GlobalVar, free_vars
from xrelay.relay.types import TypeView, plain_type, type_view

VERSION = 1
"""The version of the format. Other versions cannot be loaded."""

_Object: TypeAlias = "dict[str, object]"


def save_json(node: object) -> str:
    """Returns the text of a module, a function, an expression, an operator, a type, an array, or a collection of these.

    Collections are lists and dictionaries. Numbers, strings and None are stored as JSON values. Raises `InputError` for
    anything else.
    """
    return json.dumps({"xrelay": VERSION, **_saved(node)})


def load_json(json_str: str) -> object:
    """Restores an object from the text of `save_json`, including constants. Raises `ParseError` for any other text."""
    try:
        found: object = json.loads(json_str)
    except (ValueError, RecursionError) as error:
        raise ParseError(f"the text is not JSON: {error}") from error
    version = cast(_Object, found).get("xrelay") if isinstance(found, dict) else None
    if version != VERSION:
        raise ParseError("the text was not written by save_json of this version")
    try:
        return _loaded(cast(_Object, found))
    except (KeyError, TypeError, ValueError, AttributeError, VerifyException) as error:
        raise ParseError(f"the text is damaged: {type(error).__name__}: {error}") from error


# --- to JSON -------------------------------------------------------------------------------------------------------


def _saved(node: object) -> _Object:
    """Returns the JSON object of a value."""
    if node is None or isinstance(node, bool | int | float | str):
        return {"kind": "value", "value": node}
    if isinstance(node, list | tuple):
        return {"kind": "list", "items": [_saved(item) for item in cast("list[object]", node)]}
    if isinstance(node, Mapping):
        rows = cast("Mapping[object, object]", node).items()
        return {"kind": "map", "items": [[_saved(key), _saved(value)] for key, value in rows]}
    if isinstance(node, np.ndarray | np.generic):
        return {"kind": "array", **_array_object(np.asarray(node))}
    return _saved_program(node)


def _saved_program(node: object) -> _Object:
    if isinstance(node, Op):
        return {"kind": "operator", "name": node.name}
    if isinstance(node, ModuleOp):
        return {"kind": "module", **_module_object(node)}
    if isinstance(node, GlobalVar):
        type = node.function_type
        return {"kind": "global", "name": node.name_hint, "type": None if type is None else str(type)}
    if isinstance(node, Function) and not free_vars(node):
        return {"kind": "function", **_module_object(IRModule.from_expr(node))}
    if isinstance(node, Expr):
        return {"kind": "expression", **_module_object(IRModule.from_expr(Function(free_vars(node), node)))}
    type = plain_type(node)
    if isinstance(type, Attribute):
        return {"kind": "type", "text": str(type)}
    raise InputError(
        f"{with_article(_class_of(node))} cannot be saved as JSON",
        help="pass a module, a function, an expression, a type or arrays",
    )


def _class_of(node: object) -> str:
    return type(node).__name__


def _module_object(module: ModuleOp) -> _Object:
    weights = {key: _array_object(array) for key, array in arrays_by_key(module).items()}
    return {"text": str(module), "weights": weights}


def _array_object(array: Array) -> _Object:
    contiguous = np.ascontiguousarray(array)
    data = base64.b64encode(contiguous.reshape(-1).view(np.uint8).data).decode()
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


# --- from JSON -----------------------------------------------------------------------------------------------------


def _loaded(found: _Object) -> object:
    """Returns the value of a JSON object."""
    kind = found["kind"]
    if not isinstance(kind, str) or kind not in _LOADERS:
        raise ValueError(f"there is no kind {kind!r}")
    return _LOADERS[kind](found)


def _list(found: _Object) -> list[object]:
    return [_loaded(item) for item in cast("list[_Object]", found["items"])]


def _map(found: _Object) -> dict[object, object]:
    return {_loaded(key): _loaded(value) for key, value in cast("list[tuple[_Object, _Object]]", found["items"])}


def _array(found: _Object) -> Array:
    dtype, shape = numpy_dtype(element_type(cast(str, found["dtype"]))), cast("list[int]", found["shape"])
    data = np.frombuffer(base64.b64decode(cast(str, found["data"]), validate=True), np.uint8)
    return data.view(dtype).reshape(shape).copy()


def _module(found: _Object) -> IRModule:
    module = parse_module(full_context(), cast(str, found["text"]), "JSON")
    weights = cast("dict[str, _Object]", found["weights"])
    for weight in weights_of(module):
        weight.resolve(_array(weights[weight.key]))
    module.verify()
    return IRModule.of(module)


def _global(found: _Object) -> GlobalVar:
    type = None if found["type"] is None else _plain(cast(str, found["type"]))
    return GlobalVar(cast(str, found["name"]), type if isinstance(type, FunctionType) else None)


def _type(found: _Object) -> TypeView:
    return type_view(_plain(cast(str, found["text"])))


def _plain(text: str) -> Attribute:
    try:
        return Parser(full_context(), text).parse_attribute()
    except XdslParseError as error:
        raise ParseError(f"{text!r} is not a type") from error


_LOADERS: dict[str, Callable[[_Object], object]] = {
    "operator": lambda found: Op.of(get_relay_op(cast(str, found["name"]))),
    "value": lambda found: found["value"],
    "list": _list,
    "map": _map,
    "array": _array,
    "module": _module,
    "function": lambda found: _module(found)[MAIN],
    "expression": lambda found: _module(found)[MAIN].body,
    "global": _global,
    "type": _type,
}
