"""The protocol of instruments: hooks that the infrastructure calls around passes and contexts.

    @pass_instrument
    class Names:
        def run_before_pass(self, mod, info):
            names.append(info.name)

    with PassContext(instruments=[Names()]):
        module = sequential(module)

Instruments observe passes and never change the module. Five hooks are Relay's; `pass_scope` is an extension. `hooks`
defines their order and the effect of errors in them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import new_class
from typing import TypeAlias, TypeVar, cast, overload

from xdsl.dialects.builtin import ModuleOp

from xrelay.passes.infra.pass_info import PassInfo, PassTypeError

ClassT = TypeVar("ClassT")
TraceFunction: TypeAlias = Callable[[ModuleOp, PassInfo, bool], None]
"""`trace(module, info, is_before)`, called before and after every pass."""

HOOKS = ("enter_pass_ctx", "exit_pass_ctx", "should_run", "run_before_pass", "run_after_pass", "pass_scope")

_NOTHING = nullcontext()


class PassInstrument:
    """The hooks; each does nothing unless overridden."""

    @property
    def name(self) -> str:
        """The instrument's name in errors."""
        return type(self).__name__

    @property
    def replay_flags(self) -> tuple[str, ...]:
        """The flags with which `xrelay-opt` creates this instrument; empty if that is not possible."""
        return ()

    @property
    def unwritten(self) -> tuple[str, ...]:
        """The names of the arguments of this instrument that no flag can represent."""
        return ()

    def enter_pass_ctx(self) -> None:
        """Called when a context with the instrument is entered."""

    def exit_pass_ctx(self) -> None:
        """Called when that context is left, also by an error."""

    def should_run(self, mod: ModuleOp, info: PassInfo) -> bool:
        """Whether the pass may run; every instrument of the context must agree. Not called for required passes."""
        return True

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Called directly before a pass."""

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Called directly after a pass that succeeded, with its result."""

    def pass_scope(self, mod: ModuleOp, info: PassInfo) -> AbstractContextManager[None]:
        """Returns a context manager that encloses only the pass, inside all other hooks, and sees its exceptions.

        `mod` is the module that the pass rewrites, which may be a copy of the module that the other hooks get.
        """
        return _NOTHING


@overload
def pass_instrument(pi_cls: type[ClassT]) -> type[ClassT]: ...
@overload
def pass_instrument(pi_cls: None = None) -> Callable[[type[ClassT]], type[ClassT]]: ...
def pass_instrument(
    pi_cls: type[ClassT] | None = None,
) -> type[ClassT] | Callable[[type[ClassT]], type[ClassT]]:
    """Decorator: turns a class into an instrument with the hooks it defines.

    Raises `PassTypeError` for an object that is not a class, and for a class without hooks.
    """
    return _as_instrument if pi_cls is None else _as_instrument(pi_cls)


def _as_instrument(pi_cls: type[ClassT]) -> type[ClassT]:
    if not inspect.isclass(pi_cls):
        raise PassTypeError(f"pass_instrument decorates classes, found {pi_cls!r}")
    if issubclass(pi_cls, PassInstrument):
        return pi_cls
    if not any(callable(getattr(pi_cls, hook, None)) for hook in HOOKS):
        raise PassTypeError(f"{pi_cls.__name__} defines no hook of an instrument", help=f"hooks are {', '.join(HOOKS)}")
    namespace = {name: getattr(pi_cls, name) for name in ("__module__", "__qualname__", "__doc__")}
    made = new_class(pi_cls.__name__, (pi_cls, PassInstrument), exec_body=lambda body: body.update(namespace))
    return cast("type[ClassT]", made)


class TraceInstrument(PassInstrument):
    """Calls a tracing function before and after every pass. Raises `PassTypeError` if it is not callable."""

    def __init__(self, trace: TraceFunction):
        if not callable(trace):
            raise PassTypeError(f"trace must be a function of (module, info, is_before), found {trace!r}")
        self._trace = trace

    @property
    def name(self) -> str:
        """The function's name."""
        return getattr(self._trace, "__name__", "trace")

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Calls the function with `is_before` true."""
        self._trace(mod, info, True)

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Calls the function with `is_before` false."""
        self._trace(mod, info, False)
