"""Relay's words for how a built program runs: `relay.build(mod, executor=Executor("aot"), runtime=Runtime("cpp"))`.

Native code is one function that calls kernels in their order, with the parameters in the library: what Relay's
executors `graph` and `aot` differ in, and most of their options say, does not exist here. Names and options are
checked, so that a script which asks for what there is not is told so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final, TypeAlias

from xrelay.errors import InputError, did_you_mean

OptionValue: TypeAlias = bool | int | str

_C_RUNTIME: Final = "model.export(path, header=…) writes an object file and a header for C"


class _Choice:
    """A name among some, and options of it; `InputError` for others, and for values that change nothing here."""

    KIND: ClassVar[str]
    OPTIONS: ClassVar[Mapping[str, Mapping[str, tuple[OptionValue, ...]]]]
    """Name → option → the values that it may have."""
    REFUSED: ClassVar[Mapping[str, str]] = {}
    """Names that Relay has, and what to do instead."""

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
            hint = did_you_mean(option, self.OPTIONS[self.name], "leave it out")
            raise InputError(f"the {self.KIND} {self.name!r} has no option {option!r}", help=hint)
        if value not in allowed:
            words = " or ".join(map(repr, allowed))
            raise InputError(f"the {self.KIND} {self.name!r} has {option} {words}, not {value!r}", help="leave it out")

    def __getitem__(self, option: str) -> OptionValue:
        """The value of an option; `KeyError` where it has not been given."""
        return self.options[option]

    def __contains__(self, option: object) -> bool:
        """Whether an option has been given."""
        return option in self.options

    def __eq__(self, other: object) -> bool:
        """Whether the other is of the same kind, name and options."""
        return type(self) is type(other) and isinstance(other, _Choice) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.name))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.options!r})"


class Executor(_Choice):
    """What calls the kernels: `graph` or `aot`, which are the same here."""

    KIND = "executor"
    OPTIONS: ClassVar = {
        "graph": {"link-params": (True, False)},
        "aot": {"link-params": (True, False), "interface-api": ("packed",), "unpacked-api": (False,)},
    }


class Runtime(_Choice):
    """What the code needs to run: `cpp`, a process that has Python."""

    KIND = "runtime"
    OPTIONS: ClassVar = {"cpp": {"system-lib": (False,)}}
    REFUSED: ClassVar = {"crt": _C_RUNTIME}
