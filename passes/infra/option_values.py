"""Checks pass options that cannot be written as text, such as functions and mappings.

They have the names of the parameters of the function that takes them (`RelayPass.values`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from xrelay.passes.infra.pass_info import PassTypeError


def check_value(pass_name: str, option: str, parameter: str, value: object) -> None:
    """Raises `PassTypeError` unless `value`, passed as `option`, fits the parameter of the pass's function."""
    fits, wanted = _WANTED[parameter]
    if not fits(value):
        raise PassTypeError(f"[{pass_name}] option {option!r} must be {wanted}, found {value!r}")


def _is_layouts(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    entries = cast("Mapping[object, object]", value).items()
    return all(isinstance(name, str) and _is_texts(layouts) for name, layouts in entries)


def _is_texts(value: object) -> bool:
    return isinstance(value, Sequence) and all(isinstance(one, str) for one in value)


def _is_hooks(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    entries = cast("Mapping[object, object]", value).items()
    return all(isinstance(op, type) and callable(hook) for op, hook in entries)


def _is_table(value: object) -> bool:
    return isinstance(value, list | tuple) and all(map(_is_row, cast("Sequence[object]", value)))


def _is_row(value: object) -> bool:
    return isinstance(value, list | tuple) and len(cast("Sequence[object]", value)) in (2, 3)


def _is_global_vars(value: object) -> bool:
    if not isinstance(value, list | tuple):
        return False
    items = cast("Sequence[object]", value)
    return all(isinstance(one, str) or isinstance(getattr(one, "name_hint", None), str) for one in items)


def _is_shapes(value: object) -> bool:
    return isinstance(value, list | tuple) and all(map(_is_extents, cast("Sequence[object]", value)))


def _is_extents(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, int) for one in cast("Sequence[object]", value))


_WANTED: dict[str, tuple[Callable[[object], bool], str]] = {
    "table": (_is_table, "a list of (name, pattern) or (name, pattern, check)"),
    "desired": (_is_layouts, "a mapping from operators to lists of layouts, or a list of 'operator:layout:layout'"),
    "hooks": (_is_hooks, "a mapping from classes of ops to hooks"),
    "global_vars": (_is_global_vars, "a list of functions of the module, as mod.get_global_var gives them"),
    "weight_shape": (_is_shapes, "a list of lists of extents"),
    "fskip": (callable, "a function of an expression"),
    "skip": (callable, "a function of an op"),
}
