"""Checks pass options that cannot be written as text, such as functions and mappings.

They have the names of the parameters of the function that takes them (`RelayPass.values`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from xdsl.utils.hints import isa

from xrelay.passes.infra.pass_info import PassTypeError


def check_value(pass_name: str, option: str, parameter: str, value: object) -> None:
    """Raises `PassTypeError` unless `value`, passed as `option`, fits the parameter of the pass's function."""
    fits, wanted = _WANTED[parameter]
    if not fits(value):
        raise PassTypeError(f"[{pass_name}] option {option!r} must be {wanted}, found {value!r}")


def _is_hooks(value: object) -> bool:
    entries = cast("Mapping[object, object]", value).items() if isinstance(value, Mapping) else ((None, None),)
    return all(isinstance(op, type) and callable(hook) for op, hook in entries)


def _is_table(value: object) -> bool:
    return isa(value, list[list[object] | tuple[object, ...]] | tuple[list[object] | tuple[object, ...], ...]) and all(
        len(row) in (2, 3) for row in value
    )


def _is_global_vars(value: object) -> bool:
    items = cast("Sequence[object]", value) if isinstance(value, list | tuple) else (None,)
    return all(isinstance(getattr(one, "name_hint", one), str) for one in items)


_WANTED: dict[str, tuple[Callable[[object], bool], str]] = {
    "table": (_is_table, "a list of (name, pattern) or (name, pattern, check)"),
    "desired": (
        lambda value: isa(value, dict[str, Sequence[str]]),
        "a mapping from operators to lists of layouts, or a list of 'operator:layout:layout'",
    ),
    "hooks": (_is_hooks, "a mapping from classes of ops to hooks"),
    "global_vars": (_is_global_vars, "a list of functions of the module, as mod.get_global_var gives them"),
    "weight_shape": (lambda value: isa(value, Sequence[Sequence[int]]), "a list of lists of extents"),
    "fskip": (callable, "a function of an expression"),
    "skip": (callable, "a function of an op"),
}
