"""Functions with a version per target, under Relay's names.

    @generic_func
    def schedule_injective(outs): ...

    @schedule_injective.register("cpu")
    def schedule_injective_cpu(outs): ...

A call dispatches on the entered target, else this machine: to the version for its CPU's name, its architecture (`x86`
or `arm_cpu`), `cpu` or `llvm`, in this order, else to the decorated function.
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
    """Returns the names under which a version for `target` may be registered, the most specific first."""
    return target.mcpu, _ARCHITECTURES.get(target.arch, target.arch), "cpu", "llvm"


class GenericFunction:
    """A function and its versions by target name."""

    def __init__(self, default: Callable[..., Any]):
        self._default = default
        self._versions: dict[str, Callable[..., Any]] = {}
        self.__name__, self.__doc__ = getattr(default, "__name__", "generic"), default.__doc__

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Calls the version for the target."""
        entered = Target.current()
        keys = target_keys(entered if entered is not None else Target.host())
        chosen = next((self._versions[key] for key in keys if key in self._versions), self._default)
        return chosen(*arguments, **named)

    def register(
        self, key: str | Sequence[str], func: Callable[..., Any] | None = None, override: bool = False
    ) -> Callable[[FunctionT], FunctionT]:
        """Registers a version for the named targets; a decorator unless `func` is passed.

        Raises `InputError` for a name that has a version, unless `override`.
        """
        keys = [key] if isinstance(key, str) else list(key)
        taken = [one for one in keys if one in self._versions and not override]
        if taken:
            raise InputError(f"{self.__name__} already has a version for {taken[0]!r}", help="pass override=True")

        def decorate(version: FunctionT) -> FunctionT:
            self._versions.update(dict.fromkeys(keys, version))
            note_registration(version)
            return version

        if func is not None:
            decorate(cast(FunctionT, func))
        return decorate


def generic_func(fdefault: Callable[..., Any]) -> GenericFunction:
    """A decorator that makes a function dispatch on the target."""
    return GenericFunction(fdefault)


def override_native_generic_func(func_name: str) -> Callable[[Callable[..., Any]], GenericFunction]:
    """Returns the decorator `generic_func`.

    The name is that of Relay's native function, which has no equivalent here.
    """
    return generic_func
