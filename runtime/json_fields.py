"""Typed values from untrusted JSON: every field is checked, and errors name the field."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import EnumType
from functools import cache, partial
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


class _MismatchError(ValueError):
    """A value is not of the expected type."""

    def __init__(self, kind: Any):
        """Starts without the place of the value, to which the containers of the value prepend theirs."""
        self.kind, self.place = kind, ""


def decode(kind: Any, value: object, what: str) -> Any:
    """Returns parsed JSON as a value of the type `kind`. Raises an `ArtifactError` that names `what` for other values.

    The types are `str`, `bool`, `int` (a size), enumerations by name, unions of these, tuples, frozen sets and
    dictionaries, and dataclasses of them, whose fields may be missing if they have a default.
    """
    try:
        return _decoder(kind)(value)
    except _MismatchError as error:
        name = getattr(error.kind, "__name__", error.kind)
        raise ArtifactError(f"{what}{error.place} is not of type {name}") from error


@cache
def _decoder(kind: Any) -> Callable[[object], Any]:
    """Returns the function that decodes values of a type. Raises `_MismatchError` for other values."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return partial(_decode_fields, kind, [(field, _decoder(hints[field.name])) for field in fields(kind)])
    if origin in (tuple, frozenset):
        return partial(_decode_items, origin, _decoder(arguments[0]))
    if origin is dict:
        return partial(_decode_values, _decoder(arguments[1]))
    return partial(_decode_plain, arguments if origin is UnionType else (kind,))


def _decode_fields(kind: Any, decoders: Sequence[tuple[Field[Any], Callable[[object], Any]]], value: object) -> Any:
    if not is_object(value):
        raise _MismatchError(kind)
    found: dict[str, object] = {}
    for field, decoder in decoders:
        if field.name in value or (field.default is MISSING and field.default_factory is MISSING):
            try:
                found[field.name] = decoder(value.get(field.name))
            except _MismatchError as error:
                error.place = f", {field.name}{error.place}"
                raise
    return kind(**found)


def _decode_items(kind: Any, decoder: Callable[[object], Any], value: object) -> Any:
    if not is_list(value):
        raise _MismatchError(kind)
    found: list[object] = []
    for each in value:
        try:
            found.append(decoder(each))
        except _MismatchError as error:
            error.place = f"[{len(found)}]{error.place}"
            raise
    return kind(found)


def _decode_values(decoder: Callable[[object], Any], value: object) -> dict[str, Any]:
    if not is_object(value):
        raise _MismatchError(dict)
    return {name: decoder(each) for name, each in value.items()}


def _decode_plain(kinds: Sequence[Any], value: object) -> Any:
    for kind in kinds:
        if is_extent(value) if kind is int else type(value) is kind:
            return value
        if isinstance(kind, EnumType) and isinstance(value, str) and value in kind.__members__:
            return kind[value]
    raise _MismatchError(kinds[0])
