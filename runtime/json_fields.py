"""Typed values from untrusted JSON: every field is checked, and errors name the field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import EnumType
from functools import cache
from types import UnionType
from typing import Any, Final, TypeGuard, get_args, get_origin, get_type_hints

from xrelay.errors import ArtifactError

_MAX_EXTENT: Final = 1 << 62


def parse_json_object(text: str | bytes, what: str) -> Mapping[str, object]:
    """Returns the members of a JSON object. Raises an `ArtifactError` that names `what` for other text."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArtifactError(f"{what} is not JSON: {error}") from error
    if not is_object(value):
        raise ArtifactError(f"{what} is not a JSON object")
    return value


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Whether `value` is a parsed JSON object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[object]]:
    """Whether `value` is a parsed JSON array."""
    return isinstance(value, list)


def is_extent(value: object) -> TypeGuard[int]:
    """Whether `value` is a valid size."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX_EXTENT


def decode(kind: Any, value: object, what: str) -> Any:
    """Returns parsed JSON as a value of the type `kind`. Raises an `ArtifactError` that names `what` for other values.

    The types are `str`, `bool`, `int` (a size), enumerations by name, unions, tuples, frozen sets and dictionaries of
    such types, and dataclasses of them, whose fields may be missing if they have a default.
    """
    create: Any = kind
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind) and is_object(value):
        return create(**_decoded_fields(kind, value, what))
    if origin in (tuple, frozenset) and is_list(value):
        create = origin
        return create(decode(arguments[0], each, f"{what}[{number}]") for number, each in enumerate(value))
    if origin is dict and is_object(value):
        return {key: decode(arguments[1], each, f"{what}, {key}") for key, each in value.items()}
    if origin is UnionType:
        found = [each for each in arguments if _is_plain(each, value)]
        return decode(found[0] if found else arguments[0], value, what)
    if isinstance(kind, EnumType) and isinstance(value, str) and value in kind.__members__:
        return kind[value]
    if _is_plain(kind, value):
        return value
    raise ArtifactError(f"{what} is not of type {getattr(kind, '__name__', kind)}")


def _decoded_fields(kind: Any, value: Mapping[str, object], what: str) -> dict[str, object]:
    found: dict[str, object] = {}
    for field in fields(kind):
        has_default = field.default is not MISSING or field.default_factory is not MISSING
        if field.name in value or not has_default:
            found[field.name] = decode(_hints(kind)[field.name], value.get(field.name), f"{what}, {field.name}")
    return found


def _is_plain(kind: Any, value: object) -> bool:
    return is_extent(value) if kind is int else kind in (str, bool) and type(value) is kind


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
