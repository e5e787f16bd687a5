"""Functions with a version for each kind of target, by Relay's names.

    @generic_func
    def schedule_injective(outs): ...

    @schedule_injective.register("cpu")
    def schedule_injective_cpu(outs): ...

Called, it is the version for the entered target, else for this machine: that of its CPU's name, of its architecture
(`x86` or `arm_cpu`), of `cpu` or `llvm`, else the function that was decorated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from xrelay.errors import InputError
from xrelay.registrations import note_registration
from xrelay.target.target import Target

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

_ARCHITECTURES = {"x86_64": "x86", "aarch64": "arm_cpu"}


def target_keys(target: Target) -> tuple[str, ...]:
    """The names under which a version for `target` may be registered, the most special first."""
    return target.mcpu, _ARCHITECTURES.get(target.arch, target.arch), "cpu", "llvm"


class GenericFunction:
    """A function and its versions by name of target."""

    def __init__(self, default: Callable[..., Any]):
        self._default = default
        self._versions: dict[str, Callable[..., Any]] = {}
        self.__name__, self.__doc__ = getattr(default, "__name__", "generic"), default.__doc__

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """What the version for the target gives."""
        entered = Target.current()
        keys = target_keys(entered if entered is not None else Target.host())
        chosen = next((self._versions[key] for key in keys if key in self._versions), self._default)
        return chosen(*arguments, **named)

    def register(
        self, key: str | Sequence[str], func: Callable[..., Any] | None = None, override: bool = False
    ) -> Callable[[FunctionT], FunctionT]:
        """Decorator, or called with the function: the version for the targets named.

        `InputError` for a name that has one, without `override`.
        """
        keys = [key] if isinstance(key, str) else list(key)
        taken = [one for one in keys if one in self._versions and not override]
        if taken:
            raise InputError(f"{self.__name__} has a version for {taken[0]!r} already", help="pass override=True")

        def decorate(version: FunctionT) -> FunctionT:
            self._versions.update(dict.fromkeys(keys, version))
            note_registration(version)
            return version

        if func is not None:
            decorate(cast(FunctionT, func))
        return decorate

    def set_default(self, func: Callable[..., Any], override: bool = False) -> None:
        """Replace the version for all other targets."""
        self._default = func


def generic_func(fdefault: Callable[..., Any]) -> GenericFunction:
    """Decorator: a function that has versions for targets."""
    return GenericFunction(fdefault)


def override_native_generic_func(func_name: str) -> Callable[[Callable[..., Any]], GenericFunction]:
    """Decorator: as `generic_func`; the name stands for Relay's native function, of which there is none here."""
    return generic_func
