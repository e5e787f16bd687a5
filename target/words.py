"""Reads the words of a target's text, with options in the forms of Relay.

`-name=value`, `--name=value` and `-name value` are equivalent. Relay's options that choose schedules, libraries or code
loading (`-keys`, `-device`, `-model`, `-libs`, `-jit`, `-host`) have no meaning here and are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

from xrelay.errors import InputError

PASSED_OVER: Final = ("keys", "device", "model", "libs", "jit", "host")
"""Options of Relay that do not describe the CPU."""

ALIASES: Final = {
    "core-avx2": "haswell",
    "skx": "skylake-avx512",
}
"""Aliases of CPUs in LLVM."""

_ARCHITECTURES: Final = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
"""Maps the first part of a triple to an architecture."""

_OTHER_SYSTEMS: Final = ("android", "darwin", "ios", "macos", "wasm", "windows")

PLAIN_CPUS: Final = {"x86_64": "x86-64", "aarch64": "cortex-a72"}
"""Maps an architecture to the CPU of a triple without `-mcpu`, unless it is the architecture of this machine."""


def options_in(words: Sequence[str], text: str) -> dict[str, str]:
    """Returns options by name. Raises `InputError` for a malformed word, a missing value, or a repeated option."""
    given: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, separator, value = word.lstrip("-").partition("=")
        if word.startswith("-") and not separator:
            value = next(rest, "")
            value = "" if value.startswith("-") else value  # the next option
        if not word.startswith("-") or not name or not value:
            raise InputError(f"option {word!r} of target {text!r} is not of the form -name=value")
        if name in given:
            raise InputError(f"target {text!r} has the option -{name} twice")
        given[name] = value
    return {name: value for name, value in given.items() if name not in PASSED_OVER}


def text_of(fields: Mapping[str, object]) -> str:
    """Returns the text of a target passed as a dictionary, such as `{"kind": "llvm", "num-cores": 4}`.

    Values that are lists are joined by commas. Raises `InputError` without a kind.
    """
    if "kind" not in fields:
        raise InputError(f"a target of {', '.join(map(str, fields))} has no kind", help='add "kind": "llvm"')
    options = {name: value for name, value in fields.items() if name not in ("kind", "tag", *PASSED_OVER)}
    words = [f"-{name}={','.join(map(str, _parts(value)))}" for name, value in options.items()]
    return " ".join([str(fields["kind"]), *words])


def _parts(value: object) -> Iterable[object]:
    return cast("Iterable[object]", value) if isinstance(value, list | tuple) else [value]


def architecture_of(triple: str, text: str) -> str:
    """Returns the architecture of a triple. Raises `InputError` for another one, and for systems other than Linux."""
    first, *others = triple.split("-")
    found = _ARCHITECTURES.get(first)
    if found is None:
        known = " and ".join(sorted(set(_ARCHITECTURES.values())))
        raise InputError(f"target {text!r} is for {first!r}", help=f"supported are {known}")
    if any(word in other for other in others for word in _OTHER_SYSTEMS):
        hint = "use a triple such as aarch64-linux-gnu"
        raise InputError(f"target {text!r} is not for Linux", help=hint)
    return found
