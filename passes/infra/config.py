"""Registers the keys of `PassContext(config={…})`, each with the type of its values, and checks configs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeAlias, cast

from xrelay.errors import PassError
from xrelay.passes.catalogue.relay_names import ROWS
from xrelay.passes.infra.pass_info import PassArgumentError, PassTypeError

ConfigValue: TypeAlias = bool | int | float | str

IMMUTABLE, VERIFY = "testing.immutable_module", "xrelay.verify_each"
"""The keys that the pass infrastructure itself reads."""


class UnknownConfigError(PassError, AttributeError):
    """A config key that is not registered."""


@dataclass(frozen=True)
class ConfigKey:
    """A key, with the type of its values and their effect."""

    key: str
    type: type[ConfigValue]
    help: str


_KEYS: dict[str, ConfigKey] = {}
_OPTIONS: dict[str, tuple[str, str]] = {}
"""Key → the pass that has the option, by Relay's name, and the option."""


def register_config(key: str, type_: type[ConfigValue], help_: str) -> None:
    """Registers `key`, with values of the Python type `type_` (bool, int, float or str).

    Raises `PassTypeError` for another type, and `PassArgumentError` for a key that is registered with another type.
    """
    if type_ not in (bool, int, float, str):
        raise PassTypeError(f"config option {key}: values are bool, int, float or str, found {type_!r}")
    known = _KEYS.get(key)
    if known is not None and known.type is not type_:
        raise PassArgumentError(f"config option {key} is registered with type {known.type.__name__} already")
    _KEYS[key] = ConfigKey(key, type_, help_)


def _register_option(name: str, option: str, type_: type[ConfigValue], help_: str) -> None:
    """Registers the key that sets an option of the pass that Relay calls `name`, if the caller does not."""
    key = f"relay.{name}.{option}"
    register_config(key, type_, help_)
    _OPTIONS[key] = name, option


def option_keys(name: str) -> dict[str, str]:
    """Returns the keys that set options of the pass that Relay calls `name`, each with the option."""
    return {key: option for key, (owner, option) in _OPTIONS.items() if owner == name}


def config_keys() -> Mapping[str, ConfigKey]:
    """Returns the registered keys."""
    return _KEYS


def check_config(config: object) -> dict[str, ConfigValue]:
    """Returns `config`, after checking that every key is registered and every value has its key's type.

    Raises `UnknownConfigError`, with similar keys, for an unknown key, and `PassTypeError`, with the expected and the
    actual type, for a value.
    """
    if config is None:
        return {}
    if not isinstance(config, Mapping):
        raise PassTypeError(f"config must be a mapping from keys to values, found {type(config).__name__}")
    items = cast("Mapping[object, object]", config).items()
    return _each_once((given, *_checked(given, value)) for given, value in items)


def parse_configs(texts: Iterable[str]) -> dict[str, ConfigValue]:
    """Returns the config of several `key=value` texts; raises as `parse_config`, and for a key that occurs twice."""
    return _each_once((text, *parse_config(text)) for text in texts)


def _each_once(entries: Iterable[tuple[object, str, ConfigValue]]) -> dict[str, ConfigValue]:
    """Returns the values of keys; raises `PassArgumentError` for a repeated key, with its given form."""
    found: dict[str, ConfigValue] = {}
    for given, key, value in entries:
        if key in found:
            raise PassArgumentError(f"config option {key} is given twice, the second time as {given!r}")
        found[key] = value
    return found


def parse_config(text: str) -> tuple[str, ConfigValue]:
    """Returns the entry of a `key=value` text; raises as `check_config`, and `PassError` for text of another form."""
    key, separator, value = text.partition("=")
    if not separator:
        raise PassError(f"pass config {text!r} is not of the form key=value")
    known = known_key(key)
    flags = {"true": True, "1": True, "false": False, "0": False}
    try:
        return known.key, flags[value.lower()] if known.type is bool else known.type(value)
    except (KeyError, ValueError) as error:
        raise PassTypeError(f"pass config {key}: {value!r} is no {known.type.__name__}") from error


def known_key(key: str) -> ConfigKey:
    """Returns the registered key; raises `UnknownConfigError`, with similar keys, for an unregistered one.

    The key of a pass option may also be written with the pass's own name: `relay-fuse-ops.max-depth` is
    `relay.FuseOps.max_depth`.
    """
    aliases = {f"{ROWS[name].pass_name}.{option.replace('_', '-')}": key for key, (name, option) in _OPTIONS.items()}
    known = _KEYS.get(aliases.get(key.replace("_", "-"), key))
    if known is None:
        close = get_close_matches(key, [*_KEYS, *aliases], 3, 0.5)
        hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"candidates are {', '.join(_KEYS)}"
        raise UnknownConfigError(f"invalid config option {key!r}", help=hint)
    return known


def _checked(key: object, value: object) -> tuple[str, ConfigValue]:
    if not isinstance(key, str):
        raise PassTypeError(f"config keys are strings, found {key!r}")
    known = known_key(key)
    if value is None:
        raise PassTypeError(f"invalid config value for {known.key}: expected {known.type.__name__}, found None")
    number_for_float = known.type is float and isinstance(value, int)
    wrong_bool = isinstance(value, bool) and known.type is not bool
    if wrong_bool or not (isinstance(value, known.type) or number_for_float):
        raise PassTypeError(
            f"invalid config value for {known.key}: expected {known.type.__name__}, found {type(value).__name__} "
            f"({value!r})"
        )
    return known.key, cast(ConfigValue, value)


_register_option("FuseOps", "max_depth", int, "the maximum number of nodes in a fused group")
_register_option("FuseOps", "link_params", bool, "keep constants of any size inside the groups")
_register_option("FoldConstant", "max_growth", int, "bytes by which a folded constant may exceed its operands")
_register_option("ToMixedPrecision", "keep_orig_output_dtype", bool, "cast results back to their original types")
_register_option("AlterOpLayout", "vector_lanes", int, "the number of f32 in a vector of the target")
_register_option("AlterOpLayout", "target", str, "the target whose hooks choose the layouts")
register_config(IMMUTABLE, bool, "fail with the name of a pass that changes its input module")
register_config(VERIFY, bool, "verify the input and the result of every pass (default)")
