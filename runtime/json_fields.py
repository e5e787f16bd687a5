"""Typed access to untrusted JSON: every field is checked, and errors name the field."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final, TypeGuard, TypeVar

from xrelay.errors import ArtifactError

_T = TypeVar("_T")
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


class JsonFields:
    """The fields of a JSON object, by name and type. Raises `ArtifactError` if one is missing or of another type."""

    def __init__(self, fields: object, what: str):
        """Wraps a parsed object; `what` names it in errors."""
        if not is_object(fields):
            raise ArtifactError(f"{what} is not a JSON object")
        self._fields: Mapping[str, object] = fields
        self._what = what

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(self._fields)

    def part(self, name: str) -> JsonFields:
        """Returns an object in a field."""
        return JsonFields(self._fields.get(name), f"{self._what}, {name}")

    def text(self, name: str) -> str:
        """Returns a string."""
        value = self._fields.get(name)
        if not isinstance(value, str):
            raise self._wrong(name, "a string")
        return value

    def flag(self, name: str) -> bool:
        """Returns a boolean."""
        value = self._fields.get(name)
        if not isinstance(value, bool):
            raise self._wrong(name, "a boolean")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Returns a list of strings."""
        values = self._list(name)
        strings = tuple(value for value in values if isinstance(value, str))
        if len(strings) != len(values):
            raise self._wrong(name, "a list of strings")
        return strings

    def extent(self, name: str) -> int:
        """Returns a size: a non-negative integer."""
        value = self._fields.get(name)
        if not is_extent(value):
            raise self._wrong(name, "a size")
        return value

    def extents(self, name: str) -> tuple[int, ...]:
        """Returns a list of sizes."""
        values = self._list(name)
        sizes = tuple(value for value in values if is_extent(value))
        if len(sizes) != len(values):
            raise self._wrong(name, "a list of sizes")
        return sizes

    def shape(self, name: str) -> tuple[int | str, ...]:
        """Returns a list of sizes and of texts, which are dynamic sizes."""
        values = self._list(name)
        extents = tuple(value for value in values if is_extent(value) or isinstance(value, str))
        if len(extents) != len(values):
            raise self._wrong(name, "a list of sizes and strings")
        return extents

    def table(self, name: str, read_row: Callable[[JsonFields], _T]) -> tuple[_T, ...]:
        """Returns a list of objects, each read by `read_row`."""
        rows = self._list(name)
        return tuple(read_row(JsonFields(row, f"{self._what}, {name}[{i}]")) for i, row in enumerate(rows))

    def _list(self, name: str) -> list[object]:
        value = self._fields.get(name)
        if not is_list(value):
            raise self._wrong(name, "a list")
        return value

    def _wrong(self, name: str, expected: str) -> ArtifactError:
        return ArtifactError(f"{self._what}: '{name}' is not {expected}")
