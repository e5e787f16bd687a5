"""Relay's executor and runtime options: `relay.build(mod, executor=Executor("aot"), runtime=Runtime("cpp"))`.

Native code is one function that calls the kernels in order, with the parameters in the library. So Relay's executors
`graph` and `aot` are the same here, and most of their options do not apply. Names and options are checked; unsupported
ones raise an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final, TypeAlias

from xrelay.errors import InputError, did_you_mean

OptionValue: TypeAlias = bool | int | str

_C_RUNTIME: Final = "model.export(path, header=…) writes an object file and a header for C"


class _Choice:
    """A choice by name with options. Raises `InputError` for unknown names and for option values without effect."""

    KIND: ClassVar[str]
    OPTIONS: ClassVar[Mapping[str, Mapping[str, tuple[OptionValue, ...]]]]
    """Name → option → allowed values."""
    REFUSED: ClassVar[Mapping[str, str]] = {}
    """Names that Relay has and xrelay does not → what to do instead."""

    def __init__(self, name: str, options: Mapping[str, OptionValue] | None = None):
        if name not in self.OPTIONS:
            known = ", ".join(self.OPTIONS)
            hint = self.REFUSED.get(name) or did_you_mean(name, self.OPTIONS, f"there are {known}")
            raise InputError(f"there is no {self.KIND} {name!r}", help=hint)
        self.name, self.options = name, dict(options or {})
        for option, value in self.options.items():
            self._check(option, value)

    def _check(self, option: str, value: OptionValue) -> None:
        allowed = self.OPTIONS[self.name].get(option)
        if allowed is None:
            hint = did_you_mean(option, self.OPTIONS[self.name], "omit it")
            raise InputError(f"the {self.KIND} {self.name!r} has no option {option!r}", help=hint)
        if value not in allowed:
            words = " or ".join(map(repr, allowed))
            raise InputError(f"the {self.KIND} {self.name!r} has {option} {words}, not {value!r}", help="omit it")

    def __getitem__(self, option: str) -> OptionValue:
        """Returns the value of an option. Raises `KeyError` if it was not given."""
        return self.options[option]

    def __contains__(self, option: object) -> bool:
        """Returns whether an option was given."""
        return option in self.options

    def __eq__(self, other: object) -> bool:
        """Returns whether kind, name and options are equal."""
        return type(self) is type(other) and isinstance(other, _Choice) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.name))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.options!r})"


class Executor(_Choice):
    """The executor that calls the kernels: `graph` or `aot`, which are the same here."""

    KIND = "executor"
    OPTIONS: ClassVar = {
        "graph": {"link-params": (True, False)},
        "aot": {"link-params": (True, False), "interface-api": ("packed",), "unpacked-api": (False,)},
    }


class Runtime(_Choice):
    """The runtime that the code needs: `cpp`, a process with Python."""

    KIND = "runtime"
    OPTIONS: ClassVar = {"cpp": {"system-lib": (False,)}}
    REFUSED: ClassVar = {"crt": _C_RUNTIME}
